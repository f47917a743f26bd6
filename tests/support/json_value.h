// A JSON text as a value that tests can look into. Numbers stay as they were written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::test {

class JsonValue {
 public:
  // Throws when it is not one well-formed value.
  static JsonValue Parse(std::string_view text);

  // A field or an element; null when there is none.
  const JsonValue& operator[](std::string_view name) const;
  const JsonValue& operator[](const char* name) const { return (*this)[std::string_view(name)]; }
  const JsonValue& at(size_t index) const;
  bool Has(std::string_view name) const { return fields_.contains(std::string(name)); }
  size_t size() const { return elements_.size() + fields_.size(); }
  const std::vector<JsonValue>& elements() const { return elements_; }
  const std::map<std::string, JsonValue>& fields() const { return fields_; }

  bool is_null() const { return raw_ == "null"; }
  // Of a text, what it says; of anything else, what was written.
  const std::string& text() const { return text_; }
  // What was written.
  const std::string& raw() const { return raw_; }
  // Also of a text of digits, as versions are.
  int64_t number() const { return std::stoll(text_); }
  bool is_true() const { return raw_ == "true"; }

 private:
  std::string raw_ = "null";
  std::string text_ = "null";
  std::vector<JsonValue> elements_;
  std::map<std::string, JsonValue> fields_;
};

}  // namespace kvarts::test
