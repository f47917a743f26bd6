#include "model/catalog/field_type.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kvarts {
namespace {

constexpr std::string_view kUuidPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr std::string_view kTimestampUsPattern = "dddd-dd-ddTdd:dd:dd.ddddddZ";
constexpr size_t kDateWidth = 10;
constexpr size_t kSecondsWidth = 19;

constexpr std::string_view kNames[] = {"text", "path",      "uuid",         "int",         "hex",
                                       "date", "timestamp", "timestamp_ms", "timestamp_us"};

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = 3;
  for (int c = 'a'; c <= 'f'; ++c) classes[static_cast<size_t>(c)] = 2;
  return classes;
}();

bool Fits(char byte, char pattern) {
  const uint8_t its = kClasses[static_cast<unsigned char>(byte)];
  if (pattern == 'd') return (its & 1) != 0;
  if (pattern == 'x') return (its & 2) != 0;
  return byte == pattern;
}

int TwoDigits(const char* at) { return (at[0] - '0') * 10 + (at[1] - '0'); }

int DaysIn(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// How many bytes of a value of digits in their places are those of a time that there is; all of them if it is one.
size_t GoodOfTime(const char* at, size_t width) {
  const int month = TwoDigits(at + 5);
  if (month < 1 || month > 12) return 6;
  const int day = TwoDigits(at + 8);
  if (day < 1 || day > DaysIn(TwoDigits(at) * 100 + TwoDigits(at + 2), month)) return 9;
  if (width == kDateWidth) return width;
  if (TwoDigits(at + 11) > 23) return 12;
  if (TwoDigits(at + 14) > 59) return 15;
  if (TwoDigits(at + 17) > 59) return 18;
  return width;
}

}  // namespace

std::string FieldType::ToString() const {
  std::string text(kNames[static_cast<size_t>(kind)]);
  if (kind == FieldKind::kInt || kind == FieldKind::kHex) text += "(" + std::to_string(digits) + ")";
  return text;
}

std::optional<FieldType> FieldType::Parse(std::string_view text) {
  const size_t open = text.find('(');
  const auto* const name = std::ranges::find(kNames, text.substr(0, open));
  if (name == std::end(kNames)) return std::nullopt;
  FieldType type{static_cast<FieldKind>(name - std::begin(kNames)), 0};
  const bool sized = type.kind == FieldKind::kInt || type.kind == FieldKind::kHex;
  if (sized != (open != text.npos)) return std::nullopt;
  if (!sized) return type;
  const std::string_view digits = text.substr(open + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && digits.substr(static_cast<size_t>(end - digits.data())) == ")";
  const unsigned at_most = type.kind == FieldKind::kInt ? kMaxIntDigits : kMaxHexDigits;
  if (!whole || digits.front() == '0' || number > at_most) return std::nullopt;
  type.digits = static_cast<uint8_t>(number);
  return type;
}

size_t FieldType::width() const {
  switch (kind) {
    case FieldKind::kText:
    case FieldKind::kPath:
      return 0;
    case FieldKind::kUuid:
      return kUuidPattern.size();
    case FieldKind::kInt:
    case FieldKind::kHex:
      return digits;
    case FieldKind::kDate:
      return kDateWidth;
    case FieldKind::kTimestamp:
      return kSecondsWidth + 1;
    case FieldKind::kTimestampMs:
      return kSecondsWidth + 5;
    case FieldKind::kTimestampUs:
      return kTimestampUsPattern.size();
  }
  return 0;
}

char FieldType::PatternAt(size_t i) const {
  if (kind == FieldKind::kUuid) return kUuidPattern[i];
  if (kind == FieldKind::kInt) return 'd';
  if (kind == FieldKind::kHex) return 'x';
  return kind != FieldKind::kDate && i + 1 == width() ? 'Z' : kTimestampUsPattern[i];
}

std::string FieldType::Expected() const {
  switch (kind) {
    case FieldKind::kText:
      return "one or more bytes";
    case FieldKind::kPath:
      return "one or more bytes, to the end of the key";
    case FieldKind::kUuid:
      return "a UUID in lower case: 8-4-4-4-12 hex digits";
    case FieldKind::kInt:
      return std::to_string(digits) + " decimal digits";
    case FieldKind::kHex:
      return std::to_string(digits) + " hex digits in lower case";
    case FieldKind::kDate:
      return "YYYY-MM-DD, a day that there is";
    case FieldKind::kTimestamp:
      return "YYYY-MM-DDTHH:MM:SSZ, a time that there is";
    case FieldKind::kTimestampMs:
      return "YYYY-MM-DDTHH:MM:SS.mmmZ, a time that there is";
    case FieldKind::kTimestampUs:
      return "YYYY-MM-DDTHH:MM:SS.uuuuuuZ, a time that there is";
  }
  return {};
}

FieldType::Checked FieldType::Check(BytesView bytes) const {
  const size_t size = width();
  const size_t there = std::min(size, bytes.size());
  for (size_t i = 0; i < there; ++i) {
    if (!Fits(bytes[i], PatternAt(i))) return {false, i};
  }
  if (there < size) return {false, there};
  const size_t good = IsTime() ? GoodOfTime(bytes.data(), size) : size;
  return {good == size, good};
}

std::string FieldType::ValueAt(Timestamp time) const {
  const std::string whole = time.ToString();
  if (kind == FieldKind::kDate) return whole.substr(0, kDateWidth);
  std::string value = whole.substr(0, width());
  value.back() = 'Z';
  return value;
}

}  // namespace kvarts
