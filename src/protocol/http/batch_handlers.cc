// Many keys at once: POST /keys/get; and one commit over keys and rows: POST /commit and POST /rows/batch.
#include <algorithm>

#include "core/user_keys.h"
#include "model/keys/keys.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/bodies.h"
#include "protocol/http/handlers.h"
#include "protocol/http/items.h"
#include "protocol/http/requests.h"
#include "protocol/http/row_bodies.h"
#include "protocol/http/table_requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

// Read at a time, so that an answer that is too large is noticed before it is all in memory.
constexpr size_t kPart = 16;

void WriteRecord(JsonWriter& json, BytesView key, const std::optional<Record>& record) {
  if (!record) {
    json.Null();
    return;
  }
  WriteItem(json, key, record->header, record->value);
}

Error TooMuchTogether(uint64_t max_bytes) {
  return Error(ErrorCode::kTooLarge, "the values are too large to be read together",
               {{"limit", "max_body_bytes"}, {"at_most", std::to_string(max_bytes)}});
}

Result<std::vector<KeyBuffer>> PhysicalKeys(const std::vector<Bytes>& keys, const Limits& limits) {
  std::vector<KeyBuffer> buffers;
  buffers.reserve(keys.size());
  for (const Bytes& key : keys) {
    Result<KeyBuffer> physical = CheckedUserKey(key, limits);
    if (!physical.has_value()) return AtPlace("keys", buffers.size(), physical.error());
    buffers.push_back(*std::move(physical));
  }
  return buffers;
}

Result<WorkOp::Reply> ReadMany(Engine& engine, const std::vector<Bytes>& keys, const Freshness& freshness,
                               uint64_t max_bytes) {
  KVARTS_TRY(const std::vector<KeyBuffer> buffers, PhysicalKeys(keys, engine.limits()));
  const std::vector<BytesView> views(buffers.begin(), buffers.end());
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView(freshness));
  WorkOp::Reply reply;
  const ReadOptions options{.cost = &reply.cost.read};
  JsonWriter json(&reply.body);
  json.BeginObject().Name("items").BeginArray();
  for (size_t at = 0; at < keys.size(); at += kPart) {
    const auto part = std::span(views).subspan(at, std::min(kPart, keys.size() - at));
    std::vector<std::optional<Record>> records(part.size());
    KVARTS_CHECK_OK(view->Get(part, records, options));
    for (size_t i = 0; i < part.size(); ++i) WriteRecord(json, keys[at + i], records[i]);
    if (reply.body.size() > max_bytes) {
      reply.problem = TooMuchTogether(max_bytes);
      return reply;
    }
  }
  json.EndArray().EndObject();
  return reply;
}

// A few keys, which need no view.
struct Few {
  std::vector<Bytes> keys;
  std::vector<std::optional<Record>> records = {};
  Cost cost = {};

  Status Read(Engine& engine, const Freshness& freshness) {
    KVARTS_TRY(const std::vector<KeyBuffer> buffers, PhysicalKeys(keys, engine.limits()));
    const std::vector<BytesView> views(buffers.begin(), buffers.end());
    records.resize(keys.size());
    return engine.Get(views, records, {.cost = &cost.read, .freshness = freshness});
  }

  WorkOp::Reply Write(uint64_t max_bytes) const {
    WorkOp::Reply reply{.cost = cost};
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (size_t i = 0; i < keys.size() && reply.body.size() <= max_bytes; ++i) WriteRecord(json, keys[i], records[i]);
    json.EndArray().EndObject();
    if (reply.body.size() > max_bytes) reply.problem = TooMuchTogether(max_bytes);
    return reply;
  }
};

// They are read at once, and answered at once unless they turn out to be large.
Result<std::unique_ptr<SlowOp>> GetFew(Call& call, std::vector<Bytes> keys, const Freshness& freshness) {
  Engine& engine = call.service.engine();
  Few few{std::move(keys)};
  const uint64_t max_bytes = call.service.options.max_body_bytes;
  if (engine.capabilities().reads_may_wait) {
    return OnWorkers([&engine, few = std::move(few), freshness, max_bytes]() mutable -> Result<WorkOp::Reply> {
      KVARTS_CHECK_OK(few.Read(engine, freshness));
      return few.Write(max_bytes);
    });
  }
  KVARTS_CHECK_OK(few.Read(engine, freshness));
  call.cost.read = few.cost.read;
  const bool large = few.cost.read.bytes > kLargeAnswer;
  auto write = [few = std::move(few), max_bytes]() -> Result<WorkOp::Reply> { return few.Write(max_bytes); };
  return large ? OnWorkers(std::move(write)) : OnLoop(std::move(write));
}

