// One key: GET, PUT, DELETE and PATCH of /keys/{key}.
#include <algorithm>
#include <array>
#include <charconv>

#include "core/user_keys.h"
#include "encoding/json_reader.h"
#include "model/keys/keys.h"
#include "net/http/negotiate.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/bodies.h"
#include "protocol/http/handlers.h"
#include "protocol/http/items.h"
#include "protocol/http/read_terms.h"
#include "protocol/http/requests.h"
#include "protocol/http/tags.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kJsonType = "application/json";

// The rest of an answer with one item: what was read or what was written.
void WriteItemAnswer(Answer& answer, ResponseWriter& head, BytesView key, const ValueHeader& header, BytesView value) {
  head.ETag(Tag(header.version).text());
  head.ContentType(kJsonType);
  JsonWriter json(head.body(key.size() + value.size() + 100));
  WriteItem(json, key, header, value);
  answer.Finish();
}

void AnswerRaw(Answer& answer, const Cost& cost, const Record& record) {
  RawValue raw;
  MakeRaw(record.header, record.value, &raw);
  ResponseWriter& head = answer.Begin(200, cost);
  head.ETag(Tag(record.header.version).text());
  head.ContentType(raw.type);
  // What somebody stored as a page is shown by a browser, but not with the rights of this server's own pages.
  if (record.header.kind == ValueKind::kTyped) {
    head.Lines("Content-Security-Policy: sandbox\r\nX-Content-Type-Options: nosniff\r\n");
  }
  if (record.header.expiry != kNever) head.Header("Kvarts-Expiry", record.header.expiry.ToString());
  head.body(raw.bytes.size())->append(raw.bytes);
  answer.Finish();
}

void AnswerRecord(Answer& answer, const Cost& cost, BytesView key, const Record& record, Form form) {
  if (form == Form::kRaw) return AnswerRaw(answer, cost, record);
  WriteItemAnswer(answer, answer.Begin(200, cost), key, record.header, record.value);
}

// The same on a worker.
std::unique_ptr<SlowOp> AnswerLater(Record record, Bytes key, Form form, const Cost& cost) {
  auto write = [record = std::move(record), key = std::move(key), form, cost](Answer& answer,
                                                                              const std::stop_token&) -> Result<Cost> {
    AnswerRecord(answer, cost, key, record, form);
    return cost;
  };
  return std::make_unique<WorkOp>(std::move(write), WorkerPool::Lane::kShort);
}

// A write of one key, answered with what is there afterwards.
class KeyWrite final : public WriteOp {
 public:
  KeyWrite(Catalog& catalog, keys::Command command, Bytes key, int status, bool minimal)
      : catalog_(catalog), command_(std::move(command)), key_(std::move(key)), status_(status), minimal_(minimal) {}

  Status Apply(Txn& txn) override {
    KVARTS_TRY(CatalogGuard guard, catalog_.Guard(txn));
    KVARTS_CHECK_OK(keys::Apply({txn, guard}, command_, &outcome_));
    past_retention_ = guard.past_retention();
    return {};
  }

  void Respond(Answer& answer, const RunReport& report) override {
    if (minimal_) {
      ResponseWriter& head = answer.Begin(204, report.cost);
      if (past_retention_) answer.WarnOfRetention();
      head.ETag(Tag(report.version).text());
      answer.Finish();
      return;
    }
    if (std::holds_alternative<keys::Delete>(command_)) {
      ResponseWriter& head = answer.Begin(200, report.cost);
      head.ContentType(kJsonType);
      JsonWriter json(head.body());
      json.BeginObject().BytesField("key", key_).Field("version", Tag(report.version).text()).EndObject();
      answer.Finish();
      return;
    }
    outcome_.header.version = report.version;
    ResponseWriter& head = answer.Begin(status_, report.cost);
    if (past_retention_) answer.WarnOfRetention();
    WriteItemAnswer(answer, head, key_, outcome_.header, outcome_.value);
  }

  void CountIn(TopKeys& hot) const override {
    const auto* put = std::get_if<keys::Put>(&command_);
    hot.Write(key_, put == nullptr ? 0 : put->value.bytes.size());
  }

  size_t AnswerBytes() const override { return minimal_ ? 0 : outcome_.value.size(); }

 private:
  Catalog& catalog_;
  const keys::Command command_;
  const Bytes key_;
  const int status_;
  const bool minimal_;
  keys::Outcome outcome_;
  bool past_retention_ = false;
};

