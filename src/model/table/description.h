// What the catalog has, as JSON: the same for every door to it.
#pragma once

#include <string_view>

#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "model/table/tables.h"

namespace kvarts {

// Each writes members of an object that is open.

// Those that a project, a dataset and a table have in common: "name", "id", and "created", which an id tells.
void WriteIdentity(JsonWriter& json, std::string_view name, const Uuid& id);
void WriteTableDescription(JsonWriter& json, const TablePath& path, const TableInfo& table);
// "indexes": […].
void WriteIndexes(JsonWriter& json, const TableInfo& table);
// Of one of them, without what its job knows.
void WriteIndexDescription(JsonWriter& json, const TableIndex& index);

// Takes a member of an object that changes a table: "ttl", "retention" or "schema", null for none. False when it is
// none.
bool ReadTableChange(JsonReader& json, std::string_view name, Tables::TableChange* change);

}  // namespace kvarts
