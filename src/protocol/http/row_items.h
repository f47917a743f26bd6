// Rows as answers show them.
#pragma once

#include <optional>

#include "document/projection.h"
#include "encoding/json_writer.h"
#include "model/table/query.h"
#include "model/table/table_info.h"

namespace kvarts::http {

// {"key": {…}, "value": {…}, "version": "…", "updatedAt": "…", "updatedBy": "…", "trace": "…", "schemaVersion": 1,
// "expiry": …}. Who wrote it and in which trace is there if it is known; of what an index alone has answered neither
// is, nor the schema's version. The value is all of the row, or the fields that were asked for.
void WriteRow(JsonWriter& json, const TableInfo& table, const FoundRow& row,
              const std::optional<Projection>& projection);
// The fields of the key of a map that has at least these.
void WriteRowKey(JsonWriter& json, const TableInfo& table, const DocumentView& row);
// A time, or null for never.
void WriteExpiry(JsonWriter& json, Timestamp expiry);

}  // namespace kvarts::http
