// Ranges of keys: GET /keys as pages, counts and exports, and DELETE /keys.
#include <array>

#include "core/user_keys.h"
#include "model/keys/keys.h"
#include "net/http/negotiate.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/compress.h"
#include "protocol/http/handlers.h"
#include "protocol/http/items.h"
#include "protocol/http/problem.h"
#include "protocol/http/requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kNdjson = "application/x-ndjson";

void WriteEntry(JsonWriter& json, const ScanPage::Entry& entry, bool values) {
  const BytesView key = UserKeyOf(entry.key).value_or(BytesView());
  if (values) return WriteItem(json, key, entry.header, entry.value);
  WriteItemHead(json, key, entry.header);
}

void WriteCursor(JsonWriter& json, const std::optional<std::string>& cursor) {
  if (cursor) {
    json.Text(*cursor);
  } else {
    json.Null();
  }
}

// An error of a read as the client is told of it. A scan that steps over too many tombstones is given up by the engine,
// which knows physical keys and no options.
Error ForClient(Error error, bool reverse) {
  if (error.field("limit") != "max_skipped") return error;
  const Result<Bytes> reached = ParseEscaped(error.field("reached"));
  const auto key = reached.has_value() ? UserKeyOf(*reached) : std::nullopt;
  const char* advice = !key      ? "compact the range"
                       : reverse ? "compact the range, or go on before what was reached: end"
                                 : "compact the range, or go on from what was reached: start";
  return Error(error.code(), "the scan steps over too many tombstones and expired values",
               {{"limit", "tombstones_fail"},
                {"at_most", std::string(error.field("at_most"))},
                {"skipped", std::string(error.field("skipped"))},
                {"reached", !key ? "" : Escaped(reverse ? KeyAfter(*key) : Bytes(*key))},
                {"advice", advice}});
}

template <class Value>
Result<Value> ForClient(Result<Value> read, bool reverse) {
  if (read.has_value()) return read;
  return ForClient(std::move(read).error(), reverse);
}

Result<keys::KeyPage> ReadPage(const Service& service, const keys::PageQuery& query) {
  return ForClient(keys::ReadPage(service.engine(), query, service.cursors), query.reverse);
}

// Straight into the answer: a page may be large.
Result<Cost> ListPage(const Service& service, const keys::PageQuery& query, Answer& answer) {
  KVARTS_TRY(const keys::KeyPage page, ReadPage(service, query));
  Cost cost;
  cost.read = page.cost;
  ResponseWriter& head = answer.Begin(200, cost);
  head.ContentType("application/json");
  const size_t expected = page.scanned.bytes() + page.scanned.size() * 80 + 100;
  Bytes* body = head.body(expected);
  body->reserve(body->size() + expected);
  JsonWriter json(body);
  json.BeginObject().Name("items").BeginArray();
  for (size_t i = 0; i < page.scanned.size(); ++i) WriteEntry(json, page.scanned[i], query.values);
  json.EndArray().Name("cursor");
  WriteCursor(json, page.cursor);
  json.EndObject();
  answer.Finish();
  return cost;
}

Result<WorkOp::Reply> CountRange(const Service& service, const keys::PageQuery& query, const std::stop_token& stop) {
  Result<keys::Count> counted =
      keys::CountKeys(service.engine(), query, service.cursors, service.options.max_count, stop);
  KVARTS_TRY(const keys::Count count, ForClient(std::move(counted), query.reverse));
  WorkOp::Reply reply;
  reply.cost.read = count.cost;
  JsonWriter json(&reply.body);
  json.BeginObject().Field("count", count.keys).Field("exact", true).Name("cursor");
  WriteCursor(json, count.cursor);
  json.EndObject();
  return reply;
}