Result<std::unique_ptr<WriteOp>> MakeWrite(const Call& call, keys::Command command, Bytes key, int status) {
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  auto write =
      std::make_unique<KeyWrite>(call.service.catalog, std::move(command), std::move(key), status, WantsMinimal(call));
  write->options = std::move(options);
  return write;
}

// A body that is the value itself.
bool IsPrintableAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

Result<keys::Put> RawPut(const Call& call, const MediaType& type) {
  keys::Put put;
  if (type.absent() || type.Is("application/octet-stream")) {
    put.value.bytes = call.body;
  } else {
    put.value.kind = ValueKind::kTyped;
    if (!IsPrintableAscii(call.head.content_type())) {
      return Error(ErrorCode::kInvalidArgument, "a content type that is stored is ASCII", {{"header", "Content-Type"}});
    }
    KVARTS_TRY(put.value.bytes, (TypedValue{call.head.content_type(), call.body}.Encode()));
  }
  QueryReader query(call.head.query());
  if (const auto ttl = query.Get("ttl")) {
    double seconds = 0;
    const auto [end, failed] = std::from_chars(ttl->data(), ttl->data() + ttl->size(), seconds);
    const char* why = WhyNoLifetime(seconds);
    query.Require(failed == std::errc() && end == ttl->data() + ttl->size(), "ttl", "a ttl is a number of seconds");
    query.Require(why == nullptr, "ttl", why);
    put.lifetime = LifetimeOf(seconds).value_or(keys::Lifetime());
  }
  KVARTS_CHECK_OK(query.Finish());
  return put;
}

// A body that says what the value is.
Result<keys::Put> JsonPut(const Call& call) {
  if (!call.head.query().empty()) {
    QueryReader query(call.head.query());
    query.Require(!query.Get("ttl"), "ttl", "with a JSON body, the ttl stands in the body");
    KVARTS_CHECK_OK(query.Finish());
  }
  if (JsonReader(call.body).Peek() != JsonKind::kObject) {
    return Error(ErrorCode::kInvalidArgument, "an object was expected: with this content type the body is JSON",
                 {{"content_type", std::string(call.head.content_type())},
                  {"advice", "for a body that is the value itself, send Content-Type: application/octet-stream"}});
  }
  return ParsePutBody(call.body);
}

// The answer to a read, or what makes it, if it is large.
Result<std::unique_ptr<SlowOp>> AnswerRead(const ReadTerms& terms, const RequestInfo& info, const Cost& cost,
                                           BytesView key, std::optional<Record> record, Answer& answer) {
  if (!record) {
    return Error(ErrorCode::kNotFound, "there is nothing under the key", {{"key", Escaped(key)}});
  }
  KVARTS_TRY(const Form form, FormOf(terms.accept, RawType(record->header, record->value)));
  KVARTS_TRY(const bool matches, Matches(terms, record));
  if (!matches) return keys::ConditionFailed(key, record);
  KVARTS_TRY(const bool unchanged, AnswerUnchanged(terms, info, cost, record->header.version, answer));
  if (unchanged) return nullptr;
  const bool is_work = form == Form::kJson || info.gzip;
  if (is_work && record->value.size() > kLargeAnswer) return AnswerLater(*std::move(record), Bytes(key), form, cost);
  AnswerRecord(answer, cost, key, *record, form);
  return nullptr;
}

// A read on an engine that may have to wait for it: the loop goes on meanwhile.
class AwaitedRead final : public SlowOp {
 public:
  AwaitedRead(BytesView key, BytesView physical, const ReadTerms& terms, const Freshness& freshness)
      : key_(key), physical_(physical), terms_(terms), freshness_(freshness) {
    std::array<std::string_view*, 5> kept = {&key_, &physical_};
    size_t count = 2;
    for (auto* text : {&terms_.accept, &terms_.if_match, &terms_.if_none_match}) {
      if (*text) kept[count++] = &**text;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += kept[i]->size();
    texts_.reserve(bytes);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = texts_.size();
      texts_.append(*kept[i]);
      *kept[i] = std::string_view(texts_).substr(at);
    }
  }

