// Writes JSON, one value after the other. The caller keeps objects and arrays balanced; commas and escapes are the
// writer's concern. Text that is not UTF-8 must not be handed in.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvarts::cli {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  // The name of the value that comes next.
  JsonWriter& Name(std::string_view name);

  JsonWriter& Text(std::string_view text);
  JsonWriter& Number(uint64_t number);
  JsonWriter& Number(double number);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();

  template <class Value>
  JsonWriter& Field(std::string_view name, const Value& value) {
    Name(name);
    if constexpr (std::same_as<Value, bool>) {
      return Bool(value);
    } else if constexpr (std::floating_point<Value>) {
      return Number(double{value});
    } else if constexpr (std::integral<Value>) {
      return Number(static_cast<uint64_t>(value));
    } else {
      return Text(value);
    }
  }

  const std::string& str() const { return out_; }

 private:
  void Separate();
  void AppendQuoted(std::string_view text);
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);

  std::string out_;
  bool need_comma_ = false;
};

}  // namespace kvarts::cli