// A few keys are counted; of more the engine knows about how many there are.
Result<WorkOp::Reply> EstimateRange(const Service& service, keys::PageQuery query) {
  constexpr size_t kCounted = 1000;
  WorkOp::Reply reply;
  KVARTS_TRY(const KeyRange physical, CheckedUserRange(query.range, service.engine().limits()));
  KVARTS_TRY(const RangeEstimate estimate, service.engine().Estimate(physical));
  query.values = false;
  query.cursor.clear();
  query.limit = kCounted;
  const Result<keys::KeyPage> page = ReadPage(service, query);
  bool all = false;
  uint64_t count = estimate.entries;
  if (page.has_value()) {
    reply.cost.read = page->cost;
    all = !page->cursor.has_value();
    count = all ? page->scanned.size() : std::max<uint64_t>(count, page->scanned.size());
  } else if (page.error().field("limit") == "tombstones_fail") {
    reply.cost.read.skipped = query.max_skipped;
  } else {
    return page.error();
  }
  JsonWriter json(&reply.body);
  json.BeginObject().Field("count", count).Field("bytes", estimate.bytes).Field("exact", all).EndObject();
  return reply;
}

// A whole range as lines of JSON, page by page, each at a view of its own; the last line says that it is whole.
class ExportRange final : public SlowOp {
 public:
  ExportRange(keys::PageQuery query, bool limited)
      : query_(std::move(query)), left_(limited ? std::optional(query_.limit) : std::nullopt) {}

  net::Task<Status> Run(Session& session, Answer& answer) override {
    head_only_ = session.info.head_only;
    if (session.info.gzip) gzip_.emplace();
    const std::stop_token gone = session.Gone();
    while (!done_) {
      auto make = [this, &session] { return MakePart(session); };
      // Once begun, it goes on however busy the workers are.
      WorkTurn turn = answer.status() == 0 ? session.Turn(WorkerPool::Lane::kLong) : WorkTurn{WorkerPool::Lane::kLong};
      turn.stop = gone;
      Result<Part> part = co_await OnWorker(session.stream.loop(), session.service.workers, make, turn);
      if (!part.has_value()) co_return std::move(part).error();
      session.cost.read += part->cost;
      if (answer.status() == 0) Begin(session, answer);
      Append(&session.stream.output(), part->lines);
      const bool sent = co_await session.Send();
      if (!sent) co_return Error(ErrorCode::kUnavailable, "the client does not take the answer");
    }
    co_return Status();
  }

 private:
  static constexpr size_t kPage = 1000;

  // A page as it goes out, but for the framing.
  struct Part {
    Bytes lines;
    ReadCost cost;
  };

  void Begin(Session& session, Answer& answer) {
    ResponseWriter& head = answer.BeginStream(200);
    answer.Warn(session.cost);  // of the first page: more is not known yet
    head.ContentType(kNdjson);
    if (gzip_) head.Header("Content-Encoding", "gzip");
    chunked_ = head.Stream();
  }

  // On a worker.
  Result<Part> MakePart(const Session& session) {
    query_.limit = std::min(left_.value_or(kPage), kPage);
    KVARTS_TRY(const keys::KeyPage page, ReadPage(session.service, query_));
    Part part{.lines = {}, .cost = page.cost};
    for (size_t i = 0; i < page.scanned.size(); ++i) {
      JsonWriter json(&part.lines);
      WriteEntry(json, page.scanned[i], query_.values);
      part.lines.push_back('\n');
    }
    written_ += page.scanned.size();
    if (left_) *left_ -= page.scanned.size();
    done_ = head_only_ || !page.cursor || left_ == 0;
    if (done_) AppendEnd(&part.lines, page, session);
    if (page.cursor) query_.cursor = *page.cursor;
    if (gzip_) {
      const Bytes plain = std::exchange(part.lines, {});
      gzip_->Append(&part.lines, plain);
      if (done_) gzip_->Finish(&part.lines);
    }
    return part;
  }

  void Append(Bytes* out, const Bytes& lines) const {
    if (head_only_) return;
    if (!chunked_) {
      out->append(lines);
      return;
    }
    AppendChunk(out, lines);
    if (done_) AppendLastChunk(out);
  }

  void AppendEnd(Bytes* lines, const keys::KeyPage& page, const Session& session) const {
    JsonWriter json(lines);
    json.BeginObject().Field("end", true).Field("count", written_).Name("cursor");
    WriteCursor(json, page.cursor);
    if (session.info.show_cost) {
      Cost cost = session.cost;
      cost.read += page.cost;
      json.Name("cost").BeginObject();
      WriteCost(json, cost);
      json.EndObject();
    }
    json.EndObject();
    lines->push_back('\n');
  }

