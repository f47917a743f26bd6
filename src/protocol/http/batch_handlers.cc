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
  GetMany(Engine& engine, std::vector<Bytes> keys, uint64_t max_bytes)
      : engine_(engine), keys_(std::move(keys)), max_bytes_(max_bytes) {}

 private:
  Result<Reply> Work() override {
    std::vector<KeyBuffer> buffers;
    buffers.reserve(keys_.size());
    for (const Bytes& key : keys_) {
      KVARTS_TRY(KeyBuffer physical, CheckedUserKey(key, engine_.limits()));
      buffers.push_back(std::move(physical));
    }
    const std::vector<BytesView> views(buffers.begin(), buffers.end());
    std::unique_ptr<View> view;
    if (keys_.size() > kPart) {
      KVARTS_TRY(view, engine_.OpenView());
    }
    Reply reply;
    const ReadOptions options{.cost = &reply.cost.read};
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (size_t at = 0; at < keys_.size(); at += kPart) {
      const auto part = std::span(views).subspan(at, std::min(kPart, keys_.size() - at));
      std::vector<std::optional<Record>> records(part.size());
      KVARTS_CHECK_OK(view ? view->Get(part, records, options) : engine_.Get(part, records, options));
      for (size_t i = 0; i < part.size(); ++i) WriteRecord(json, keys_[at + i], records[i]);
      if (reply.body.size() > max_bytes_) {
        return Error(ErrorCode::kTooLarge, "the values are too large to be read together",
                     {{"limit", "max_body_bytes"}, {"at_most", std::to_string(max_bytes_)}});
      }
    }
    json.EndArray().EndObject();
    return reply;
  }

  static void WriteRecord(JsonWriter& json, BytesView key, const std::optional<Record>& record) {
    if (!record) {
      json.Null();
      return;
    }
    WriteItem(json, key, record->header, record->value);
  }

  // Read at a time, so that an answer that is too large is noticed before it is all in memory.
  static constexpr size_t kPart = 16;

  Engine& engine_;
  const std::vector<Bytes> keys_;
  const uint64_t max_bytes_;
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

}  // namespace

Result<std::unique_ptr<SlowOp>> GetKeys(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(std::vector<Bytes> keys, ParseKeysBody(call.body, call.service.options.max_batch_keys));
  if (call.service.options.hot_keys) {
    for (const Bytes& key : keys) call.loop.hot.Read(key);
  }
  return std::make_unique<GetMany>(call.service.engine(), std::move(keys), call.service.options.max_body_bytes);
}

Result<std::unique_ptr<WriteOp>> Commit(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(CommitBody body, ParseCommitBody(call.body));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  auto write = std::make_unique<CommitWrite>(std::move(body));
  write->options = std::move(options);
  return write;
}

}  // namespace kvarts::http
