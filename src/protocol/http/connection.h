// Connection: one HTTP/1.1 connection. Requests are taken off the input one after the other, answers go out in the same
// order, as many as there are in one send.
//
// A request that can be answered at once costs no suspension. Writes that arrive together are submitted together, each
// a commit of its own; anything else that follows them waits until they are answered, so that a connection sees its own
// earlier writes.
#pragma once

#include <memory>
#include <vector>

#include "net/http/chunked.h"
#include "net/http/request_head.h"
#include "net/protocol.h"
#include "protocol/common/held_bytes.h"
#include "protocol/http/call.h"
#include "protocol/http/routes.h"

namespace kvarts::http {

class Connection {
 public:
  Connection(net::Stream& stream, Service& service);
  ~Connection() { CountSent(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Serves until the end. `refuse`: the first request is answered with `overloaded`, and that is all.
  net::Task<> Run(bool refuse);

 private:
  // What is to be done next.
  enum class Step {
    kAnswered,  // go on with the next request
    kNeedHead,  // more bytes are needed, or any at all
    kNeedBody,  // the head is there, its body is not
    kRunBatch,  // writes are to be run first
    kRunSlow,   // an operation that waits
    kEnd,       // the connection is over once the answers are out
  };

  using Outcomes = std::vector<Result<RunReport>>;
  // Of a request that is refused by its head, the longest body that is read and dropped to keep the connection. A route
  // that takes no body drops as much.
  static constexpr uint64_t kMaxSkipped = 64 << 10;

  Step TakeRequest();
  Step Dispatch(std::string_view body);
  bool Admit(const Found& found, RequestInfo* info, Answer& answer);
  void AnswerWithoutRoute(const RequestInfo& info, const Found& found, Answer& answer) const;
  static void AnswerOptions(Answer& answer, const RequestInfo& info, std::string_view methods);
  void RunHandler(Call& call, const Route& route);
  void AddToBatch(std::unique_ptr<WriteOp> write, Call& call);
  void FillInfo(RequestInfo* info) const;
  // Answers what is no request; nothing can follow it.
  void Refuse(const HttpError& error);
  void Done(const RequestInfo& info, int status, const Cost& cost);
  void CountSent() { loop_.metrics.bytes_out.Add(stream_.TakeSentBytes()); }
  void CountDone(const RequestInfo& info, int status, const Cost& cost, uint64_t nanos);

  net::Task<bool> Wait();
  // Sends what FlushNow has left.
  net::Task<bool> Send();
  net::Task<> RunSlow();

  // connection_body.cc
  net::Task<> TakeBody();
  // Whether the head alone decides the answer, which it then has.
  bool AnswerByHead();
  // Drops the body of such a request; false when the connection cannot go on.
  net::Task<bool> SkipBody();
  // The body of a request whose head was taken; an error ends the connection.
  uint64_t MaxBody() const;
  net::Task<HttpError> ReadBody();
  net::Task<HttpError> ReadChunks();
  // Counts a body that has grown to so many bytes against max_inflight_bytes.
  bool HoldUpTo(uint64_t bytes);

  // connection_batch.cc
  bool BatchIsFull() const;
  bool BatchIsLarge() const;
  net::Task<> RunBatch();
  net::Task<> SleepUntil(net::SteadyTime turn);
  void AnswerBatch(const Outcomes& outcomes, const HttpDate& date, Bytes* out) const;
  net::Task<> AnswerBatchOnWorker(const Outcomes& outcomes);

  net::Stream& stream_;
  Service& service_;
  LoopState& loop_;
  HeadParser parser_;
  RequestHead head_;
  std::vector<std::shared_ptr<WriteOp>> batch_;
  size_t batch_bytes_ = 0;
  Bytes behind_;  // the answer to a write that was refused behind the batch
  std::unique_ptr<SlowOp> slow_;
  Bytes head_text_;  // of a request whose body arrives apart from it
  Bytes body_;
  Tokens::Last last_token_;
  HeldBytes held_;  // by the body, until what was made of it is done
  bool refuse_ = false;
  bool head_begun_ = false;
  bool ending_ = false;  // after what has been answered
};

// The protocol as the listener knows it.
class HttpProtocol final : public net::Protocol {
 public:
  explicit HttpProtocol(Service& service) : service_(service) {}
  std::string_view name() const override { return "http"; }
  Match Sniff(std::string_view first) const override;
  net::Task<> Serve(net::Stream& stream, bool refuse) override;

 private:
  Service& service_;
};

}  // namespace kvarts::http
