#include "protocol/http/row_commands.h"

#include "encoding/document_json.h"
#include "encoding/document_writer.h"
#include "protocol/http/row_items.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

const RowCondition& ConditionOf(const RowCommand& command) {
  return std::visit([](const auto& one) -> const RowCondition& { return one.condition; }, command);
}

Error KeysDiffer(const std::string& field) {
  return Error(ErrorCode::kInvalidArgument, "the row has another key than the path", {{"field", field}});
}

// A row with those fields of its key that it lacks; nothing when it lacks none. Those that it has must agree.
Result<std::optional<Bytes>> Completed(const TableInfo& table, const DocumentView& row, const DocumentView& key) {
  if (row.kind() != DocumentKind::kMap) return Error(ErrorCode::kInvalidArgument, "a row is an object");
  std::vector<const std::string*> missing;
  const std::string* differs = nullptr;
  for (size_t i = 0; i < table.key().size(); ++i) {
    const std::string& name = table.key()[i].name;
    const std::optional<DocumentView> has = row.Find(name);
    if (!has) {
      missing.push_back(&name);
    } else if (*has != *key.Find(name)) {
      differs = &name;
    }
  }
  std::optional<Bytes> completed;
  if (!missing.empty()) {
    DocumentWriter writer(&completed.emplace());
    writer.BeginMap();
    row.ForEachField([&](std::string_view name, const DocumentView& value) { writer.Name(name).Copy(value); });
    for (const std::string* name : missing) writer.Name(*name).Copy(*key.Find(*name));
    writer.EndMap();
  }
  // There are several ways to write the same time or UUID.
  if (differs != nullptr) {
    KVARTS_TRY(const KeyBuffer of_row, RowKey(table, completed ? DocumentView(*completed) : row));
    KVARTS_TRY(const KeyBuffer of_path, RowKeyOf(table, key));
    if (of_row.view() != of_path.view()) return KeysDiffer(*differs);
  }
  return completed;
}

// Carries out a command whose key came as texts.
struct ApplyAt {
  RowWriter& writer;
  const TableInfo& table;
  const Bytes& key;
  RowOutcome* outcome;

  Status operator()(const PutRow& put) const {
    KVARTS_TRY(std::optional<Bytes> completed, Completed(table, DocumentView(put.row), DocumentView(key)));
    if (!completed) return writer.Put(put, outcome);
    return writer.Put({*std::move(completed), put.condition}, outcome);
  }
  Status operator()(const DeleteRow& command) const {
    return writer.Delete({key, command.condition, command.missing_ok}, outcome);
  }
  Status operator()(const PatchRow& patch) const {
    return writer.Patch({key, patch.change, patch.condition, patch.make}, outcome);
  }
};

// A document that has the fields of the key.
DocumentView KeyedBy(const TableCommand& command, const RowResult& result) {
  if (!result.key.empty()) return DocumentView(result.key);
  if (const auto* put = std::get_if<PutRow>(&command.command)) return DocumentView(put->row);
  if (const auto* erase = std::get_if<DeleteRow>(&command.command)) return DocumentView(erase->key);
  return DocumentView(std::get<PatchRow>(command.command).key);
}

void WriteShown(JsonWriter& json, std::string_view name, const std::optional<Bytes>& document) {
  json.Name(name);
  if (document) {
    WriteDocument(DocumentView(*document), &json);
  } else {
    json.Null();
  }
}

}  // namespace

bool TableCommand::Reads() const { return shows != Return::kNone || ConditionOf(command).where.has_value(); }

Result<TablePtr> UsedTables::Use(const TablePath& path) {
  TablePtr& table = known_[ScopePath(path)];
  if (table == nullptr) {
    KVARTS_TRY(table, tables_.Use(txn_, path));
  }
  return table;
}

Status ApplyRow(Txn& txn, const TablePtr& table, const TableCommand& command, RowResult* result) {
  *result = {};
  result->table = table;
  RowWriter writer(txn, *table);
  RowOutcome* const outcome = command.shows == TableCommand::Return::kNone ? nullptr : &result->outcome;
  if (command.key_texts.empty()) {
    KVARTS_CHECK_OK(writer.Apply(command.command, outcome));
  } else {
    KVARTS_TRY(result->key, KeyDocument(*table, command.key_texts));
    KVARTS_CHECK_OK(std::visit(ApplyAt{writer, *table, result->key, outcome}, command.command));
  }
  result->past = writer.wrote_past();
  return {};
}

void WriteRowResult(JsonWriter& json, const TableCommand& command, const RowResult& result) {
  json.Name("key");
  WriteRowKey(json, *result.table, KeyedBy(command, result));
  switch (command.shows) {
    case TableCommand::Return::kNone:
      return;
    case TableCommand::Return::kBefore:
      return WriteShown(json, "before", result.outcome.before);
    case TableCommand::Return::kAfter:
      WriteShown(json, "after", result.outcome.after);
      return WriteExpiry(json, result.outcome.expiry);
  }
}

size_t ResultBytes(const RowResult& result) {
  const auto size = [](const std::optional<Bytes>& document) { return document ? document->size() : 0; };
  return size(result.outcome.before) + size(result.outcome.after);
}

}  // namespace kvarts::http
