// Drift: the jobs that compare the indexes of a table with its rows, mend them and take that back, and what they have
// found.
#include "encoding/json_reader.h"
#include "model/table/table_jobs.h"
#include "net/http/target.h"
#include "protocol/http/access.h"
#include "protocol/http/catalog_items.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

// What a request for such a job says: which job it goes by, and how fast it is to be.
struct DriftBody {
  std::optional<JobId> job;
  uint32_t throttle = 0;
};
// `job_field` is the name of the field with the job; what goes by a job alone has no throttle.
Result<DriftBody> ParseDrift(const Call& call, std::string_view job_field, bool may_throttle = true) {
  KVARTS_CHECK_OK(CheckNoQuery(call));
  DriftBody body;
  if (call.body.empty()) return body;
  KVARTS_CHECK_OK(WantJson(call));
  JsonReader json(call.body);
  json.Object([&](std::string_view name) {
    if (name == "throttle" && may_throttle) {
      body.throttle = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (!job_field.empty() && name == job_field) {
      const std::optional<Uuid> id = Uuid::Parse(json.Text());
      json.Require(id.has_value(), "the id of a job is a UUID");
      if (id) body.job = JobId{*id};
    } else {
      json.Unknown(name);
    }
  });
  KVARTS_CHECK_OK(json.Finish());
  return body;
}

Result<TablePath> AdministeredTable(const Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  return path;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> VerifyTable(Call& call) {
  KVARTS_TRY(TablePath path, AdministeredTable(call));
  KVARTS_TRY(const DriftBody body, ParseDrift(call, {}));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), body,
                    options = std::move(options)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const JobId job, tables.StartVerify(path, body.throttle, options));
    return StartedReply(job);
  });
}

Result<std::unique_ptr<SlowOp>> RepairTable(Call& call) {
  KVARTS_TRY(TablePath path, AdministeredTable(call));
  KVARTS_TRY(const DriftBody body, ParseDrift(call, "verified"));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), body,
                    options = std::move(options)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const JobId job, tables.StartRepair(path, body.job, body.throttle, options));
    return StartedReply(job);
  });
}

Result<std::unique_ptr<SlowOp>> UndoRepair(Call& call) {
  KVARTS_TRY(TablePath path, AdministeredTable(call));
  KVARTS_TRY(const DriftBody body, ParseDrift(call, "repair", false));
  if (!body.job) {
    return Error(ErrorCode::kInvalidArgument, "the job of the repair is missing", {{"field", "repair"}});
  }
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), repair = *body.job,
                    options = std::move(options)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const JobId job, tables.UndoRepair(path, repair, options));
    return StartedReply(job);
  });
}

Result<std::unique_ptr<SlowOp>> ListFindings(Call& call) {
  KVARTS_TRY(TablePath path, TableOf(call));
  // They show keys and values of rows.
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kRead, ScopePath(path)));
  const std::optional<Uuid> id = Uuid::Parse(call.values[3]);
  if (!id) return Error(ErrorCode::kInvalidArgument, "the id of a job is a UUID");
  QueryReader query(call.head.query());
  const uint64_t from = query.Uint("from", 0, 0, UINT64_MAX);
  const size_t limit = query.Uint("limit", call.service.options.default_page, 1, kMaxFindings);
  KVARTS_CHECK_OK(query.Finish());
  return OnWorkers([&tables = call.service.tables, path = std::move(path), job = JobId{*id}, from,
                    limit]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const std::vector<Finding> findings, tables.FindingsOf(path, job, from, limit + 1));
    WorkOp::Reply reply;
    JsonWriter json(&reply.body);
    json.BeginObject();
    WriteFindings(json, std::span(findings).first(std::min(findings.size(), limit)));
    json.Name("next");
    if (findings.size() > limit) {
      json.Number(findings.back().number);
    } else {
      json.Null();
    }
    json.EndObject();
    return reply;
  });
}

}  // namespace kvarts::http
