// A request on its way to its answer, as handlers see it.
//
// Parse, then execute: a handler takes the request apart while its bytes are there, finds every input error, and either
// answers at once or returns an operation that owns all it needs. Nothing of the request outlives the handler but that.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <variant>

#include "core/txn.h"
#include "encoding/json_writer.h"
#include "net/http/request_head.h"
#include "net/http/response_head.h"
#include "net/stream.h"
#include "protocol/common/await.h"
#include "protocol/http/service.h"

namespace kvarts::http {

struct Route;

// What of a request is needed until it is answered.
struct RequestInfo {
  const Route* route = nullptr;
  uint64_t started_ns = 0;
  int minor_version = 1;
  bool keep_alive = true;
  bool head_only = false;
  bool gzip = false;                         // the client takes it
  bool show_cost = false;                    // it asked for Kvarts-Cost
  std::string trace;                         // the id in its traceparent
  const std::string* cors_origin = nullptr;  // of a script in a browser that may call; in the options
  Method method = Method::kOther;
  std::shared_ptr<const Credential> who;  // null: nobody needs to say
  // How long it takes is up to the client or to the data, as of an export: not a latency, and never too slow.
  bool takes_long = false;
  uint8_t place = NamespacePlaces::kNowhere;  // of the namespace that it is counted for
  bool strong_read = false;                   // where there are replicas, which costs more
};

// What the answer to a write sets, where the engine has sessions.
constexpr std::string_view kSessionCookie = "kvarts_session";

// The form of an answer: status line, headers, body.
class Answer {
 public:
  Answer(const Service& service, const HttpDate& date, const RequestInfo& info, Bytes* out);

  // Begins the head; what the request cost goes into it, if the client asked for that.
  ResponseWriter& Begin(int status, const Cost& cost);
  // The same of a stream, which will have cost more than is known now.
  ResponseWriter& BeginStream(int status);
  ResponseWriter& writer() { return writer_; }
  // Says in the head that is being written that the request had to step over many tombstones, if it had to.
  void Warn(const Cost& cost);
  // The same of a row that was written when its time had come.
  void WarnOfExpiry() { writer_.Header("Kvarts-Warning", "expiry=past"); }
  // The same of a write that retention erases as soon as it looks.
  void WarnOfRetention() { writer_.Header("Kvarts-Warning", "retention=past"); }
  // Of a write: what a read of the session must see. Goes into the head that is begun next.
  void Follows(const SessionToken& session) { session_ = session; }
  // Ends the answer; compresses the body if that pays.
  void Finish();
  void Problem(const Error& error, const Cost& cost = {});
  // `allow`: the methods that would do.
  void Problem(const HttpError& error, std::string_view allow = {});
  int status() const { return status_; }
  // It was written elsewhere, by another Answer to the same request.
  void WrittenAs(int status) { status_ = status; }

 private:
  const Service& service_;
  const RequestInfo& info_;
  ResponseWriter writer_;
  SessionToken session_ = {};
  int status_ = 0;
};

// What a path has in place of the parameters of its route, in their order, still percent-encoded.
using PathValues = std::array<std::string_view, 4>;

struct Call {
  Service& service;
  LoopState& loop;
  const RequestHead& head;
  std::string_view body;
  PathValues values;
  RequestInfo& info;
  Answer& answer;
  // Of the reads that a handler made itself.
  Cost cost = {};
  // Of a handler that answers at once, when the answer turns out to be too much for that: what answers instead.
  std::unique_ptr<class SlowOp> later = {};

  // Tells hot keys of a key that is read; of one that is written they hear when it was, by WriteOp::CountIn.
  void CountRead(BytesView key, size_t bytes);
  // Tells the counts by namespace of a key, or of the start of a range of them.
  void CountPlace(BytesView start);
  // The same of a table, or of an index of it, if it is known that there is one: names that nobody has take no place.
  void CountTable(const TablePath& path, std::string_view index = {});
};

// What a request cost, as members of an object: the names are those of the header Kvarts-Cost.
void WriteCost(JsonWriter& json, const Cost& cost);

// A transaction: run by the store, answered when it has an outcome.
class WriteOp {
 public:
  virtual ~WriteOp() = default;
  virtual Status Apply(Txn& txn) = 0;
  // Applies it, and notes what that took should it be in vain.
  Status Run(Txn& txn);
  // Of a transaction that was not committed: what was read, and how often it was run.
  const Cost& spent() const { return spent_; }
  // Of what was committed. An error of the transaction is answered as a problem without it.
  virtual void Respond(Answer& answer, const RunReport& report) = 0;
  // Tells hot keys what was written, once it was.
  virtual void CountIn(TopKeys&) const {}
  // About how large the answer will be, once there is an outcome; nothing unless it may be large.
  virtual size_t AnswerBytes() const { return 0; }

  RunOptions options;
  RequestInfo info;
  size_t commands = 1;
  int answered = 0;  // the status

 private:
  Cost spent_;
};

// What a long operation works with, on its loop.
struct Session {
  Service& service;
  LoopState& loop;
  net::Stream& stream;
  const RequestInfo& info;
  Cost cost = {};  // for the operation to fill in

  // Stop is requested once the client has ended its side. To be asked for once.
  std::stop_token Gone() const { return stream.WatchPeer(); }
  // For work of this operation on the pool: it is not begun when request_timeout is over.
  WorkTurn Turn(WorkerPool::Lane lane) const;
  // Sends what there is of an answer that is streamed. What the client does not take at once is held for it and counts
  // among max_inflight_bytes; when half of those are used, or it takes nothing for write_timeout, it is cut off, and
  // this is false. What came from where `counted` bytes are counted for it until it is sent is not cut off for its
  // size: it is a little more than those at most, once it is written out.
  net::Task<bool> Send(uint64_t counted = 0);
};

// An answer that is streamed is made in parts of about so many bytes, or of one key or change that is larger; the next
// is made when the last has been taken.
constexpr size_t kStreamPartBytes = 256 << 10;

// An answer with a larger body is not made on a loop: JSON, base64 and gzip of it take a millisecond or more.
constexpr size_t kLargeAnswer = 64 << 10;

// Anything that waits or works for long: a coroutine. An error is answered as a problem, unless it has begun to answer.
class SlowOp {
 public:
  virtual ~SlowOp() = default;
  virtual net::Task<Status> Run(Session& session, Answer& answer) = 0;

  RequestInfo info;
};

using SyncHandler = Status (*)(Call&);
using WriteHandler = Result<std::unique_ptr<WriteOp>> (*)(Call&);
using SlowHandler = Result<std::unique_ptr<SlowOp>> (*)(Call&);
using Handler = std::variant<SyncHandler, WriteHandler, SlowHandler>;

}  // namespace kvarts::http
