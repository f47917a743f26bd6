// One row: GET, PUT, DELETE and PATCH of …/rows/{key}, and POST of …/rows, whose row has its key in it.
#include "net/http/negotiate.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/handlers.h"
#include "protocol/http/read_terms.h"
#include "protocol/http/requests.h"
#include "protocol/http/row_bodies.h"
#include "protocol/http/row_commands.h"
#include "protocol/http/row_items.h"
#include "protocol/http/table_requests.h"
#include "protocol/http/tags.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kJsonType = "application/json";

// Which row is read, and what of it.
struct RowRead {
  TablePath path;
  std::vector<std::string> key_texts;
  std::optional<Projection> fields;
  Freshness freshness;
};

Result<KeyBuffer> KeyOf(const TableInfo& table, const RowRead& read) {
  KVARTS_TRY(const Bytes key, KeyDocument(table, read.key_texts));
  return RowKeyOf(table, DocumentView(key));
}

Result<Cost> WriteRowAnswer(Answer& answer, const Cost& cost, const TableInfo& table, const Record& record,
                            const std::optional<Projection>& fields) {
  KVARTS_TRY(const FoundRow row, ToFoundRow(record.header, record.value));
  ResponseWriter& head = answer.Begin(200, cost);
  head.ETag(Tag(record.header.version).text());
  head.ContentType(kJsonType);
  JsonWriter json(head.body(record.value.size() * 2 + 200));
  WriteRow(json, table, row, fields);
  answer.Finish();
  return cost;
}

// The answer to a read, or what makes it, if it is large.
Result<std::unique_ptr<SlowOp>> AnswerRead(const ReadTerms& terms, const RequestInfo& info, const Cost& cost,
                                           const TablePtr& table, BytesView key, std::optional<Record> record,
                                           const std::optional<Projection>& fields, Answer& answer) {
  if (!record) return NoSuchRow(*table, key);
  KVARTS_TRY(const bool matches, Matches(terms, record));
  if (!matches) {
    return Error(ErrorCode::kPreconditionFailed, "the condition does not hold",
                 {{"table", table->stored().name}, {"key", RowKeyText(*table, key)}, {"version", VersionText(record)}});
  }
  KVARTS_TRY(const bool unchanged, AnswerUnchanged(terms, info, cost, record->header.version, answer));
  if (unchanged) return nullptr;
  if (record->value.size() <= kLargeAnswer) {
    KVARTS_CHECK_OK(WriteRowAnswer(answer, cost, *table, *record, fields));
    return nullptr;
  }
  auto write = [table, record = *std::move(record), fields, cost](Answer& to, const std::stop_token&) {
    return WriteRowAnswer(to, cost, *table, record, fields);
  };
  return std::make_unique<WorkOp>(std::move(write), WorkerPool::Lane::kShort);
}

// A read on an engine that may have to wait for it: the loop goes on meanwhile.
class AwaitedRowRead final : public SlowOp {
 public:
  AwaitedRowRead(RowRead read, const ReadTerms& terms) : read_(std::move(read)), terms_(terms) {
    for (auto [text, kept] :
         {std::pair(&terms_.if_match, &if_match_), std::pair(&terms_.if_none_match, &if_none_match_)}) {
      if (!*text) continue;
      *kept = **text;
      *text = *kept;
    }
  }

