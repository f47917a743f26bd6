#include "protocol/http/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "protocol/common/held_bytes.h"
#include "protocol/http/compress.h"
#include "protocol/http/problem.h"
#include "protocol/http/routes.h"
#include "protocol/http/table_requests.h"
#include "protocol/http/tags.h"

namespace kvarts::http {
namespace {

bool IsRead(Method method) { return method == Method::kGet || method == Method::kHead; }

}  // namespace

Answer::Answer(const Service& service, const HttpDate& date, const RequestInfo& info, Bytes* out)
    : service_(service),
      info_(info),
      writer_(out, date,
              {.keep_alive = info.keep_alive, .minor_version = info.minor_version, .head_only = info.head_only}) {}

ResponseWriter& Answer::BeginStream(int status) {
  status_ = status;
  writer_.Begin(status);
  // Only what is read can be cached. What is read has forms, or may be compressed; said of all, it is one constant.
  if (IsRead(info_.method)) writer_.Lines("Vary: Accept, Accept-Encoding\r\n");
  if (!service_.options.cors_origins.empty()) writer_.Lines("Vary: Origin\r\n");
  if (info_.cors_origin != nullptr) {
    writer_.Header("Access-Control-Allow-Origin", *info_.cors_origin);
    writer_.Header("Access-Control-Expose-Headers",
                   "ETag, Kvarts-Cost, Kvarts-Expiry, Kvarts-Session, Kvarts-Warning, Retry-After");
  }
  if (session_) {
    const std::string token = session_.ToString();
    writer_.Header("Kvarts-Session", token);
    writer_.Header("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", kSessionCookie, token));
  }
  return writer_;
}

ResponseWriter& Answer::Begin(int status, const Cost& cost) {
  BeginStream(status);
  if (info_.show_cost) {
    // A dictionary of RFC 8941.
    writer_.Header("Kvarts-Cost", fmt::format("keys={}, bytes={}, skipped={}, written={}, written_bytes={}, "
                                              "sync_us={}, runs={}",
                                              cost.read.keys, cost.read.bytes, cost.read.skipped, cost.keys_written,
                                              cost.bytes_written, cost.sync_wait_us, cost.runs));
  }
  Warn(cost);
  return writer_;
}

void Answer::Warn(const Cost& cost) {
  if (cost.read.skipped <= service_.options.tombstones_warn) return;
  writer_.Header("Kvarts-Warning", fmt::format("tombstones={}", cost.read.skipped));
}

void Answer::Finish() {
  const size_t least = service_.options.compress_min_bytes;
  if (info_.gzip && least != 0 && writer_.body_size() >= least) {
    const Bytes plain = writer_.TakeBody();
    // The tag in the answer to a write is of what is there now, not of the answer.
    if (IsRead(info_.method)) writer_.ExtendETag(kGzipSuffix);
    writer_.Header("Content-Encoding", "gzip");
    AppendGzip(writer_.body(plain.size() / 2), plain);
  }
  writer_.Finish();
}

void Answer::Problem(const Error& error, const Cost& cost) {
  const int status = StatusOf(error);
  if (status == 500) {
    Log(LogLevel::kError, "a request failed", error,
        {{"route", info_.route == nullptr ? std::string_view() : info_.route->path}, {"trace", info_.trace}});
  }
  WriteProblem(Begin(status, cost), error);
}

void Answer::Problem(const HttpError& error, std::string_view allow) {
  WriteProblem(Begin(error.status, {}), error, allow);
}

void WriteCost(JsonWriter& json, const Cost& cost) {
  json.Field("keys", cost.read.keys).Field("bytes", cost.read.bytes).Field("skipped", cost.read.skipped);
  json.Field("written", cost.keys_written).Field("written_bytes", cost.bytes_written);
  json.Field("sync_us", cost.sync_wait_us).Field("runs", cost.runs);
}

Status WriteOp::Run(Txn& txn) {
  const Status applied = Apply(txn);
  spent_.read = txn.cost().read;
  spent_.runs = txn.cost().runs;
  return applied;
}

void Call::CountRead(BytesView key, size_t bytes) {
  CountPlace(key);
  if (service.options.hot_keys) loop.hot.Read(key, bytes);
}

void Call::CountPlace(BytesView start) {
  const NamespaceTable& table = service.catalog.current();
  if (service.options.metrics) info.place = loop.namespaces.PlaceWith(info.place, table, start);
}

void Call::CountTable(const TablePath& path, std::string_view index) {
  if (!service.options.metrics) return;
  const TablePtr table = service.tables.Known(path);
  if (table == nullptr) return;
  std::string name = ScopePath(path);
  if (!index.empty() && table->IndexNamed(index) != nullptr) name.append("/").append(index);
  info.place = loop.namespaces.PlaceWithTable(info.place, name);
}

WorkTurn Session::Turn(WorkerPool::Lane lane) const {
  return {lane, std::chrono::steady_clock::now() + service.options.request_timeout};
}

net::Task<bool> Session::Send(uint64_t counted) {
  if (stream.FlushNow()) co_return true;
  StreamBytes held(service.inflight_bytes, service.stream_bytes, service.stream_room());
  const uint64_t bytes = stream.output().size();
  const bool fits = held.Add(bytes - std::min(bytes, counted));
  if (!fits && counted == 0) {
    stream.Abort();
    co_return false;
  }
  stream.SetSendDeadline(service.options.write_timeout);
  const bool sent = co_await stream.Flush();
  stream.ClearDeadline();
  co_return sent;
}

}  // namespace kvarts::http
