#include "protocol/http/row_items.h"

#include "encoding/document_json.h"
#include "protocol/http/tags.h"

namespace kvarts::http {

void WriteRowKey(JsonWriter& json, const TableInfo& table, const DocumentView& row) {
  json.BeginObject();
  for (size_t i = 0; i < table.key().size(); ++i) {
    const std::string& name = table.key()[i].name;
    const std::optional<DocumentView> value = row.Find(name);
    if (!value) continue;
    json.Name(name);
    WriteDocument(*value, &json);
  }
  json.EndObject();
}

void WriteExpiry(JsonWriter& json, Timestamp expiry) {
  json.Name("expiry");
  if (expiry == kNever) {
    json.Null();
  } else {
    json.Text(expiry.ToString());
  }
}

void WriteRow(JsonWriter& json, const TableInfo& table, const FoundRow& row,
              const std::optional<Projection>& projection) {
  const DocumentView document(row.document);
  json.BeginObject().Name("key");
  WriteRowKey(json, table, document);
  json.Name("value");
  if (projection) {
    const Bytes some = projection->Apply(document);
    WriteDocument(DocumentView(some), &json);
  } else {
    WriteDocument(document, &json);
  }
  json.Field("version", Tag(row.version).text()).Field("updatedAt", row.version.time().ToString());
  if (!row.envelope.actor.empty()) json.BytesField("updatedBy", row.envelope.actor);
  if (!row.envelope.trace.empty()) json.BytesField("trace", row.envelope.trace);
  if (!row.envelope.payload.empty()) json.Field("schemaVersion", row.envelope.schema);
  WriteExpiry(json, row.expiry);
  json.EndObject();
}

}  // namespace kvarts::http