// Whether the answer shows what is there afterwards.
bool Shows(const keys::Command& command) {
  return std::holds_alternative<keys::Increment>(command) || std::holds_alternative<keys::Append>(command);
}

class CommitWrite final : public WriteOp {
 public:
  CommitWrite(const Service& service, CommitBody body)
      : catalog_(service.catalog), tables_(service.tables), redis_(service.redis), body_(std::move(body)) {}

  Status Apply(Txn& txn) override {
    outcomes_.assign(body_.commands.size(), {});
    rows_.assign(body_.rows.size(), {});
    UsedTables used(tables_, txn);
    std::vector<TablePtr> tables;
    for (size_t i = 0; i < rows_.size(); ++i) {
      Result<TablePtr> table = used.Use(body_.rows[i].table);
      if (!table.has_value()) return body_.At(CommitBody::Of::kRow, i, table.error());
      tables.push_back(*std::move(table));
    }
    if (!body_.commands.empty() || !body_.requirements.empty()) KVARTS_CHECK_OK(ApplyToKeys(txn));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Status applied = ApplyRow(txn, tables[i], body_.rows[i], &rows_[i]);
      if (!applied.has_value()) return body_.At(CommitBody::Of::kRow, i, applied.error());
    }
    return body_.redis.empty() ? Status() : ApplyToRedis(txn);
  }

  void Respond(Answer& answer, const RunReport& report) override {
    ResponseWriter& head = answer.Begin(200, report.cost);
    if (past_retention_) answer.WarnOfRetention();
    if (std::ranges::any_of(rows_, &RowResult::past)) answer.WarnOfExpiry();
    head.ContentType("application/json");
    JsonWriter json(head.body());
    json.BeginObject().Field("version", report.version.ToString()).Name("results").BeginArray();
    size_t key = 0;
    size_t row = 0;
    size_t redis = 0;
    for (const CommitBody::Of of : body_.order) {
      json.BeginObject();
      if (of == CommitBody::Of::kKey) {
        WriteResult(json, body_.commands[key], outcomes_[key]);
        ++key;
      } else if (of == CommitBody::Of::kRedis) {
        json.Name("result").Raw(answers_[redis]);
        ++redis;
      } else {
        WriteRowResult(json, body_.rows[row], rows_[row]);
        ++row;
      }
      json.EndObject();
    }
    json.EndArray().EndObject();
    answer.Finish();
  }

  void CountIn(TopKeys& hot) const override {
    for (const keys::Command& command : body_.commands) {
      const auto* put = std::get_if<keys::Put>(&command);
      const bool is_range = std::holds_alternative<keys::DeleteRange>(command);
      if (!is_range) hot.Write(keys::KeyOf(command), put == nullptr ? 0 : put->value.bytes.size());
    }
  }

  size_t AnswerBytes() const override {
    size_t bytes = 0;
    for (size_t i = 0; i < outcomes_.size(); ++i) {
      if (Shows(body_.commands[i])) bytes += outcomes_[i].value.size();
    }
    for (const RowResult& row : rows_) bytes += ResultBytes(row);
    for (const Bytes& answer : answers_) bytes += answer.size();
    return bytes;
  }

 private:
  Status ApplyToRedis(Txn& txn) {
    size_t failed = 0;
    const Status ran = redis_->Run(txn, body_.redis, &answers_, &failed);
    if (!ran.has_value()) return body_.At(CommitBody::Of::kRedis, failed, ran.error());
    for (size_t i = 0; i < answers_.size(); ++i) {
      if (!body_.expected[i] || *body_.expected[i] == answers_[i]) continue;
      return body_.At(CommitBody::Of::kRedis, i,
                      Error(ErrorCode::kPreconditionFailed, "the command has another answer than is expected"));
    }
    return {};
  }

  Status ApplyToKeys(Txn& txn) {
    KVARTS_TRY(CatalogGuard guard, catalog_.Guard(txn));
    for (size_t i = 0; i < body_.requirements.size(); ++i) {
      const Status required = keys::Require(txn, body_.requirements[i]);
      if (!required.has_value()) return body_.At("preconditions", i, required.error());
    }
    for (size_t i = 0; i < body_.commands.size(); ++i) {
      const Status applied = keys::Apply({txn, guard}, body_.commands[i], &outcomes_[i]);
      if (!applied.has_value()) return body_.At(CommitBody::Of::kKey, i, applied.error());
    }
    past_retention_ = guard.past_retention();
    return {};
  }

  // What the client does not know already: the value after an increment or an append, and when it will be gone.
  static void WriteResult(JsonWriter& json, const keys::Command& command, const keys::Outcome& outcome) {
    if (Shows(command)) WriteValue(json, outcome.header, outcome.value);
    if (outcome.header.expiry != kNever) json.Field("expiry", outcome.header.expiry.ToString());
  }

  Catalog& catalog_;
  Tables& tables_;
  RedisCommands* const redis_;
  const CommitBody body_;
  std::vector<keys::Outcome> outcomes_;
  std::vector<RowResult> rows_;
  std::vector<Bytes> answers_;  // of Redis' commands, as JSON
  bool past_retention_ = false;
};