  net::Task<Status> Run(Session& session, Answer& answer) override {
    read_.keys = {&physical_, 1};
    read_.records = {&record_, 1};
    read_.options = {.cost = &session.cost.read, .freshness = freshness_};
    co_await session.loop.reads->Await(read_);
    if (!read_.outcome.has_value()) co_return read_.outcome.error();
    if (session.service.options.hot_keys) session.loop.hot.Read(key_, record_ ? record_->value.size() : 0);
    Result<std::unique_ptr<SlowOp>> later =
        AnswerRead(terms_, session.info, session.cost, key_, std::move(record_), answer);
    if (!later.has_value()) co_return std::move(later).error();
    if (*later == nullptr) co_return Status();
    Status answered = co_await (*later)->Run(session, answer);
    co_return answered;
  }

 private:
  Bytes texts_;  // all that is kept of the request
  BytesView key_;
  BytesView physical_;
  ReadTerms terms_;
  const Freshness freshness_;
  LoopReads::Read read_;
  std::optional<Record> record_;
};

Status NoQuery(const Call& call) {
  if (call.head.query().empty()) return {};
  return QueryReader(call.head.query()).Finish();
}

}  // namespace

Status GetKey(Call& call) {
  Bytes scratch;
  KVARTS_TRY(const BytesView key, KeyOf(call, &scratch));
  KVARTS_CHECK_OK(Authorize(call, Right::kRead, key));
  KVARTS_TRY(const Freshness freshness, FreshnessOf(call));
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, call.service.engine().limits()));
  const ReadTerms terms(call.head);
  Engine& engine = call.service.engine();
  if (engine.capabilities().reads_may_wait) {
    call.CountPlace(key);
    call.later = std::make_unique<AwaitedRead>(key, physical, terms, freshness);
    return {};
  }
  const BytesView wanted = physical;
  std::optional<Record> record;
  KVARTS_CHECK_OK(engine.Get({&wanted, 1}, {&record, 1}, {.cost = &call.cost.read, .freshness = freshness}));
  call.CountRead(key, record ? record->value.size() : 0);
  KVARTS_TRY(call.later, AnswerRead(terms, call.info, call.cost, key, std::move(record), call.answer));
  return {};
}

Result<std::unique_ptr<WriteOp>> PutKey(Call& call) {
  Bytes scratch;
  KVARTS_TRY(const BytesView key, KeyOf(call, &scratch));
  KVARTS_CHECK_OK(Authorize(call, Right::kWrite, key));
  KVARTS_TRY(const MediaType type, MediaType::Parse(call.head.content_type()));
  keys::Put put;
  if (type.Is("application/json") || type.Is("application/x-www-form-urlencoded")) {
    KVARTS_TRY(put, JsonPut(call));
  } else {
    KVARTS_TRY(put, RawPut(call, type));
  }
  put.key = key;
  KVARTS_TRY(put.condition, ConditionOf(call));
  call.CountPlace(key);
  const int status = put.condition.kind == keys::Condition::Kind::kAbsent ? 201 : 200;
  return MakeWrite(call, std::move(put), Bytes(key), status);
}

Result<std::unique_ptr<WriteOp>> DeleteKey(Call& call) {
  Bytes scratch;
  KVARTS_TRY(const BytesView key, KeyOf(call, &scratch));
  KVARTS_CHECK_OK(Authorize(call, Right::kWrite, key));
  KVARTS_CHECK_OK(NoQuery(call));
  KVARTS_TRY(keys::Condition condition, ConditionOf(call));
  call.CountPlace(key);
  return MakeWrite(call, keys::Delete{Bytes(key), std::move(condition)}, Bytes(key), 200);
}

Result<std::unique_ptr<WriteOp>> PatchKey(Call& call) {
  Bytes scratch;
  KVARTS_TRY(const BytesView key, KeyOf(call, &scratch));
  // The answer shows what was there.
  KVARTS_CHECK_OK(Authorize(call, Right::kRead, key));
  KVARTS_CHECK_OK(Authorize(call, Right::kWrite, key));
  KVARTS_CHECK_OK(NoQuery(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(keys::Command command, ParsePatchBody(call.body));
  KVARTS_TRY(const keys::Condition condition, ConditionOf(call));
  std::visit(
      [&](auto& change) {
        if constexpr (requires { change.condition; }) {
          change.key = key;
          change.condition = condition;
        }
      },
      command);
  call.CountPlace(key);
  return MakeWrite(call, std::move(command), Bytes(key), 200);
}

}  // namespace kvarts::http
