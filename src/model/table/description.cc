#include "model/table/description.h"

namespace kvarts {
namespace {

// When a UUID of version 7 was made; nothing of one that is reserved.
std::optional<Timestamp> MadeAt(const Uuid& id) {
  if (id.bytes[6] >> 4 != 7) return std::nullopt;
  uint64_t millis = 0;
  for (size_t i = 0; i < 6; ++i) millis = millis << 8 | id.bytes[i];
  return Timestamp{millis * 1000};
}

}  // namespace

void WriteIdentity(JsonWriter& json, std::string_view name, const Uuid& id) {
  json.BytesField("name", name).Field("id", id.ToString()).Name("created");
  if (const auto made = MadeAt(id)) {
    json.Text(made->ToString());
  } else {
    json.Null();
  }
}

void WriteIndexDescription(JsonWriter& json, const TableIndex& index) {
  WriteIndexSpec(index.spec, &json);
  json.Field("state", IndexStateName(index.state)).Name("job");
  if (index.job) {
    json.Text(index.job->ToString());
  } else {
    json.Null();
  }
}

void WriteIndexes(JsonWriter& json, const TableInfo& table) {
  json.Name("indexes").BeginArray();
  for (const TableIndex& index : table.indexes()) {
    json.BeginObject();
    WriteIndexDescription(json, index);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTableDescription(JsonWriter& json, const TablePath& path, const TableInfo& table) {
  const TableInfo::Stored& stored = table.stored();
  json.BytesField("project", path.project).BytesField("dataset", path.dataset);
  WriteIdentity(json, stored.name, stored.id.uuid);
  json.Field("number", stored.number.value);
  WriteTableSpec(stored.spec, &json);
  json.Field("schemaVersion", stored.schema_version);
  WriteIndexes(json, table);
}

bool ReadTableChange(JsonReader& json, std::string_view name, Tables::TableChange* change) {
  if (name == "ttl") {
    change->ttl.emplace();
    if (!json.TakeNull()) *change->ttl = ReadTtlSpec(json);
  } else if (name == "retention") {
    if (json.TakeNull()) {
      change->retention.emplace();
    } else {
      change->retention_parts = ReadRetentionChange(json);
    }
  } else if (name == "schema") {
    change->schema.emplace();
    if (!json.TakeNull()) *change->schema = ReadTableSchema(json);
  } else {
    return false;
  }
  return true;
}

}  // namespace kvarts
