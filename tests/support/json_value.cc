#include "support/json_value.h"

#include <stdexcept>

#include "encoding/json_reader.h"

namespace kvarts::test {

JsonValue JsonValue::Parse(std::string_view text) {
  JsonReader json(text, {.max_depth = JsonReader::kDeepest});
  JsonValue value;
  value.raw_ = value.text_ = json.Raw();
  if (!json.Finish().has_value()) throw std::runtime_error("not JSON: " + std::string(text));
  JsonReader again(text, {.max_depth = JsonReader::kDeepest});
  switch (again.Peek()) {
    case JsonKind::kObject:
      again.Object([&](std::string_view name) { value.fields_.emplace(name, Parse(again.Raw())); });
      break;
    case JsonKind::kArray:
      again.Array([&] { value.elements_.push_back(Parse(again.Raw())); });
      break;
    case JsonKind::kText:
      value.text_ = again.Text();
      break;
    default:
      again.Skip();
  }
  if (!again.Finish().has_value()) throw std::runtime_error("not JSON: " + std::string(text));
  return value;
}

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue kNull;
  const auto found = fields_.find(std::string(name));
  return found == fields_.end() ? kNull : found->second;
}

const JsonValue& JsonValue::at(size_t index) const {
  static const JsonValue kNull;
  return index < elements_.size() ? elements_[index] : kNull;
}

}  // namespace kvarts::test
