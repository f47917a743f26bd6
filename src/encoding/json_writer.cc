#include "encoding/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/byte_search.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

size_t PlainPrefix(std::string_view text) {
  return FirstByte(text,
                   [](ByteLanes lanes) { return (lanes < 0x20) | (lanes == '"') | (lanes == '\\') | (lanes == 0x7f); });
}

// One growth of the output and one copy: `before`, which is nothing if it is zero, the text in quotes, and `after`.
void AppendPlain(Bytes* to, char before, std::string_view text, char after) {
  const size_t start = to->size();
  const size_t size = start + (before != 0) + 1 + text.size() + 1 + (after != 0);
  to->resize_and_overwrite(size, [&](char* all, size_t) {
    char* next = all + start;
    if (before != 0) *next++ = before;
    *next++ = '"';
    next = std::copy(text.begin(), text.end(), next);
    *next++ = '"';
    if (after != 0) *next++ = after;
    return size;
  });
}

void AppendEscape(Bytes* to, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    const std::array<char, 2> escape = {'\\', c};
    to->append(escape.data(), escape.size());
  } else {
    const auto byte = static_cast<unsigned char>(c);
    const std::array<char, 6> escape = {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    to->append(escape.data(), escape.size());
  }
}

void AppendQuoted(Bytes* to, char before, std::string_view text, char after) {
  size_t plain = PlainPrefix(text);
  if (plain == text.size()) return AppendPlain(to, before, text, after);
  if (before != 0) to->push_back(before);
  to->push_back('"');
  while (true) {
    to->append(text.substr(0, plain));
    if (plain == text.size()) break;
    AppendEscape(to, text[plain]);
    text.remove_prefix(plain + 1);
    plain = PlainPrefix(text);
  }
  to->push_back('"');
  if (after != 0) to->push_back(after);
}

template <class Value>
void AppendNumber(Bytes* to, Value value) {
  std::array<char, 32> digits;
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  to->append(digits.data(), end);
}

}  // namespace

bool IsPlainJsonText(BytesView bytes) {
  const size_t plain = FirstByte(bytes, [](ByteLanes lanes) {
    // Taken as signed, what is not ASCII is less than a space too.
    return (reinterpret_cast<LaneMask>(lanes) < 0x20) | (lanes == '"') | (lanes == '\\') | (lanes == 0x7f);
  });
  return plain == bytes.size();
}

void AppendJsonText(Bytes* to, std::string_view text) { AppendQuoted(to, 0, text, 0); }

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Name(std::string_view name) {
  AppendQuoted(&out_, need_comma_ ? ',' : '\0', name, ':');
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view text) {
  AppendQuoted(&out_, need_comma_ ? ',' : '\0', text, 0);
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Number(int64_t number) {
  Separate();
  AppendNumber(&out_, number);
  return *this;
}

JsonWriter& JsonWriter::Number(uint64_t number) {
  Separate();
  AppendNumber(&out_, number);
  return *this;
}

JsonWriter& JsonWriter::Number(double number) {
  if (!std::isfinite(number)) return Null();
  Separate();
  AppendNumber(&out_, number);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_.append(json);
  return *this;
}

JsonWriter& JsonWriter::BytesField(std::string_view name, BytesView bytes) {
  Name(name);
  need_comma_ = true;
  if (IsPlainJsonText(bytes)) {
    AppendPlain(&out_, 0, bytes, 0);
  } else if (IsUtf8(bytes)) {
    AppendQuoted(&out_, 0, bytes, 0);
  } else {
    out_.resize(out_.size() - std::string_view("\":").size());
    out_.append("_base64\":\"");
    AppendBase64(&out_, bytes);
    out_.push_back('"');
  }
  return *this;
}

}  // namespace kvarts
