#include "protocol/http/items.h"

#include <algorithm>

#include "base/digits.h"
#include "core/envelope.h"
#include "core/user_keys.h"
#include "encoding/json_reader.h"
#include "protocol/http/tags.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kOctets = "application/octet-stream";
constexpr std::string_view kJsonType = "application/json";

bool IsJson(BytesView text) {
  JsonReader json(text);
  json.Skip();
  return json.Finish().has_value();
}

void WriteEnvelope(JsonWriter& json, const Envelope& envelope) {
  json.Name("envelope").BeginObject().Field("schemaVersion", envelope.schema);
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) json.BytesField(name, value);
  };
  text("entityType", envelope.type);
  text("tenantId", envelope.tenant);
  text("updatedBy", envelope.actor);
  text("traceId", envelope.trace);
  text("commandId", envelope.command);
  json.EndObject();
}

// What went wrong with an add, which cannot fail.
void WriteMarks(JsonWriter& json, CounterMarks marks) {
  json.Name("marks").BeginArray();
  if (marks.misapplied) json.Text("misapplied");
  if (marks.saturated) json.Text("saturated");
  json.EndArray();
}

void WriteItemEnd(JsonWriter& json, const ValueHeader& header) {
  json.Field("version", Tag(header.version).text());
  if (header.expiry == kNever) {
    json.Name("expiry").Null();
  } else {
    json.Field("expiry", header.expiry.ToString());
  }
  if (header.marks != CounterMarks()) WriteMarks(json, header.marks);
}

// An item of which nothing needs an escape and which neither expires nor is marked, as most are: in one growth of the
// output, since pages are made of thousands. False when it is none such. Without a value, as WriteItemHead.
bool WritePlainItem(JsonWriter& json, BytesView key, const ValueHeader& header, const BytesView* value) {
  constexpr std::string_view kKey = R"({"key":")";
  constexpr std::string_view kText = R"(","value":")";
  constexpr std::string_view kRaw = R"(","value":)";
  constexpr std::string_view kVersion = R"("version":")";
  constexpr std::string_view kEnd = R"(","expiry":null})";
  if (header.expiry != kNever || header.marks != CounterMarks() || !IsPlainJsonText(key)) return false;
  const bool text = header.kind == ValueKind::kBytes;
  if (value != nullptr && !(text ? IsPlainJsonText(*value) : header.kind == ValueKind::kJson)) return false;
  const size_t at_most = kKey.size() + key.size() + kText.size() + (value == nullptr ? 0 : value->size()) + 2 +
                         kVersion.size() + kDigitsRoom + kEnd.size();
  json.Written(at_most, [&](char* to) {
    const auto put = [&](std::string_view bytes) { to = std::copy(bytes.begin(), bytes.end(), to); };
    put(kKey);
    put(key);
    if (value != nullptr) {
      put(text ? kText : kRaw);
      put(*value);
    }
    if (text || value == nullptr) *to++ = '"';
    *to++ = ',';
    put(kVersion);
    to = WriteDigits(to, header.version.stamp);
    put(kEnd);
    return to;
  });
  return true;
}

}  // namespace

void WriteValue(JsonWriter& json, const ValueHeader& header, BytesView value) {
  switch (header.kind) {
    case ValueKind::kBytes:
    case ValueKind::kStructure:
      json.BytesField("value", value);
      return;
    case ValueKind::kJson:
      json.Name("value").Raw(value);
      return;
    case ValueKind::kCounter:
      json.Field("value", CounterNumber(header, value)).Field("counter", true);
      return;
    case ValueKind::kTyped: {
      const Result<TypedValue> typed = TypedValue::Decode(value);
      if (!typed.has_value()) break;
      json.BytesField("value", typed->bytes).BytesField("type", typed->type);
      return;
    }
    case ValueKind::kEnvelope: {
      const Result<Envelope> envelope = Envelope::Decode(value);
      if (!envelope.has_value()) break;
      if (IsJson(envelope->payload)) {
        json.Name("value").Raw(envelope->payload);
      } else {
        json.BytesField("value", envelope->payload);
      }
      WriteEnvelope(json, *envelope);
      return;
    }
  }
  json.BytesField("value", value);
}

void WriteItem(JsonWriter& json, BytesView key, const ValueHeader& header, BytesView value) {
  if (WritePlainItem(json, key, header, &value)) return;
  json.BeginObject().BytesField("key", key);
  WriteValue(json, header, value);
  WriteItemEnd(json, header);
  json.EndObject();
}

void WriteItemHead(JsonWriter& json, BytesView key, const ValueHeader& header) {
  if (WritePlainItem(json, key, header, nullptr)) return;
  json.BeginObject().BytesField("key", key);
  WriteItemEnd(json, header);
  json.EndObject();
}

std::string_view RawType(const ValueHeader& header, BytesView value) {
  if (header.kind == ValueKind::kBytes) return kOctets;
  if (header.kind != ValueKind::kTyped) return kJsonType;
  const Result<TypedValue> typed = TypedValue::Decode(value);
  return typed.has_value() ? typed->type : kOctets;
}

void MakeRaw(const ValueHeader& header, BytesView value, RawValue* raw) {
  raw->bytes = value;
  raw->type = RawType(header, value);
  switch (header.kind) {
    case ValueKind::kBytes:
    case ValueKind::kJson:
    case ValueKind::kStructure:
      return;
    case ValueKind::kCounter:
      raw->number = std::to_string(CounterNumber(header, value));
      raw->bytes = raw->number;
      return;
    case ValueKind::kTyped:
      if (const Result<TypedValue> typed = TypedValue::Decode(value); typed.has_value()) raw->bytes = typed->bytes;
      return;
    case ValueKind::kEnvelope:
      if (Result<Envelope> envelope = Envelope::Decode(value); envelope.has_value()) {
        raw->number = std::move(envelope->payload);
        raw->bytes = raw->number;
      } else {
        raw->type = kOctets;
      }
      return;
  }
}

}  // namespace kvarts::http
