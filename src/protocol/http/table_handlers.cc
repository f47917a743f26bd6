// Tables and their indexes: declared, looked at, changed and dropped.
#include "encoding/json_reader.h"
#include "model/table/description.h"
#include "net/http/target.h"
#include "protocol/http/access.h"
#include "protocol/http/catalog_items.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

// Of what stands in the way of an index, an answer shows so many.
constexpr size_t kShownFindings = 100;

WorkOp::Reply TableReply(int status, const TablePath& path, const TableInfo& table) {
  WorkOp::Reply reply;
  reply.status = status;
  JsonWriter json(&reply.body);
  json.BeginObject();
  WriteTableDescription(json, path, table);
  json.EndObject();
  return reply;
}

constexpr const char* kKeyStays = "the key of a table cannot be changed";
constexpr const char* kProfileStays = "the profile of a table cannot be changed";
constexpr const char* kIndexesOneByOne = "the indexes of a table that is there are made and dropped one by one";

Error CannotChange(const char* text, const char* field) {
  return Error(ErrorCode::kInvalidArgument, text, {{"field", field}});
}
// What a declaration has and a change of a table may not have: why.
Status CheckChanged(std::string_view name) {
  if (name == "key") return CannotChange(kKeyStays, "key");
  if (name == "profile") return CannotChange(kProfileStays, "profile");
  if (name == "indexes") return CannotChange(kIndexesOneByOne, "indexes");
  return {};
}

// What a declaration changes of a table that is there: how long rows live and are kept, and their schema. Nothing else
// of it may differ. Indexes that it does not name stay.
Result<Tables::TableChange> ChangeTo(const TableInfo& table, const TableSpec& wanted) {
  const TableSpec& is = table.spec();
  if (!(wanted.key == is.key)) return CannotChange(kKeyStays, "key");
  if (wanted.profile != is.profile) return CannotChange(kProfileStays, "profile");
  for (const IndexSpec& index : wanted.indexes) {
    const TableIndex* const there = table.IndexNamed(index.name);
    if (there != nullptr && there->maintained() && there->spec == index) continue;
    return Error(ErrorCode::kInvalidArgument, kIndexesOneByOne,
                 {{"field", "indexes"}, {"index", index.name}, {"advice", "PUT or DELETE …/indexes/NAME"}});
  }
  Tables::TableChange change;
  if (wanted.ttl != is.ttl) change.ttl = wanted.ttl;
  if (wanted.retention != is.retention) change.retention = wanted.retention;
  if (wanted.schema != is.schema) change.schema = wanted.schema;
  return change;
}

Result<WorkOp::Reply> DeclareTable(Tables& tables, const TablePath& path, const TableSpec& spec, bool must_be_new,
                                   const RunOptions& options) {
  const Result<TablePtr> created = tables.CreateTable(path, spec, options);
  if (created.has_value()) return TableReply(201, path, **created);
  if (created.error().code() != ErrorCode::kAlreadyExists) return created.error();
  if (must_be_new) return IsThere(created.error());
  KVARTS_TRY(TablePtr table, tables.Find(path));
  KVARTS_TRY(const Tables::TableChange change, ChangeTo(*table, spec));
  if (!change.IsEmpty()) {
    KVARTS_TRY(table, tables.AlterTable(path, change, options));
  }
  return TableReply(200, path, *table);
}

// {"name": …}, or {"ttl": …, "retention": …, "schema": …}.
struct TablePatch {
  std::optional<std::string> name;
  Tables::TableChange change;
};
Result<TablePatch> ParseTablePatch(std::string_view body) {
  JsonReader json(body);
  TablePatch patch;
  Status may_change;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      patch.name = json.Text();
    } else if (const Status checked = CheckChanged(name); !checked.has_value()) {
      may_change = checked;
      json.Skip();
    } else if (!ReadTableChange(json, name, &patch.change)) {
      json.Unknown(name);
    }
  });
  json.Require(!may_change.has_value() || patch.name.has_value() == patch.change.IsEmpty(),
               "a table is renamed, or its ttl, retention and schema are changed");
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_CHECK_OK(may_change);
  if (patch.name) KVARTS_CHECK_OK(CheckCatalogName(*patch.name));
  return patch;
}

