#include "cli/query_values.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/utf8.h"
#include "encoding/document_json.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

Result<std::vector<QueryField>> FieldsIn(const JsonObject& declared, std::string_view place, std::string_view name) {
  KVARTS_TRY(const std::vector<JsonObject> objects, declared.Objects(place));
  std::vector<QueryField> fields;
  for (const JsonObject& object : objects) fields.push_back({object.Text(name), ParseKeyType(object.Text("type"))});
  return fields;
}

Result<QueryFields> KeyFields(const JsonObject& table) {
  KVARTS_TRY(const JsonObject key, JsonObject::Parse(table.Text("key")));
  QueryFields fields;
  KVARTS_TRY(fields.partition, FieldsIn(key, "partition", "name"));
  KVARTS_TRY(fields.sort, FieldsIn(key, "sort", "name"));
  return fields;
}

// A field of the key has its type in an index as well.
void TakeTypes(const QueryFields& key, std::vector<QueryField>* fields) {
  for (QueryField& field : *fields) {
    for (const auto* const declared : {&key.partition, &key.sort}) {
      const auto found = std::ranges::find(*declared, field.name, &QueryField::name);
      if (!field.type && found != declared->end()) field.type = found->type;
    }
  }
}

Error OfAnotherType(const QueryField& field, std::string_view expected, const std::string& text) {
  return Error(ErrorCode::kInvalidArgument, "a value is of another type",
               {{"field", Harmless(field.name)}, {"expected", std::string(expected)}, {"is", Harmless(text)}});
}

std::string JsonText(std::string_view text) {
  std::string out;
  AppendJsonText(&out, text);
  return out;
}

// What a text is where any type may be.
std::string AnyValue(const std::string& text) {
  JsonReader json{std::string_view(text)};
  const JsonKind kind = json.Peek();
  json.Skip();
  const bool is_json = json.Finish().has_value() && kind != JsonKind::kArray && kind != JsonKind::kObject;
  return is_json ? text : JsonText(text);
}

}  // namespace

Result<QueryFields> QueryFields::Of(const JsonObject& table, const std::string& index) {
  KVARTS_TRY(const QueryFields key, KeyFields(table));
  if (index.empty()) return key;
  KVARTS_TRY(const std::vector<JsonObject> indexes, table.Objects("indexes"));
  const auto found = std::ranges::find_if(indexes, [&](const JsonObject& is) { return is.Text("name") == index; });
  if (found == indexes.end()) {
    return Error(ErrorCode::kNotFound, "there is no such index",
                 {{"table", Harmless(table.Text("name"))}, {"index", Harmless(index)}});
  }
  QueryFields fields;
  KVARTS_TRY(fields.partition, FieldsIn(*found, "partition", "path"));
  KVARTS_TRY(fields.sort, FieldsIn(*found, "sort", "path"));
  // A local index lies in the partitions of the table.
  if (found->Is("local")) fields.partition = key.partition;
  TakeTypes(key, &fields.partition);
  TakeTypes(key, &fields.sort);
  return fields;
}

Result<std::string> QueryFields::ValueJson(const QueryField& field, const std::string& text) {
  if (!IsUtf8(text)) return OfAnotherType(field, "UTF-8", text);
  if (!field.type) return AnyValue(text);
  Bytes document;
  DocumentWriter writer(&document);
  if (!WriteKeyText(*field.type, text, &writer)) return OfAnotherType(field, Expected(*field.type), text);
  return DocumentToJson(DocumentView(document));
}

Result<std::string> QueryFields::PartitionJson(const std::vector<std::string>& words) const {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto field = std::ranges::find(partition, name, &QueryField::name);
    if (equals == std::string::npos || field == partition.end()) {
      std::vector<std::string_view> names;
      for (const QueryField& known : partition) names.push_back(known.name);
      return Error(ErrorCode::kInvalidArgument, "the partition has no such field; it is given as NAME=VALUE",
                   {{"word", Harmless(word)}, {"nearest", Harmless(Nearest(name, names))}});
    }
    KVARTS_TRY(const std::string value, ValueJson(*field, word.substr(equals + 1)));
    json.Name(name).Raw(value);
  }
  json.EndObject();
  return out;
}

Result<QueryField> QueryFields::SortAt(size_t place) const {
  if (place < sort.size()) return sort[place];
  return Error(ErrorCode::kInvalidArgument, "there are more values than sort fields",
               {{"sort_fields", std::to_string(sort.size())}});
}

}  // namespace kvarts::cli
