// Poller: which sockets of a loop are ready, told once per change and without being asked.
//
// Asio arms a descriptor anew for every wait, by a system call that costs a request a twentieth of its time. Here a
// socket is registered once, edge-triggered; who finds it not ready waits, and is resumed from the loop's next look,
// all ready ones in one call. To Asio the poller is a single descriptor.
#pragma once

#include <asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "net/mailbox.h"
#include "net/task.h"

namespace kvarts::net {

class Poller;

// What the poller tells something.
class PollTarget {
 public:
  virtual ~PollTarget() = default;

 private:
  friend class Poller;
  virtual void Told(uint32_t events) = 0;
};

// A socket as the poller knows it. Belongs to the loop's thread.
class Pollable final : public PollTarget {
 public:
  Pollable() = default;
  Pollable(const Pollable&) = delete;
  Pollable& operator=(const Pollable&) = delete;

  // Waits until the socket may be read from or written to, or Interrupt. The caller tries first, and says when a call
  // found nothing to do (ReadDrained, WriteBlocked); else this returns at once.
  Task<> Readable() { return Await(&readable_); }
  Task<> Writable() { return Await(&writable_); }
  void ReadDrained() { readable_ = ended_; }
  void WriteBlocked() { writable_ = false; }
  // Whether the peer has closed its side, or the socket failed, as far as the poller was told.
  bool ended() const { return ended_; }
  // Whether it can be read from without waiting, as far as is known.
  bool readable() const { return readable_; }
  // Stop is requested there as soon as the poller is told of the end. Null: of nobody any more.
  void TellOfEnd(std::stop_source* whom) { told_of_end_ = whom; }
  // Ends a wait under way from another place on the loop.
  void Interrupt(Executor executor);
  // The same of a wait for reading alone; there is no more to be read for that.
  void InterruptReading(Executor executor);

 private:
  Task<> Await(bool* ready);
  void Told(uint32_t events) override;

  std::optional<Resume> waiting_;
  bool* awaited_ = nullptr;  // what the waiter waits for
  std::stop_source* told_of_end_ = nullptr;
  bool readable_ = true;
  bool writable_ = true;
  bool ended_ = false;  // the peer has closed its side, or the socket failed: reading tells
};

// A descriptor of somebody else's, who reads and writes it himself and wants to be told when that is possible: at every
// turn for as long as it is. Belongs to the loop's thread, and goes when that has ended, or at the end of a turn.
class Watch final : public PollTarget {
 public:
  struct Ready {
    bool readable = false;  // also when the peer has gone, or the descriptor failed: reading tells
    bool writable = false;
  };
  using Callback = std::function<void(Ready)>;

  Watch(Poller& poller, Callback callback) : poller_(poller), callback_(std::move(callback)) {}
  ~Watch() override { Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Until Stop, which comes before the descriptor is closed. False when the system has no room for it.
  bool Start(int descriptor);
  void Stop();
  // Whether it is told about writing, too: at first not.
  void WantWrite(bool wanted);

 private:
  void Told(uint32_t events) override;
  bool Control(int operation);

  Poller& poller_;
  const Callback callback_;
  int descriptor_ = -1;
  bool write_ = false;
};

class Poller {
 public:
  explicit Poller(Executor executor);

  // Until the socket is closed. False when the system has no room for it.
  bool Add(int socket, Pollable* pollable);
  // Looks, and resumes whoever waits for what is ready, until the loop ends.
  Task<> Run();
  Mailbox& mailbox() { return mailbox_; }
  // Calls it once, when all that is ready now has been told. On the loop's thread, while it runs; one that is made by
  // the call of another is called with those of the next turn, which comes at once.
  void AtEndOfTurn(std::function<void()> callback);

 private:
  friend class Watch;
  static constexpr int kEvents = 256;  // taken at a time

  void TellReady();
  void EndTurn();

  asio::posix::basic_stream_descriptor<Executor> descriptor_;
  Mailbox mailbox_;
  std::vector<std::function<void()>> at_end_;
  std::vector<std::function<void()>> ending_;  // those being called
  bool in_turn_ = false;
};

}  // namespace kvarts::net
