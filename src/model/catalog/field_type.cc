#include "model/catalog/field_type.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kvarts {
namespace {

constexpr std::string_view kUuidPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr std::string_view kTimestampPattern = "dddd-dd-ddTdd:dd:ddZ";
constexpr std::string_view kTimestampMsPattern = "dddd-dd-ddTdd:dd:dd.dddZ";
constexpr std::string_view kTimestampUsPattern = "dddd-dd-ddTdd:dd:dd.ddddddZ";
constexpr size_t kDateWidth = 10;

template <size_t kSize>
constexpr std::array<char, kSize> Repeated(char c) {
  std::array<char, kSize> bytes{};
  bytes.fill(c);
  return bytes;
}
constexpr auto kDigits = Repeated<FieldType::kMaxIntDigits>('d');
constexpr auto kHexDigits = Repeated<FieldType::kMaxHexDigits>('x');

constexpr std::string_view kNames[] = {"text", "path",      "uuid",         "int",         "hex",
                                       "date", "timestamp", "timestamp_ms", "timestamp_us"};

// Of each byte, the places of a pattern that it fits: bit 0 a digit, bit 1 a hex digit.
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = 3;
  for (int c = 'a'; c <= 'f'; ++c) classes[static_cast<size_t>(c)] = 2;
  return classes;
}();
constexpr std::array<uint8_t, 256> kWanted = [] {
  std::array<uint8_t, 256> wanted{};
  wanted['d'] = 1;
  wanted['x'] = 2;
  return wanted;
}();

bool Fits(char byte, char pattern) {
  const uint8_t wanted = kWanted[static_cast<unsigned char>(pattern)];
  return wanted == 0 ? byte == pattern : (kClasses[static_cast<unsigned char>(byte)] & wanted) != 0;
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

std::string_view FieldType::Pattern() const {
  switch (kind) {
    case FieldKind::kText:
    case FieldKind::kPath:
      return {};
    case FieldKind::kUuid:
      return kUuidPattern;
    case FieldKind::kInt:
      return {kDigits.data(), digits};
    case FieldKind::kHex:
      return {kHexDigits.data(), digits};
    case FieldKind::kDate:
      return kTimestampPattern.substr(0, kDateWidth);
    case FieldKind::kTimestamp:
      return kTimestampPattern;
    case FieldKind::kTimestampMs:
      return kTimestampMsPattern;
    case FieldKind::kTimestampUs:
      return kTimestampUsPattern;
  }
  return {};
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
  const std::string_view pattern = Pattern();
  const size_t there = std::min(pattern.size(), bytes.size());
  for (size_t i = 0; i < there; ++i) {
    if (!Fits(bytes[i], pattern[i])) return {false, i};
  }
  if (there < pattern.size()) return {false, there};
  const size_t good = IsTime() ? GoodOfTime(bytes.data(), there) : there;
  return {good == there, good};
}

std::string FieldType::ValueAt(Timestamp time) const {
  const std::string whole = time.ToString();
  if (kind == FieldKind::kDate) return whole.substr(0, kDateWidth);
  std::string value = whole.substr(0, width());
  value.back() = 'Z';
  return value;
}

}  // namespace kvarts