struct IndexPath {
  TablePath table;
  std::string index;
};
Result<IndexPath> IndexOf(const Call& call) {
  IndexPath path;
  KVARTS_TRY(path.table, TableOf(call));
  KVARTS_TRY(path.index, PercentDecode(call.values[3]));
  KVARTS_CHECK_OK(CheckCatalogName(path.index));
  return path;
}

Result<const TableIndex*> FindIndex(const TableInfo& table, const std::string& name) {
  const TableIndex* const index = table.IndexNamed(name);
  if (index != nullptr) return index;
  return Error(ErrorCode::kNotFound, "there is no such index", {{"table", table.stored().name}, {"index", name}});
}

// How far the job of an index is, and what it has found in its way.
Status WriteProgress(JsonWriter& json, Store& store, const TableInfo& table, JobId id) {
  const Result<JobRecord> job = Jobs(store).Get(id);
  // Jobs that ended long ago are forgotten.
  if (!job.has_value() && job.error().code() == ErrorCode::kNotFound) return {};
  if (!job.has_value()) return job.error();
  json.Name("progress").BeginObject().Field("state", JobStateName(job->state)).Field("done", job->done).Name("total");
  if (job->total) {
    json.Number(*job->total);
  } else {
    json.Null();
  }
  if (job->error) json.BytesField("error", job->error->text);
  json.EndObject();
  const TableId table_id = table.stored().id;
  KVARTS_TRY(const auto findings,
             store.Run([&](Txn& txn) { return PeekFindings(txn, table_id, id, 0, kShownFindings); }));
  if (!findings.empty()) WriteFindings(json, findings);
  return {};
}

Result<WorkOp::Reply> IndexReply(Tables& tables, const TableInfo& table, const TableIndex& index) {
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  json.BeginObject();
  WriteIndexDescription(json, index);
  if (index.job) KVARTS_CHECK_OK(WriteProgress(json, tables.store(), table, *index.job));
  json.EndObject();
  return reply;
}

struct IndexBody {
  IndexSpec spec;
  uint32_t throttle = 0;
};
Result<IndexBody> ParseIndex(const std::string& name, std::string_view text) {
  JsonReader json(text);
  IndexBody body;
  const auto other = [&](std::string_view field) {
    if (field != "throttle") return false;
    body.throttle = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    return true;
  };
  body.spec = ReadIndexSpec(json, other, name);
  KVARTS_CHECK_OK(json.Finish());
  return body;
}

// Whether nobody builds the index, nor ever will.
Result<bool> IsGivenUp(Store& store, const TableIndex& index) {
  if (index.state != IndexState::kBuilding || !index.job) return false;
  const Result<JobRecord> job = Jobs(store).Get(*index.job);
  if (job.has_value()) return job->state == JobState::kCancelled;
  // It has ended so long ago that it cannot be resumed any more.
  if (job.error().code() == ErrorCode::kNotFound) return true;
  return job.error();
}

Result<WorkOp::Reply> CreateIndex(Tables& tables, const TablePath& path, const IndexBody& body, bool must_be_new,
                                  const RunOptions& options) {
  const Result<Tables::IndexWork> work = tables.CreateIndex(path, body.spec, body.throttle, options);
  if (work.has_value()) return StartedReply(work->job);
  if (work.error().code() != ErrorCode::kAlreadyExists) return work.error();
  if (must_be_new) return IsThere(work.error());
  KVARTS_TRY(const TablePtr table, tables.Find(path));
  KVARTS_TRY(const TableIndex* index, FindIndex(*table, body.spec.name));
  // The same again changes nothing.
  if (!index->maintained() || !(index->spec == body.spec)) return work.error();
  KVARTS_TRY(const bool given_up, IsGivenUp(tables.store(), *index));
  if (given_up) {
    return Error(ErrorCode::kAlreadyExists, "the index is there, and the job that was to build it was cancelled",
                 {{"index", body.spec.name}, {"advice", "DELETE it and make it anew"}});
  }
  return IndexReply(tables, *table, *index);
}

}  // namespace

