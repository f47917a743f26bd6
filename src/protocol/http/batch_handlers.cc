// Many keys at once: POST /keys/get and POST /commit.
#include "core/user_keys.h"
#include "model/keys/keys.h"
#include "protocol/common/await.h"
#include "protocol/http/bodies.h"
#include "protocol/http/handlers.h"
#include "protocol/http/items.h"
#include "protocol/http/requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

class GetMany final : public WorkOp {
 public:
  GetMany(Engine& engine, std::vector<Bytes> keys) : engine_(engine), keys_(std::move(keys)) {}

 private:
  Result<Reply> Work() override {
    std::vector<KeyBuffer> buffers;
    buffers.reserve(keys_.size());
    for (const Bytes& key : keys_) {
      KVARTS_TRY(KeyBuffer physical, CheckedUserKey(key, engine_.limits()));
      buffers.push_back(std::move(physical));
    }
    const std::vector<BytesView> views(buffers.begin(), buffers.end());
    std::vector<std::optional<Record>> records(views.size());
    Reply reply;
    KVARTS_CHECK_OK(engine_.Get(views, records, {.cost = &reply.cost.read}));
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (records[i]) {
        WriteItem(json, keys_[i], records[i]->header, records[i]->value);
      } else {
        json.Null();
      }
    }
    json.EndArray().EndObject();
    return reply;
  }

  Engine& engine_;
  const std::vector<Bytes> keys_;
};

class CommitWrite final : public WriteOp {
 public:
  explicit CommitWrite(CommitBody body) : body_(std::move(body)) {}

  Status Apply(Txn& txn) override {
    outcomes_.assign(body_.commands.size(), {});
    for (const keys::Requirement& requirement : body_.requirements) KVARTS_CHECK_OK(keys::Require(txn, requirement));
    for (size_t i = 0; i < body_.commands.size(); ++i) {
      KVARTS_CHECK_OK(keys::Apply(txn, body_.commands[i], &outcomes_[i]));
    }
    return {};
  }

  void Respond(Answer& answer, const RunReport& report) override {
    ResponseWriter& head = answer.Begin(200, report.cost);
    head.ContentType("application/json");
    JsonWriter json(head.body());
    json.BeginObject().Field("version", report.version.ToString()).Name("results").BeginArray();
    for (size_t i = 0; i < outcomes_.size(); ++i) WriteResult(json, body_.commands[i], outcomes_[i]);
    json.EndArray().EndObject();
    answer.Finish();
  }

 private:
  // What the client does not know already: the value after an increment or an append, and when it will be gone.
  static void WriteResult(JsonWriter& json, const keys::Command& command, const keys::Outcome& outcome) {
    json.BeginObject();
    if (std::holds_alternative<keys::Increment>(command) || std::holds_alternative<keys::Append>(command)) {
      WriteValue(json, outcome.header, outcome.value);
    }
    if (outcome.header.expiry != kNever) json.Field("expiry", outcome.header.expiry.ToString());
    json.EndObject();
  }

  const CommitBody body_;
  std::vector<keys::Outcome> outcomes_;
};

void CountCommand(Call& call, const keys::Command& command) {
  std::visit(
      [&](const auto& change) {
        if constexpr (requires { change.range; }) {
          call.CountRange(change.range.start);
        } else if constexpr (requires { change.value; }) {
          call.CountWrite(change.key, change.value.bytes.size());
        } else {
          call.CountWrite(change.key, 0);
        }
      },
      command);
}

}  // namespace

Result<std::unique_ptr<SlowOp>> GetKeys(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(std::vector<Bytes> keys, ParseKeysBody(call.body, call.service.options.max_batch_keys));
  for (const Bytes& key : keys) call.CountRead(key, 0);
  return std::make_unique<GetMany>(call.service.engine(), std::move(keys));
}

Result<std::unique_ptr<WriteOp>> Commit(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(CommitBody body, ParseCommitBody(call.body));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  for (const keys::Command& command : body.commands) CountCommand(call, command);
  auto write = std::make_unique<CommitWrite>(std::move(body));
  write->options = std::move(options);
  return write;
}

}  // namespace kvarts::http
