#include "cli/json_object.h"

#include <algorithm>

#include "base/base64.h"
#include "base/shown.h"
#include "base/units.h"

namespace kvarts::cli {
namespace {

constexpr const char* kStrange = "the answer is not what a Kvarts server says";

Error Strange(const Error& why) {
  return Error(ErrorCode::kUnavailable, kStrange, {{"cause", std::string(why.text())}});
}

}  // namespace

Result<JsonObject> JsonObject::Parse(std::string_view text) {
  JsonReader json(text);
  JsonObject object;
  json.Object([&](std::string_view name) {
    const JsonKind kind = json.Peek();
    const std::string_view value = kind == JsonKind::kText ? json.Text() : json.Raw();
    object.fields_.push_back({std::string(name), kind, std::string(value)});
  });
  const Status finished = json.Finish();
  if (!finished.has_value()) return Strange(finished.error());
  return object;
}

const JsonField* JsonObject::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &JsonField::name);
  return found == fields_.end() ? nullptr : &*found;
}

std::string JsonObject::Text(std::string_view name) const {
  const JsonField* field = Find(name);
  return field == nullptr || field->kind == JsonKind::kNull ? std::string() : field->text;
}

std::optional<uint64_t> JsonObject::Uint(std::string_view name) const {
  const Result<uint64_t> number = ParseCount(Text(name));
  return number.has_value() ? std::optional(*number) : std::nullopt;
}

std::optional<Bytes> JsonObject::BytesOf(std::string_view name) const {
  if (const JsonField* field = Find(name); field != nullptr) {
    return field->kind == JsonKind::kNull ? std::nullopt : std::optional(field->text);
  }
  const JsonField* encoded = Find(std::string(name) + "_base64");
  if (encoded == nullptr || encoded->kind != JsonKind::kText) return std::nullopt;
  const Result<Bytes> bytes = FromBase64(encoded->text);
  return bytes.has_value() ? std::optional(*bytes) : std::nullopt;
}

Result<std::vector<std::string>> JsonObject::Elements(std::string_view name) const {
  std::vector<std::string> elements;
  const JsonField* field = Find(name);
  if (field == nullptr) return Error(ErrorCode::kUnavailable, kStrange, {{"missing", std::string(name)}});
  JsonReader json(std::string_view(field->text));
  json.Array([&] { elements.emplace_back(json.Raw()); });
  const Status finished = json.Finish();
  if (!finished.has_value()) return Strange(finished.error());
  return elements;
}

Result<std::vector<JsonObject>> JsonObject::Objects(std::string_view name) const {
  KVARTS_TRY(const std::vector<std::string> elements, Elements(name));
  std::vector<JsonObject> objects;
  for (const std::string& element : elements) {
    KVARTS_TRY(JsonObject object, Parse(element));
    objects.push_back(std::move(object));
  }
  return objects;
}

std::string Harmless(std::string_view text) {
  const std::string shown = Shown(text);
  std::string out;
  for (size_t i = 0; i < shown.size(); ++i) {
    out.push_back(shown[i]);
    if (shown[i] == '\\' && i + 1 < shown.size() && shown[i + 1] == '\\') ++i;
  }
  return out;
}

}  // namespace kvarts::cli
