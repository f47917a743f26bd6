// Connection: a client that speaks Redis' protocol. Commands are taken off the input one after the other, answers go
// out in the same order, as many as there are in one send.
//
// What others push to it (client.h) is written between two answers, at once while the connection rests: waits for
// input, or in a command.
//
// Neighbouring commands on data are one batch (batch.h), which is one transaction: if the store refuses that as a
// whole, be it too large, each of them is run by itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/protocol.h"
#include "net/resp/command_parser.h"
#include "protocol/resp/client_facts.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {

class Connection final : private Client::Owner {
 public:
  Connection(net::Stream& stream, Service& service);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Serves until the end. `refuse`: there are too many connections, which is all the client is told.
  net::Task<> Run(bool refuse);

 private:
  // Answers are gathered up to this before they are sent.
  static constexpr size_t kMaxUnsent = 256 << 10;

  // What is to be done next.
  enum class Step : uint8_t {
    kTaken,     // go on
    kMore,      // more bytes are needed, or any at all
    kRunBatch,  // what was gathered
    kWork,      // what a worker does
    kSpecial,   // a command that may wait for a transaction of its own
    kStage,     // a command whose arguments have to be written beforehand
    kHeldBack,  // a command that has to wait until a pause is over
    kEnd,
  };

  Step TakeCommand();
  void Take(Arguments arguments, std::span<const StagedArgument> staged = {});
  // Whether an argument is too large for one commit.
  bool MustStage(Arguments arguments) const;
  net::Task<> StageAndTake();
  net::Task<Status> Stage(std::string_view argument, structure::StagedText* text);
  // Counts what the connection holds; false when that is too much, and it ends.
  bool Hold();
  // Of access control (connection_rights.cc): whether the user is that it is, and whether that may not do this.
  bool IsStillThere();
  bool RefuseByRights(const Command& command, Arguments arguments);
  // Why the command is not carried out for this client, as far as that can be told without its data.
  std::optional<std::string> WhyNot(const Found& found, Arguments arguments) const;
  void Refuse(const Command* command, std::string_view why);
  bool TakeSilence();
  void AnswerError(std::string_view error);

  void Queue(const Command& command, Arguments arguments, bool silent, std::span<const StagedArgument> staged);

  // For INFO, SLOWLOG and LATENCY.
  void CountBatch(const Batch& batch);
  void Count(const Command& command, Arguments arguments, uint64_t nanos, std::string_view error);

  // What was said of the next command that is carried out, or refused, is said no more.
  void ForgetCaching(const Command* command);
  Step RunPending();
  // Messages that are to come before the answer go to `messages_at`, which moves behind them.
  void RunClientCommand(const Command& command, Arguments arguments, bool silent, size_t* messages_at);
  net::Task<> RunBlocking(const Command& command);
  net::Task<> RunWork(const Command& command, Arguments arguments);
  net::Task<> RunPendingWork();
  net::Task<> RunSpecial();
  net::Task<> Exec();
  net::Task<> Watch();
  // Carries the batch out here and now, if it only reads, and for that need not wait.
  bool RunAtOnce();
  net::Task<> RunBatch();
  // Hands over the answers that a batch has written.
  void TakeReplies();
  net::Task<> AnswerFailed(const Error& failed);
  // Whether what a batch reads may be read on the loop, and there is nothing to commit.
  bool OnlyReads(const Batch& batch) const;
  // The answer of a transaction, with those of its commands that are no part of the store's.
  net::Task<> AnswerQueue();
  // Runs a body for a batch, and commits what it has written; on a worker when that takes long. `must_commit`: even
  // if it only reads.
  net::Task<Status> RunBody(Store::Body body, Batch& batch, bool must_commit = false);
  net::Task<Status> RunBodyOnce(const Store::Body& body, const Batch& batch, bool must_commit);
  net::Task<Result<RunReport>> Submit(const Store::Body& body, const Batch& batch, bool at_its_turn);
  net::Task<bool> Send();

  // Of clients (connection_client.cc).
  void MessagesWait() override;
  void Kill(bool behind_answer) override;
  ClientFacts Facts() const override;
  void RightsChanged() override;
  std::string Flags() const;
  // Where it comes from, and where it came in.
  struct Addresses {
    std::string peer;
    std::string local;
    bool is_file;
  };
  const Addresses& KnownAddresses() const;
  std::optional<Tracking::Info> TrackingInfo() const;
  // Writes messages, as many as are sent at once.
  void TakeMessages();
  // Is no client any more.
  void Leave();
  // Sleeps for a while, and meanwhile sends what comes; or sends what is there, and does not.
  net::Task<> Rest(std::chrono::milliseconds at_most);
  // Whether there is a pause for it.
  bool IsHeldBack(Arguments arguments);
  net::Task<> SitOutPause();

  // What it waits for while messages may be written. Else it does something, and they wait.
  enum class Rests : uint8_t { kNot, kForInput, kInCommand };

  net::Stream& stream_;
  Service& service_;
  CommandParser parser_;
  Subscriptions subscriptions_;
  Session session_;
  Rests rests_ = Rests::kNot;
  bool works_ = false;  // a worker does, for it
  bool messages_wait_ = false;
  bool sends_ = false;                         // what cannot be sent at once
  Pause::What pause_ = Pause::What::kNothing;  // when the batch was begun
  size_t messages_first_ = 0;                  // bytes of messages before the answer under way
  const Command* last_command_ = nullptr;
  mutable std::optional<Addresses> addresses_;  // once they were asked for
  const net::SteadyTime since_;
  net::SteadyTime last_heard_;
  Batch batch_;
  size_t raced_ = 0;  // for so many batches more others are expected at the same keys
  // A command of the connection that was taken off the input, and is carried out behind the batch.
  const Command* pending_ = nullptr;
  bool pending_silent_ = false;
  std::vector<Bytes> pending_arguments_;
  Bytes replies_;
  HeldBytes held_input_;
  HeldBytes held_answers_;
  uint64_t consumed_ = 0;  // bytes that have yet to be counted
};

// The protocol as the listener knows it.
class RespProtocol final : public net::Protocol {
 public:
  explicit RespProtocol(Service& service) : service_(service) {}
  std::string_view name() const override { return "resp"; }
  Match Sniff(std::string_view first) const override;
  net::Task<> Serve(net::Stream& stream, bool refuse) override;

 private:
  Service& service_;
};

}  // namespace kvarts::resp
