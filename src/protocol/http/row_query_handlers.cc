// Many rows: by their keys, by a query of a partition, and all of them in pages.
#include "protocol/http/access.h"
#include "protocol/http/bodies.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/row_bodies.h"
#include "protocol/http/row_items.h"
#include "protocol/http/table_requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

// Read at a time, so that an answer that is too large is noticed before it is all in memory.
constexpr size_t kPart = 16;

RowCursors CursorsOf(const Service& service) { return {service.cursors.secret, service.cursors.max_age}; }

PageBounds BoundsOf(const Service& service) {
  return {.usual = service.options.default_page,
          .at_most = service.options.max_page,
          .max_bytes = service.engine().limits().max_page_bytes};
}

// A request about a table whose rows it may read.
Result<TablePath> ReadableTable(const Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kRead, ScopePath(path)));
  return path;
}

// Straight into the answer: a page may be large.
Cost WritePage(Answer& answer, const TableInfo& table, const RowPage& page, const std::optional<Projection>& fields) {
  Cost cost;
  cost.read = page.cost;
  ResponseWriter& head = answer.Begin(200, cost);
  head.ContentType("application/json");
  JsonWriter json(head.body());
  json.BeginObject().Name("rows").BeginArray();
  for (const FoundRow& row : page.rows) WriteRow(json, table, row, fields);
  json.EndArray().Name("cursor");
  if (page.cursor) {
    json.Text(*page.cursor);
  } else {
    json.Null();
  }
  json.Field("examined", page.examined).EndObject();
  answer.Finish();
  return cost;
}

Result<WorkOp::Reply> ReadRows(Service& service, const TablePath& path, const RowKeysBody& wanted,
                               const Freshness& freshness) {
  KVARTS_TRY(const TablePtr table, service.tables.Find(path));
  std::vector<KeyBuffer> buffers;
  buffers.reserve(wanted.keys.size());
  for (const Bytes& key : wanted.keys) {
    Result<KeyBuffer> physical = RowKeyOf(*table, DocumentView(key));
    if (!physical.has_value()) return AtPlace("keys", buffers.size(), physical.error());
    buffers.push_back(*std::move(physical));
  }
  const std::vector<BytesView> views(buffers.begin(), buffers.end());
  KVARTS_TRY(const std::unique_ptr<View> view, service.engine().OpenView(freshness));
  const uint64_t max_bytes = service.options.max_body_bytes;
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  json.BeginObject().Name("rows").BeginArray();
  for (size_t at = 0; at < views.size(); at += kPart) {
    const auto part = std::span(views).subspan(at, std::min(kPart, views.size() - at));
    std::vector<std::optional<Record>> records(part.size());
    KVARTS_CHECK_OK(view->Get(part, records, {.cost = &reply.cost.read}));
    for (const std::optional<Record>& record : records) {
      if (!record) {
        json.Null();
        continue;
      }
      KVARTS_TRY(const FoundRow row, ToFoundRow(record->header, record->value));
      WriteRow(json, *table, row, wanted.fields);
    }
    if (reply.body.size() > max_bytes) {
      reply.problem = Error(ErrorCode::kTooLarge, "the rows are too large to be read together",
                            {{"limit", "max_body_bytes"}, {"at_most", std::to_string(max_bytes)}});
      return reply;
    }
  }
  json.EndArray().EndObject();
  return reply;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> GetRows(Call& call) {
  KVARTS_TRY(TablePath path, ReadableTable(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const Freshness freshness, FreshnessOf(call));
  KVARTS_TRY(RowKeysBody body, ParseRowKeys(call.body, call.service.options.max_batch_keys));
  call.CountTable(path);
  return OnWorkers([&service = call.service, path = std::move(path), body = std::move(body), freshness] {
    return ReadRows(service, path, body, freshness);
  });
}

Result<std::unique_ptr<SlowOp>> QueryTable(Call& call) {
  KVARTS_TRY(TablePath path, ReadableTable(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const Freshness freshness, FreshnessOf(call));
  KVARTS_TRY(RowQuery query, ParseRowQuery(call.body, BoundsOf(call.service)));
  query.freshness = freshness;
  query.max_skipped = call.service.options.tombstones_fail;
  call.CountTable(path, query.index);
  // The key is shown whatever else is asked for, so fields are picked when the row is written.
  std::optional<Projection> fields = std::exchange(query.projection, std::nullopt);
  auto list = [&service = call.service, path = std::move(path), query = std::move(query), fields = std::move(fields)](
                  Answer& answer, const std::stop_token&) -> Result<Cost> {
    KVARTS_TRY(const TablePtr table, service.tables.Find(path));
    KVARTS_TRY(const RowPage page, QueryRows(service.engine(), *table, query, CursorsOf(service)));
    return WritePage(answer, *table, page, fields);
  };
  return std::make_unique<WorkOp>(std::move(list), WorkerPool::Lane::kShort);
}

Result<std::unique_ptr<SlowOp>> ListRows(Call& call) {
  KVARTS_TRY(TablePath path, ReadableTable(call));
  QueryReader query(call.head.query());
  const PageBounds bounds = BoundsOf(call.service);
  RowScan scan;
  scan.limit = query.Uint("limit", bounds.usual, 1, bounds.at_most);
  scan.max_bytes = bounds.max_bytes;
  scan.max_skipped = call.service.options.tombstones_fail;
  scan.cursor = query.Get("cursor", "");
  const auto filter = query.Get("filter");
  const auto fields_text = query.Get("fields");
  const bool consistent = query.Flag("consistent");
  KVARTS_CHECK_OK(query.Finish());
  KVARTS_TRY(scan.filter, ParseCondition("filter", filter));
  KVARTS_TRY(std::optional<Projection> fields, ParseFields(fields_text));
  KVARTS_TRY(scan.freshness, FreshnessOf(call, consistent));
  call.CountTable(path);
  auto list = [&service = call.service, path = std::move(path), scan = std::move(scan), fields = std::move(fields)](
                  Answer& answer, const std::stop_token&) -> Result<Cost> {
    KVARTS_TRY(const TablePtr table, service.tables.Find(path));
    KVARTS_TRY(const RowPage page, ScanRows(service.engine(), *table, scan, CursorsOf(service)));
    return WritePage(answer, *table, page, fields);
  };
  return std::make_unique<WorkOp>(std::move(list), WorkerPool::Lane::kShort);
}

Result<std::unique_ptr<SlowOp>> SplitRows(Call& call) {
  KVARTS_TRY(TablePath path, ReadableTable(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(SplitBody body, ParseSplit(call.body));
  return OnWorkers(
      [&service = call.service, path = std::move(path), body = std::move(body)]() -> Result<WorkOp::Reply> {
        KVARTS_TRY(const TablePtr table, service.tables.Find(path));
        RowScan scan;
        scan.filter = body.filter;
        KVARTS_TRY(const auto cursors, SplitScan(service.engine(), *table, scan, body.parts, CursorsOf(service)));
        WorkOp::Reply reply;
        JsonWriter json(&reply.body);
        json.BeginObject().Name("cursors").BeginArray();
        for (const std::string& cursor : cursors) json.Text(cursor);
        json.EndArray().EndObject();
        return reply;
      });
}

}  // namespace kvarts::http