  net::Task<Status> Run(Session& session, Answer& answer) override {
    TablePtr table = session.service.tables.Known(read_.path);
    if (table == nullptr) {
      auto find = [&] { return session.service.tables.Find(read_.path); };
      Result<TablePtr> found = co_await OnWorker(session.stream.loop(), session.service.workers, find,
                                                 session.Turn(WorkerPool::Lane::kShort));
      if (!found.has_value()) co_return std::move(found).error();
      table = *std::move(found);
    }
    const Result<KeyBuffer> key = KeyOf(*table, read_);
    if (!key.has_value()) co_return key.error();
    const BytesView wanted = *key;
    std::optional<Record> record;
    awaited_.keys = {&wanted, 1};
    awaited_.records = {&record, 1};
    awaited_.options = {.cost = &session.cost.read, .freshness = read_.freshness};
    co_await session.loop.reads->Await(awaited_);
    if (!awaited_.outcome.has_value()) co_return awaited_.outcome.error();
    Result<std::unique_ptr<SlowOp>> later =
        AnswerRead(terms_, session.info, session.cost, table, wanted, std::move(record), read_.fields, answer);
    if (!later.has_value()) co_return std::move(later).error();
    if (*later == nullptr) co_return Status();
    Status answered = co_await (*later)->Run(session, answer);
    co_return answered;
  }

 private:
  const RowRead read_;
  ReadTerms terms_;
  std::string if_match_;
  std::string if_none_match_;
  LoopReads::Read awaited_;
};

// A write of one row, answered with its key and version, and with the document before or after it if that was asked
// for.
class RowWrite final : public WriteOp {
 public:
  RowWrite(Tables& tables, TableCommand command, int status, bool minimal)
      : tables_(tables), command_(std::move(command)), status_(status), minimal_(minimal) {}

  Status Apply(Txn& txn) override {
    KVARTS_TRY(const TablePtr table, tables_.Use(txn, command_.table));
    return ApplyRow(txn, table, command_, &result_);
  }

  void Respond(Answer& answer, const RunReport& report) override {
    ResponseWriter& head = answer.Begin(minimal_ ? 204 : status_, report.cost);
    if (!std::holds_alternative<DeleteRow>(command_.command)) head.ETag(Tag(report.version).text());
    if (result_.past) answer.WarnOfExpiry();
    if (!minimal_) {
      head.ContentType(kJsonType);
      JsonWriter json(head.body(ResultBytes(result_) * 2 + 200));
      json.BeginObject();
      WriteRowResult(json, command_, result_);
      json.Field("version", Tag(report.version).text()).EndObject();
    }
    answer.Finish();
  }

  size_t AnswerBytes() const override { return minimal_ ? 0 : ResultBytes(result_); }

 private:
  Tables& tables_;
  const TableCommand command_;
  const int status_;
  const bool minimal_;
  RowResult result_;
};

// What every write of a row may say by its query.
struct WriteTerms {
  TableCommand::Return shows = TableCommand::Return::kNone;
  RowCondition condition;
  bool make = false;
};
Result<WriteTerms> WriteTermsOf(const Call& call, bool may_make = false) {
  WriteTerms terms;
  KVARTS_TRY(terms.condition.version, ConditionOf(call));
  if (call.head.query().empty()) return terms;
  QueryReader query(call.head.query());
  terms.shows = static_cast<TableCommand::Return>(query.Choice("return", {"none", "before", "after"}, 0));
  if (may_make) terms.make = query.Flag("make");
  const auto where = query.Get("where");
  KVARTS_CHECK_OK(query.Finish());
  KVARTS_TRY(terms.condition.where, ParseCondition("where", where));
  return terms;
}

// A command about a table that may be written to.
Result<TableCommand> BeginCommand(const Call& call) {
  TableCommand command;
  KVARTS_TRY(command.table, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kWrite, ScopePath(command.table)));
  return command;
}

Result<std::unique_ptr<WriteOp>> MakeWrite(Call& call, TableCommand command, int status) {
  if (command.Reads()) KVARTS_CHECK_OK(AuthorizeTables(call, Right::kRead, ScopePath(command.table)));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  call.CountTable(command.table);
  auto write = std::make_unique<RowWrite>(call.service.tables, std::move(command), status, WantsMinimal(call));
  write->options = std::move(options);
  return write;
}

