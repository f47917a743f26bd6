// Writes JSON (RFC 8259) behind whatever its output already holds, so that an answer is made where it will be sent
// from:
//
//   JsonWriter json(&out);
//   json.BeginObject().BytesField("key", key).Field("ttl",
//   60).Name("tags").BeginArray().Text("a").EndArray().EndObject();
//
// The caller keeps objects and arrays balanced and names unique; commas and escapes are the writer's concern. Text must
// be UTF-8: bytes of which nobody knows go through BytesField. There is no insignificant whitespace, and nothing is
// allocated but the output.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace kvarts {

// In quotes and escaped. Controls, which include DEL, become \u00XX; all other characters stand for themselves.
void AppendJsonText(Bytes* to, std::string_view text);
// Whether it is ASCII that stands in quotes as it is.
bool IsPlainJsonText(BytesView bytes);

class JsonWriter {
 public:
  explicit JsonWriter(Bytes* out) : out_(*out) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  // The name of the value that comes next.
  JsonWriter& Name(std::string_view name);

  JsonWriter& Text(std::string_view text);
  JsonWriter& Number(int64_t number);
  JsonWriter& Number(uint64_t number);
  // As few digits as read back as the same number; null when it is not finite, which JSON cannot say.
  JsonWriter& Number(double number);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is JSON already, or the digits of a number.
  JsonWriter& Raw(std::string_view json);
  // A value of at most so many bytes that the caller writes itself: `write` is told where to and returns its end. For
  // what is written so often that its shape is worth writing at once.
  template <class Write>
  JsonWriter& Written(size_t at_most, Write write) {
    Separate();
    const size_t start = out_.size();
    out_.resize_and_overwrite(start + at_most,
                              [&](char* all, size_t) { return static_cast<size_t>(write(all + start) - all); });
    return *this;
  }

  template <class Value>
  JsonWriter& Field(std::string_view name, const Value& value) {
    Name(name);
    if constexpr (std::same_as<Value, bool>) {
      return Bool(value);
    } else if constexpr (std::floating_point<Value>) {
      return Number(double{value});
    } else if constexpr (std::signed_integral<Value>) {
      return Number(int64_t{value});
    } else if constexpr (std::unsigned_integral<Value>) {
      return Number(uint64_t{value});
    } else {
      return Text(value);
    }
  }

  // Any bytes: "name":"text" when they are UTF-8, else "name_base64":"…" (RFC 4648, section 4, padded). So what is
  // read back is never in doubt.
  JsonWriter& BytesField(std::string_view name, BytesView bytes);

 private:
  void Separate() {
    if (need_comma_) out_.push_back(',');
    need_comma_ = true;
  }
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);

  Bytes& out_;
  bool need_comma_ = false;
};

}  // namespace kvarts
