#include "model/structure/strings.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "model/structure/refusals.h"

namespace kvarts::structure {
namespace {

// What a float may be written with.
constexpr size_t kMaxFloatText = 5 * 1024;

}  // namespace

std::optional<int64_t> ParseInteger(BytesView text) {
  const BytesView digits = text.starts_with('-') ? text.substr(1) : text;
  const bool zero = digits == "0";
  if (digits.empty() || (digits[0] == '0' && !zero) || (zero && digits.size() != text.size())) return std::nullopt;
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<long double> ParseFloat(BytesView text) {
  char copy[kMaxFloatText];
  if (text.empty() || text.size() >= sizeof(copy) || std::isspace(static_cast<unsigned char>(text[0])) != 0) {
    return std::nullopt;
  }
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  char* end = nullptr;
  errno = 0;
  const long double number = std::strtold(copy, &end);
  const bool out_of_range = errno == ERANGE && (std::isinf(number) || std::fpclassify(number) == FP_ZERO);
  if (end != copy + text.size() || out_of_range || std::isnan(number)) return std::nullopt;
  return number;
}

Bytes FloatText(long double number) {
  char text[kMaxFloatText];
  const int size = std::snprintf(text, sizeof(text), "%.17Lf", number);
  BytesView shown(text, static_cast<size_t>(std::max(size, 0)));
  if (shown.find('.') != BytesView::npos) {
    shown = shown.substr(0, shown.find_last_not_of('0') + 1);
    if (shown.ends_with('.')) shown.remove_suffix(1);
  }
  return Bytes(shown == "-0" ? BytesView("0") : shown);
}

Status CheckTextSize(Structures& keys, uint64_t bytes) {
  const uint64_t at_most = std::min<uint64_t>(kMaxTextBytes, keys.txn().limits().max_value_bytes);
  return bytes > at_most ? Status(Refusal(kTooLong)) : Status();
}

Result<int64_t> IncrementBy(Key& key, int64_t by) {
  KVARTS_CHECK_OK(key.ExpectText());
  const std::optional<int64_t> before = key.exists() ? ParseInteger(key.text()) : 0;
  if (!before) return Refusal(kNotInteger);
  int64_t sum = 0;
  if (__builtin_add_overflow(*before, by, &sum)) return Refusal(kOverflow);
  key.EditText() = std::to_string(sum);
  return sum;
}

Result<Bytes> IncrementByFloat(Key& key, long double by) {
  KVARTS_CHECK_OK(key.ExpectText());
  const std::optional<long double> before = key.exists() ? ParseFloat(key.text()) : 0;
  if (!before) return Refusal(kNotFloat);
  const long double sum = *before + by;
  if (std::isnan(sum) || std::isinf(sum)) return Refusal(kNotFinite);
  key.EditText() = FloatText(sum);
  return key.text();
}

Result<uint64_t> Append(Structures& keys, Key& key, BytesView text) {
  KVARTS_CHECK_OK(key.ExpectText());
  KVARTS_CHECK_OK(CheckTextSize(keys, key.text().size() + text.size()));
  key.EditText().append(text);
  return key.text().size();
}

Result<uint64_t> SetRange(Structures& keys, Key& key, uint64_t at, BytesView text) {
  KVARTS_CHECK_OK(key.ExpectText());
  if (text.empty()) return key.text().size();
  KVARTS_CHECK_OK(CheckTextSize(keys, at + text.size()));
  Bytes& changed = key.EditText();
  changed.resize(std::max<uint64_t>(changed.size(), at + text.size()));
  text.copy(changed.data() + at, text.size());
  return changed.size();
}

BytesView RangeOf(const Bytes& text, int64_t first, int64_t last) {
  const auto size = static_cast<int64_t>(text.size());
  if (first < 0 && last < 0 && first > last) return {};
  if (first < 0) first = std::max<int64_t>(first + size, 0);
  if (last < 0) last = std::max<int64_t>(last + size, 0);
  last = std::min(last, size - 1);
  if (first > last || size == 0) return {};
  return BytesView(text).substr(static_cast<size_t>(first), static_cast<size_t>(last - first + 1));
}

bool BitAt(BytesView text, uint64_t bit) {
  const uint64_t byte = bit >> 3;
  return byte < text.size() && ((static_cast<uint8_t>(text[byte]) >> (7 - (bit & 7))) & 1) != 0;
}

Result<bool> SetBit(Structures& keys, Key& key, uint64_t bit, bool value) {
  KVARTS_CHECK_OK(key.ExpectText());
  const uint64_t byte = bit >> 3;
  KVARTS_CHECK_OK(CheckTextSize(keys, byte + 1));
  const bool before = BitAt(key.text(), bit);
  if (before == value && byte < key.text().size()) return before;
  Bytes& text = key.EditText();
  if (text.size() <= byte) text.resize(byte + 1);
  const auto mask = static_cast<uint8_t>(0x80 >> (bit & 7));
  const auto old = static_cast<uint8_t>(text[byte]);
  text[byte] = static_cast<char>(value ? old | mask : old & ~mask);
  return before;
}

uint64_t CountBits(BytesView text) {
  uint64_t count = 0;
  for (; text.size() >= sizeof(uint64_t); text.remove_prefix(sizeof(uint64_t))) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    count += static_cast<uint64_t>(std::popcount(word));
  }
  for (const char c : text) count += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(c)));
  return count;
}

}  // namespace kvarts::structure