  keys::PageQuery query_;
  std::optional<size_t> left_;  // of the number of keys that was asked for
  std::optional<GzipStream> gzip_;
  uint64_t written_ = 0;
  bool chunked_ = false;
  bool head_only_ = false;
  bool done_ = false;
};

class RangeWrite final : public WriteOp {
 public:
  RangeWrite(Catalog& catalog, KeyRange range) : catalog_(catalog), command_{std::move(range)} {}
  Status Apply(Txn& txn) override {
    KVARTS_TRY(CatalogGuard guard, catalog_.Guard(txn));
    return keys::ApplyDeleteRange({txn, guard}, command_);
  }
  void Respond(Answer& answer, const RunReport& report) override {
    ResponseWriter& head = answer.Begin(200, report.cost);
    head.ContentType("application/json");
    JsonWriter json(head.body());
    json.BeginObject().Field("version", report.version.ToString()).EndObject();
    answer.Finish();
  }

 private:
  Catalog& catalog_;
  const keys::DeleteRange command_;
};

}  // namespace

Result<std::unique_ptr<SlowOp>> ListKeys(Call& call) {
  const HttpOptions& options = call.service.options;
  static constexpr std::array<std::string_view, 2> kForms = {"application/json", kNdjson};
  const auto form = ChooseMedia(call.head.accept(), kForms);
  if (!form) {
    return NotAcceptable("the answer is application/json or application/x-ndjson", call.head.accept());
  }
  const bool stream = *form == 1;
  QueryReader query(call.head.query());
  keys::PageQuery page;
  page.range = RangeOf(query);
  page.reverse = query.Flag("reverse");
  page.values = query.Flag("values", true);
  page.cursor = query.Get("cursor", "");
  const bool limited = !stream || query.Get("limit").has_value();
  page.limit =
      limited ? query.Uint("limit", options.default_page, 1, stream ? UINT32_MAX : options.max_page) : SIZE_MAX;
  page.max_bytes = call.service.engine().limits().max_page_bytes;
  if (stream) page.max_bytes = std::min(page.max_bytes, kStreamPartBytes);
  page.max_skipped = options.tombstones_fail;
  const size_t count = query.Choice("count", {"none", "exact", "estimate"}, 0);
  const bool consistent = query.Flag("consistent");
  KVARTS_CHECK_OK(query.Finish());
  KVARTS_TRY(page.freshness, FreshnessOf(call, consistent));
  KVARTS_CHECK_OK(Authorize(call, Right::kRead, page.range));
  call.CountPlace(page.range.start);
  call.info.takes_long = stream || count != 0;
  const Service& service = call.service;
  if (count == 2) return OnWorkers([&service, page] { return EstimateRange(service, page); });
  if (count == 1) {
    return OnWorkersForLong(
        [&service, page = std::move(page)](const std::stop_token& stop) { return CountRange(service, page, stop); });
  }
  if (stream) return std::make_unique<ExportRange>(std::move(page), limited);
  auto list = [&service, page = std::move(page)](Answer& answer, const std::stop_token&) {
    return ListPage(service, page, answer);
  };
  return std::make_unique<WorkOp>(std::move(list), WorkerPool::Lane::kShort);
}

Result<std::unique_ptr<WriteOp>> DeleteKeys(Call& call) {
  QueryReader query(call.head.query());
  KeyRange range = RangeOf(query);
  // Behind a prefix of nothing but FF bytes no key can stand, so its range has no end.
  const bool bounded = !range.start.empty() && (range.HasEnd() || query.Get("prefix").has_value());
  KVARTS_CHECK_OK(query.Finish());
  if (!bounded) {
    return Error(ErrorCode::kInvalidArgument, "deleting a range needs a prefix, or a start and an end");
  }
  KVARTS_CHECK_OK(Authorize(call, Right::kWrite, range));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  call.CountPlace(range.start);
  auto write = std::make_unique<RangeWrite>(call.service.catalog, std::move(range));
  write->options = std::move(options);
  return write;
}

}  // namespace kvarts::http
