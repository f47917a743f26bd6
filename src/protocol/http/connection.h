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
#include "protocol/http/call.h"
#include "protocol/http/routes.h"

namespace kvarts::http {

class Connection {
 public:
  Connection(net::Stream& stream, Service& service);
  ~Connection() {
    CountSent();
    Release();
  }
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

  Step TakeRequest();
  Step Dispatch(std::string_view body);
  Step RunHandler(Call& call, const Route& route);
  static void AnswerOptions(Answer& answer, const RequestInfo& info, std::string_view methods);
  void FillInfo(RequestInfo* info) const;
  Step Refuse(const HttpError& error);
  Step Done(const RequestInfo& info, int status, const Cost& cost);
  void CountSent() { loop_.metrics.bytes_out.Add(stream_.TakeSentBytes()); }
  void CountDone(const RequestInfo& info, int status, const Cost& cost, uint64_t nanos);

  net::Task<bool> Wait();
  net::Task<bool> Send();
  net::Task<Step> TakeBody();
  // The body of a request whose head was taken; an error ends the connection.
  net::Task<HttpError> ReadBody();
  net::Task<HttpError> ReadChunks();
  std::chrono::milliseconds WriteDelay() const;
  net::Task<> RunBatch();
  net::Task<> RunSlow();
  // Counts bytes against max_inflight_bytes until the request is done.
  bool Hold(uint64_t bytes);
  // The same of a body that has grown to so many bytes.
  bool HoldUpTo(uint64_t bytes);
  void Release();

  net::Stream& stream_;
  Service& service_;
  LoopState& loop_;
  HeadParser parser_;
  RequestHead head_;
  std::vector<std::shared_ptr<WriteOp>> batch_;
  std::unique_ptr<SlowOp> slow_;
  Bytes head_text_;  // of a request whose body arrives apart from it
  Bytes body_;
  Tokens::Last last_token_;
  uint64_t held_ = 0;
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