Result<std::unique_ptr<WriteOp>> MakePut(Call& call, std::vector<std::string> key_texts) {
  KVARTS_TRY(TableCommand command, BeginCommand(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(WriteTerms terms, WriteTermsOf(call));
  KVARTS_TRY(Bytes row, ParseRow(call.body));
  const int status = terms.condition.version.kind == WriteCondition::Kind::kAbsent ? 201 : 200;
  command.key_texts = std::move(key_texts);
  command.shows = terms.shows;
  command.command = PutRow{std::move(row), std::move(terms.condition)};
  return MakeWrite(call, std::move(command), status);
}

// A change by a merge patch, or as {"update": …}, by the media type.
Result<PatchRow> ParsePatch(const Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(const MediaType type, MediaType::Parse(call.head.content_type()));
  if (!type.Is("application/merge-patch+json")) return ParseRowPatch(call.body);
  PatchRow patch;
  KVARTS_TRY(Bytes merge, ParseRow(call.body));
  patch.change = PatchRow::Merge{std::move(merge)};
  return patch;
}

}  // namespace

Status GetRow(Call& call) {
  RowRead read;
  KVARTS_TRY(read.path, TableOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kRead, ScopePath(read.path)));
  KVARTS_TRY(read.key_texts, KeyTextsOf(call));
  bool consistent = false;
  if (!call.head.query().empty()) {
    QueryReader query(call.head.query());
    consistent = query.Flag("consistent");
    const auto fields = query.Get("fields");
    KVARTS_CHECK_OK(query.Finish());
    KVARTS_TRY(read.fields, ParseFields(fields));
  }
  KVARTS_TRY(read.freshness, FreshnessOf(call, consistent));
  const ReadTerms terms(call.head);
  Engine& engine = call.service.engine();
  if (engine.capabilities().reads_may_wait) {
    call.CountTable(read.path);
    call.later = std::make_unique<AwaitedRowRead>(std::move(read), terms);
    return {};
  }
  KVARTS_TRY(const TablePtr table, call.service.tables.Find(read.path));
  call.CountTable(read.path);
  KVARTS_TRY(const KeyBuffer key, KeyOf(*table, read));
  const BytesView wanted = key;
  std::optional<Record> record;
  KVARTS_CHECK_OK(engine.Get({&wanted, 1}, {&record, 1}, {.cost = &call.cost.read, .freshness = read.freshness}));
  KVARTS_TRY(call.later,
             AnswerRead(terms, call.info, call.cost, table, wanted, std::move(record), read.fields, call.answer));
  return {};
}

Result<std::unique_ptr<WriteOp>> PutRowAt(Call& call) {
  KVARTS_TRY(std::vector<std::string> key_texts, KeyTextsOf(call));
  return MakePut(call, std::move(key_texts));
}

Result<std::unique_ptr<WriteOp>> PostRow(Call& call) { return MakePut(call, {}); }

Result<std::unique_ptr<WriteOp>> DeleteRowAt(Call& call) {
  KVARTS_TRY(TableCommand command, BeginCommand(call));
  KVARTS_TRY(command.key_texts, KeyTextsOf(call));
  KVARTS_TRY(WriteTerms terms, WriteTermsOf(call));
  command.shows = terms.shows;
  command.command = DeleteRow{{}, std::move(terms.condition)};
  return MakeWrite(call, std::move(command), 200);
}

Result<std::unique_ptr<WriteOp>> PatchRowAt(Call& call) {
  KVARTS_TRY(TableCommand command, BeginCommand(call));
  KVARTS_TRY(command.key_texts, KeyTextsOf(call));
  KVARTS_TRY(WriteTerms terms, WriteTermsOf(call, true));
  KVARTS_TRY(PatchRow patch, ParsePatch(call));
  patch.condition = std::move(terms.condition);
  patch.make = terms.make;
  command.shows = terms.shows;
  command.command = std::move(patch);
  return MakeWrite(call, std::move(command), 200);
}

}  // namespace kvarts::http
