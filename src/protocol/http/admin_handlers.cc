// Tokens, jobs and compaction: what the operator of a server asks for.
#include "core/job.h"
#include "core/user_keys.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "model/access/token.h"
#include "model/catalog/catalog_jobs.h"
#include "model/table/index_repair.h"
#include "model/table/index_verify.h"
#include "model/table/job_subject.h"
#include "model/table/table_jobs.h"
#include "net/http/target.h"
#include "protocol/http/access.h"
#include "protocol/http/bodies.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr size_t kMaxJobPage = 1000;

void WriteTokenFields(JsonWriter& json, const TokenInfo& token) {
  json.Field("id", token.id.text).BytesField("name", token.name).Name("scopes").BeginArray();
  for (const Scope& scope : token.scopes) json.Text(scope.ToString());
  json.EndArray().Field("created", token.created.ToString()).Name("expiry");
  if (token.expiry == kNever) {
    json.Null();
  } else {
    json.Text(token.expiry.ToString());
  }
  if (token.limit) json.Field("rate", token.limit->per_second).Field("burst", token.limit->burst);
  json.Field("disabled", token.disabled);
}

Result<NewToken> ParseToken(std::string_view body) {
  JsonReader json(body);
  NewToken token;
  std::optional<uint32_t> rate;
  std::optional<uint32_t> burst;
  std::vector<std::string> scopes;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      token.name = json.Text();
    } else if (name == "scopes") {
      json.Array([&] { scopes.emplace_back(json.Text()); });
    } else if (name == "ttl") {
      token.ttl = ReadSeconds(json).duration;
    } else if (name == "rate") {
      rate = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "burst") {
      burst = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else {
      json.Unknown(name);
    }
  });
  json.Require(!burst || rate, "a burst belongs to a rate");
  KVARTS_CHECK_OK(json.Finish());
  for (const std::string& text : scopes) {
    KVARTS_TRY(Scope scope, Scope::Parse(text));
    token.scopes.push_back(std::move(scope));
  }
  if (rate) token.limit = RateLimit{*rate, burst.value_or(*rate)};
  return token;
}

Result<TokenId> TokenOf(const Call& call) {
  KVARTS_TRY(const std::string text, PercentDecode(call.values[0]));
  return TokenId::Parse(text);
}

// Who has the directory needs no token.
Status CheckNobodyIsLockedOut(const Service& service, Txn& txn, const TokenId& id, TokenChange change) {
  return service.local_only ? Status() : CheckSomebodyIsLeft(txn, id, change);
}

Result<JobId> JobOf(const Call& call) {
  const auto uuid = Uuid::Parse(call.values[0]);
  if (!uuid) return Error(ErrorCode::kInvalidArgument, "the id of a job is a UUID");
  return JobId{*uuid};
}

// What the jobs about drift have to say.
void WriteDriftReport(JsonWriter& json, const JobRecord& job) {
  if (job.kind == kTableVerify) {
    if (const Result<VerifyReport> report = ReadVerifyReport(job); report.has_value()) {
      json.Field("rows", report->rows).Field("entries", report->entries).Name("found").BeginObject();
      for (size_t i = 0; i < kDriftKinds; ++i) {
        const auto kind = static_cast<DriftKind>(i);
        if (report->Found(kind) != 0) json.Field(DriftKindName(kind), report->Found(kind));
      }
      json.EndObject();
    }
  } else if (job.kind == kTableRepair) {
    if (const Result<RepairReport> report = ReadRepairReport(job); report.has_value()) {
      json.Field("mended", report->mended).Field("sound", report->sound).Field("left", report->left);
    }
  } else if (job.kind == kTableUndo) {
    if (const Result<UndoReport> report = ReadUndoReport(job); report.has_value()) {
      json.Field("undone", report->undone).Field("left", report->left);
    }
  }
}

Status WriteJob(JsonWriter& json, const JobRecord& job, JobSubjects& subjects) {
  KVARTS_TRY(const std::optional<JobSubject> subject, subjects.Of(job));
  json.BeginObject().Field("id", job.id.ToString()).BytesField("kind", job.kind);
  if (subject) json.BytesField("table", subject->table);
  if (subject && !subject->index.empty()) json.BytesField("index", subject->index);
  json.Field("state", JobStateName(job.state)).Field("done", job.done).Name("total");
  if (job.total) {
    json.Number(*job.total);
  } else {
    json.Null();
  }
  json.Field("throttle", job.throttle);
  // Only of a job that moves.
  if (const Result<MoveReport> report = ReadMoveReport(job); report.has_value()) {
    json.Field("moved", report->moved).Field("unfit", report->unfit).Field("taken", report->taken);
    if (!report->why.empty()) json.BytesField("first_left", report->first_left).BytesField("why", report->why);
  }
  WriteDriftReport(json, job);
  if (job.error) {
    json.Name("error").BeginObject().Field("code", ErrorCodeName(job.error->code));
    json.BytesField("detail", job.error->text).EndObject();
  }
  json.Field("created", job.created.time().ToString()).Field("updated", job.updated.time().ToString()).EndObject();
  return {};
}

Result<WorkOp::Reply> JobReply(Store& store, JobId id) {
  KVARTS_TRY(const JobRecord job, Jobs(store).Get(id));
  KVARTS_TRY(const std::unique_ptr<View> view, store.engine().OpenView());
  JobSubjects subjects(*view);
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  KVARTS_CHECK_OK(WriteJob(json, job, subjects));
  return reply;
}