Status AuthorizeOne(const Call& call, const keys::Requirement& requirement) {
  return requirement.range ? Authorize(call, Right::kRead, *requirement.range)
                           : Authorize(call, Right::kRead, requirement.key);
}

Status AuthorizeOne(const Call& call, const keys::Command& command) {
  const auto* range = std::get_if<keys::DeleteRange>(&command);
  KVARTS_CHECK_OK(range != nullptr ? Authorize(call, Right::kWrite, range->range)
                                   : Authorize(call, Right::kWrite, keys::KeyOf(command)));
  return Shows(command) ? Authorize(call, Right::kRead, keys::KeyOf(command)) : Status();
}

Status AuthorizeOne(const Call& call, const TableCommand& command) {
  const std::string path = ScopePath(command.table);
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kWrite, path));
  return command.Reads() ? AuthorizeTables(call, Right::kRead, path) : Status();
}

// What is written needs the right to write, what is only asked about the right to read.
Status AuthorizeCommit(const Call& call, const CommitBody& body) {
  if (!call.info.who) return {};
  for (size_t i = 0; i < body.requirements.size(); ++i) {
    const Status allowed = AuthorizeOne(call, body.requirements[i]);
    if (!allowed.has_value()) return body.At("preconditions", i, allowed.error());
  }
  for (size_t i = 0; i < body.commands.size(); ++i) {
    const Status allowed = AuthorizeOne(call, body.commands[i]);
    if (!allowed.has_value()) return body.At(CommitBody::Of::kKey, i, allowed.error());
  }
  for (size_t i = 0; i < body.rows.size(); ++i) {
    const Status allowed = AuthorizeOne(call, body.rows[i]);
    if (!allowed.has_value()) return body.At(CommitBody::Of::kRow, i, allowed.error());
  }
  return {};
}

// Of a key, or the start of a range.
BytesView PlaceOf(const keys::Command& command) {
  const auto* range = std::get_if<keys::DeleteRange>(&command);
  return range == nullptr ? keys::KeyOf(command) : BytesView(range->range.start);
}

// Redis' databases are for tokens that may do everything, as they are over Redis' own protocol.
Status CheckRedis(const Call& call, const CommitBody& body) {
  if (body.redis.empty()) return {};
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  for (size_t i = 0; i < body.redis.size(); ++i) {
    const Status right = call.service.redis->Check(body.redis[i]);
    if (!right.has_value()) return body.At(CommitBody::Of::kRedis, i, right.error());
  }
  return {};
}

Result<std::unique_ptr<WriteOp>> MakeCommit(Call& call, CommitBody body) {
  KVARTS_CHECK_OK(AuthorizeCommit(call, body));
  KVARTS_CHECK_OK(CheckRedis(call, body));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  for (const keys::Command& command : body.commands) call.CountPlace(PlaceOf(command));
  for (const TableCommand& command : body.rows) call.CountTable(command.table);
  const size_t commands = body.requirements.size() + body.order.size();
  auto write = std::make_unique<CommitWrite>(call.service, std::move(body));
  write->commands = commands;
  write->options = std::move(options);
  return write;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> GetKeys(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const Freshness freshness, FreshnessOf(call));
  KVARTS_TRY(std::vector<Bytes> keys, ParseKeysBody(call.body, call.service.options.max_batch_keys));
  for (const Bytes& key : keys) {
    KVARTS_CHECK_OK(Authorize(call, Right::kRead, key));
    call.CountRead(key, 0);
  }
  if (keys.size() <= kPart) return GetFew(call, std::move(keys), freshness);
  Engine& engine = call.service.engine();
  return OnWorkers([&engine, keys = std::move(keys), freshness, max_bytes = call.service.options.max_body_bytes] {
    return ReadMany(engine, keys, freshness, max_bytes);
  });
}

Result<std::unique_ptr<WriteOp>> Commit(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(CommitBody body, ParseCommitBody(call.body, call.service.engine().limits().max_commit_operations));
  return MakeCommit(call, std::move(body));
}

Result<std::unique_ptr<WriteOp>> BatchRows(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  CommitBody body;
  KVARTS_TRY(body.rows, ParseRowBatch(call.body, call.service.engine().limits().max_commit_operations));
  body.order.assign(body.rows.size(), CommitBody::Of::kRow);
  body.list = "commands";
  return MakeCommit(call, std::move(body));
}

}  // namespace kvarts::http