Result<std::unique_ptr<SlowOp>> ListTables(Call& call) {
  KVARTS_TRY(DatasetPath path, DatasetOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, ScopePath(path)));
  KVARTS_TRY(NamesQuery query, NamesQueryOf(call));
  return OnWorkers(
      [&tables = call.service.tables, path = std::move(path), query = std::move(query)]() -> Result<WorkOp::Reply> {
        KVARTS_TRY(const NamesPage page, tables.ListTables(path, query.after, query.limit));
        return NamesReply("tables", page);
      });
}

Result<std::unique_ptr<SlowOp>> GetTable(Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const TablePtr table, tables.Find(path));
    return TableReply(200, path, *table);
  });
}

Result<std::unique_ptr<SlowOp>> PutTable(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  JsonReader json(call.body);
  TableSpec spec = ReadTableSpec(json);
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_TRY(const bool must_be_new, MustBeNew(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), spec = std::move(spec), must_be_new,
                    options = std::move(options)] { return DeclareTable(tables, path, spec, must_be_new, options); });
}

Result<std::unique_ptr<SlowOp>> PatchTable(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(TablePatch patch, ParseTablePatch(call.body));
  TablePath renamed = path;
  if (patch.name) {
    renamed.table = *patch.name;
    KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(renamed)));
  }
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), renamed = std::move(renamed),
                    patch = std::move(patch), options = std::move(options)]() -> Result<WorkOp::Reply> {
    if (patch.name) {
      KVARTS_CHECK_OK(tables.RenameTable(path, *patch.name, options));
    } else {
      KVARTS_CHECK_OK(tables.AlterTable(path, patch.change, options));
    }
    KVARTS_TRY(const TablePtr table, tables.Find(renamed));
    return TableReply(200, renamed, *table);
  });
}

Result<std::unique_ptr<SlowOp>> DeleteTable(Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers(
      [&tables = call.service.tables, path = std::move(path), options = std::move(options)]() -> Result<WorkOp::Reply> {
        KVARTS_TRY(const JobId job, tables.DropTable(path, options));
        return StartedReply(job);
      });
}

Result<std::unique_ptr<SlowOp>> ListIndexes(Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const TablePtr table, tables.Find(path));
    WorkOp::Reply reply;
    JsonWriter json(&reply.body);
    json.BeginObject();
    WriteIndexes(json, *table);
    json.EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> GetIndex(Call& call) {
  KVARTS_TRY(IndexPath path, IndexOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, ScopePath(path.table)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const TablePtr table, tables.Find(path.table));
    KVARTS_TRY(const TableIndex* index, FindIndex(*table, path.index));
    return IndexReply(tables, *table, *index);
  });
}

Result<std::unique_ptr<SlowOp>> PutIndex(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(IndexPath path, IndexOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path.table)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(IndexBody body, ParseIndex(path.index, call.body));
  KVARTS_TRY(const bool must_be_new, MustBeNew(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path.table), body = std::move(body), must_be_new,
                    options = std::move(options)] { return CreateIndex(tables, path, body, must_be_new, options); });
}

Result<std::unique_ptr<SlowOp>> DeleteIndex(Call& call) {
  KVARTS_TRY(IndexPath path, IndexOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path.table)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers(
      [&tables = call.service.tables, path = std::move(path), options = std::move(options)]() -> Result<WorkOp::Reply> {
        KVARTS_TRY(const Tables::IndexWork work, tables.DropIndex(path.table, path.index, options));
        return StartedReply(work.job);
      });
}

}  // namespace kvarts::http