// Pause, Resume or Cancel.
Result<std::unique_ptr<SlowOp>> ChangeJob(Call& call, Status (Jobs::*change)(JobId)) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_TRY(const JobId id, JobOf(call));
  return OnWorkers([&store = call.service.store, id, change]() -> Result<WorkOp::Reply> {
    Jobs jobs(store);
    KVARTS_CHECK_OK((jobs.*change)(id));
    return JobReply(store, id);
  });
}

}  // namespace

Result<std::unique_ptr<SlowOp>> ListTokens(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  return OnWorkers([&store = call.service.store]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const auto tokens, store.Run([](Txn& txn) { return kvarts::ListTokens(txn); }));
    WorkOp::Reply reply;
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (const TokenInfo& token : tokens) {
      json.BeginObject();
      WriteTokenFields(json, token);
      json.EndObject();
    }
    json.EndArray().EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> CreateToken(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(NewToken token, ParseToken(call.body));
  if (!call.service.local_only && !call.service.tokens.any() && !AllowsAdmin(token.scopes)) {
    return Error(ErrorCode::kPreconditionFailed,
                 "the first token must give admin over everything: once there is one, requests without are refused");
  }
  return OnWorkers([&store = call.service.store, token = std::move(token)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const CreatedToken created, store.Run([&](Txn& txn) { return kvarts::CreateToken(txn, token); }));
    WorkOp::Reply reply;
    reply.status = 201;
    JsonWriter json(&reply.body);
    json.BeginObject().Field("token", created.text);
    WriteTokenFields(json, created.info);
    json.EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> DeleteToken(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_TRY(const TokenId id, TokenOf(call));
  return OnWorkers([&service = call.service, id]() -> Result<WorkOp::Reply> {
    const auto revoke = [&](Txn& txn) -> Status {
      KVARTS_CHECK_OK(CheckNobodyIsLockedOut(service, txn, id, TokenChange::kRevoke));
      return RevokeToken(txn, id);
    };
    KVARTS_CHECK_OK(service.store.Run(revoke));
    WorkOp::Reply reply;
    JsonWriter(&reply.body).BeginObject().Field("id", id.text).EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> PatchToken(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const TokenId id, TokenOf(call));
  JsonReader json(call.body);
  std::optional<bool> disabled;
  json.Object([&](std::string_view name) {
    if (name == "disabled") {
      disabled = json.Bool();
    } else {
      json.Unknown(name);
    }
  });
  json.Require(disabled.has_value(), "disabled is missing");
  KVARTS_CHECK_OK(json.Finish());
  return OnWorkers([&service = call.service, id, disabled = *disabled]() -> Result<WorkOp::Reply> {
    const auto change = [&](Txn& txn) -> Status {
      if (disabled) KVARTS_CHECK_OK(CheckNobodyIsLockedOut(service, txn, id, TokenChange::kDisable));
      return SetTokenDisabled(txn, id, disabled);
    };
    KVARTS_CHECK_OK(service.store.Run(change));
    WorkOp::Reply reply;
    JsonWriter(&reply.body).BeginObject().Field("id", id.text).Field("disabled", disabled).EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> ListJobs(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  QueryReader query(call.head.query());
  const auto after = query.Get("after");
  const size_t limit = query.Uint("limit", call.service.options.default_page, 1, kMaxJobPage);
  std::optional<JobId> from;
  if (after) {
    const auto uuid = Uuid::Parse(*after);
    query.Require(uuid.has_value(), "after", "the id of a job is a UUID");
    if (uuid) from = JobId{*uuid};
  }
  KVARTS_CHECK_OK(query.Finish());
  return OnWorkers([&store = call.service.store, from, limit]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const JobPage page, Jobs(store).List(from, limit));
    KVARTS_TRY(const std::unique_ptr<View> view, store.engine().OpenView());
    JobSubjects subjects(*view);
    WorkOp::Reply reply;
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (const JobRecord& job : page.jobs) KVARTS_CHECK_OK(WriteJob(json, job, subjects));
    json.EndArray().Name("next");
    if (page.next) {
      json.Text(page.next->ToString());
    } else {
      json.Null();
    }
    json.EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> GetJob(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_TRY(const JobId id, JobOf(call));
  return OnWorkers([&store = call.service.store, id] { return JobReply(store, id); });
}

Result<std::unique_ptr<SlowOp>> PauseJob(Call& call) { return ChangeJob(call, &Jobs::Pause); }
Result<std::unique_ptr<SlowOp>> ResumeJob(Call& call) { return ChangeJob(call, &Jobs::Resume); }
Result<std::unique_ptr<SlowOp>> CancelJob(Call& call) { return ChangeJob(call, &Jobs::Cancel); }

Result<std::unique_ptr<SlowOp>> CompactRange(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  call.info.takes_long = true;
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const KeyRange range, ParseRangeBody(call.body));
  KVARTS_TRY(KeyRange physical, CheckedUserRange(range, call.service.engine().limits()));
  return OnWorkersForLong([&engine = call.service.engine(),
                           physical = std::move(physical)](const std::stop_token& stop) -> Result<WorkOp::Reply> {
    KVARTS_CHECK_OK(engine.Compact(physical, stop));
    WorkOp::Reply reply;
    JsonWriter(&reply.body).BeginObject().Field("ok", true).EndObject();
    return reply;
  });
}

}  // namespace kvarts::http
