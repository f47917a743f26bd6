#include "cli/import_line.h"

#include <cmath>

#include "base/base64.h"
#include "cli/key_words.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr double kMaxTtlSeconds = 1e11;

// What a line may say, the values as they are written.
struct Fields {
  std::string_view key_name;
  std::string_view key;
  Bytes key_bytes;
  std::string_view value_name;
  std::string_view value;
  std::string_view envelope;
  std::string_view type;
  bool counter = false;
  bool for_ever = false;
  bool versioned = false;
  std::optional<Duration> ttl;
  std::optional<Timestamp> expiry;
  bool end = false;
  uint64_t count = 0;
};

// A text or base64, as it is written; what it is as bytes is returned. The names of the two forms exclude each other.
Bytes ReadBytes(JsonReader& json, std::string_view name, std::string_view* kept_name, std::string_view* raw) {
  json.Require(kept_name->empty(), "a line has both a text and its base64");
  const bool encoded = name.ends_with("_base64");
  const bool text = json.Peek() == JsonKind::kText;
  json.Require(text || name == "value", "a text is expected");
  *kept_name = encoded ? (name.starts_with("key") ? "key_base64" : "value_base64") : (name == "key" ? "key" : "value");
  *raw = json.Raw();
  if (!text) return Bytes(*raw);
  JsonReader inner(*raw);
  Bytes bytes = encoded ? inner.Base64() : Bytes(inner.Text());
  json.Require(inner.Finish().has_value(), "this is no base64");
  return bytes;
}

void ReadExpiry(JsonReader& json, Fields* fields) {
  fields->for_ever = json.TakeNull();
  if (fields->for_ever) return;
  fields->expiry = Timestamp::Parse(json.Text());
  json.Require(fields->expiry.has_value(), "an expiry is a time such as 2026-07-05T10:15:30.000000Z");
}

void ReadTtl(JsonReader& json, Fields* fields) {
  fields->for_ever = json.TakeNull();
  if (fields->for_ever) return;
  const double seconds = json.Double();
  const bool good = seconds > 0 && seconds <= kMaxTtlSeconds && std::llround(seconds * 1e6) > 0;
  json.Require(good, "a ttl is a number of seconds above zero");
  if (good) fields->ttl = Duration::Micros(std::llround(seconds * 1e6));
}

void ReadField(JsonReader& json, std::string_view name, Fields* fields) {
  if (name == "key" || name == "key_base64") {
    fields->key_bytes = ReadBytes(json, name, &fields->key_name, &fields->key);
  } else if (name == "value" || name == "value_base64") {
    ReadBytes(json, name, &fields->value_name, &fields->value);
  } else if (name == "envelope") {
    json.Require(json.Peek() == JsonKind::kObject, "an envelope is an object");
    fields->envelope = json.Raw();
  } else if (name == "type") {
    json.Require(json.Peek() == JsonKind::kText, "a type is a text");
    fields->type = json.Raw();
  } else if (name == "counter") {
    fields->counter = json.Bool();
  } else if (name == "ttl") {
    ReadTtl(json, fields);
  } else if (name == "expiry") {
    ReadExpiry(json, fields);
  } else if (name == "end") {
    fields->end = json.Bool();
  } else if (name == "count") {
    fields->count = json.Uint();
  } else if (name == "version") {
    fields->versioned = true;
    json.Skip();
  } else if (name == "cursor" || name == "cost" || name == "marks") {
    json.Skip();
  } else {
    json.Unknown(name);
  }
}

// Whatever makes the value what it is, as it is written.
std::string MutationOf(const Fields& fields, std::optional<Duration> ttl) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field("op", "put").Name(fields.key_name).Raw(fields.key);
  json.Name(fields.value_name).Raw(fields.value);
  if (fields.counter) json.Field("counter", true);
  if (!fields.type.empty()) json.Name("type").Raw(fields.type);
  if (ttl) json.Name("ttl").Raw(Seconds(static_cast<uint64_t>(ttl->micros)));
  if (!ttl && fields.for_ever) json.Name("ttl").Null();
  if (!fields.envelope.empty()) json.Name("envelope").Raw(fields.envelope);
  json.EndObject();
  return out;
}

}  // namespace

Result<ImportLine> ParseImportLine(std::string_view line, Timestamp now) {
  ImportLine parsed;
  if (line.find_first_not_of(" \t\r") == line.npos) return parsed;
  JsonReader json(line);
  Fields fields;
  json.Object([&](std::string_view name) { ReadField(json, name, &fields); });
  KVARTS_CHECK_OK(json.Finish());
  if (fields.end) {
    parsed.kind = ImportLine::Kind::kEnd;
    parsed.count = fields.count;
    return parsed;
  }
  if (fields.key_bytes.empty()) return Error(ErrorCode::kInvalidArgument, "a key is missing");
  if (fields.value_name.empty()) return Error(ErrorCode::kInvalidArgument, "a value is missing");
  parsed.exported = fields.versioned;
  std::optional<Duration> ttl = fields.ttl;
  if (!ttl && fields.expiry) {
    if (*fields.expiry <= now) {
      parsed.kind = ImportLine::Kind::kExpired;
      return parsed;
    }
    ttl = Duration::Micros(static_cast<int64_t>(fields.expiry->micros - now.micros));
  }
  parsed.kind = ImportLine::Kind::kItem;
  parsed.mutation = MutationOf(fields, ttl);
  return parsed;
}

}  // namespace kvarts::cli
