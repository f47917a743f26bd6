#include "model/structure/strings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

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
  return bytes > keys.max_text_bytes() ? Status(Refusal(kTooLong)) : Status();
}

Result<int64_t> IncrementBy(Key& key, int64_t by) {
  KVARTS_CHECK_OK(key.ExpectText());
  // A large one is no number, and has no text here.
  const std::optional<int64_t> before = key.exists() ? ParseInteger(key.text()) : 0;
  if (!before) return Refusal(kNotInteger);
  int64_t sum = 0;
  if (__builtin_add_overflow(*before, by, &sum)) return Refusal(kOverflow);
  key.EditText(std::to_string(sum));
  return sum;
}

Result<Bytes> IncrementByFloat(Key& key, long double by) {
  KVARTS_CHECK_OK(key.ExpectText());
  const std::optional<long double> before = key.exists() ? ParseFloat(key.text()) : 0;
  if (!before) return Refusal(kNotFloat);
  const long double sum = *before + by;
  if (std::isnan(sum) || std::isinf(sum)) return Refusal(kNotFinite);
  key.EditText(FloatText(sum));
  return key.text();
}

Result<uint64_t> Append(Structures& keys, Key& key, BytesView text) {
  KVARTS_CHECK_OK(key.ExpectText());
  const uint64_t before = SizeOfText(key);
  KVARTS_CHECK_OK(CheckTextSize(keys, before + text.size()));
  KVARTS_CHECK_OK(key.WriteText(before, text));
  return before + text.size();
}

Result<uint64_t> SetRange(Structures& keys, Key& key, uint64_t at, BytesView text) {
  KVARTS_CHECK_OK(key.ExpectText());
  if (text.empty()) return SizeOfText(key);
  KVARTS_CHECK_OK(CheckTextSize(keys, at + text.size()));
  KVARTS_CHECK_OK(key.WriteText(at, text));
  return SizeOfText(key);
}

uint64_t SizeOfText(const Key& key) {
  const LargeText* large = key.large_text();
  return large == nullptr ? key.text().size() : large->size();
}

Status ForEachPiece(const Key& key, uint64_t at, uint64_t size, const VisitPiece& visit) {
  if (const LargeText* large = key.large_text()) return large->ForEachPiece(at, size, visit);
  if (at < key.text().size()) visit(BytesView(key.text()).substr(at, size));
  return {};
}

Result<Bytes> TextOf(const Key& key, uint64_t at, uint64_t size) {
  Bytes text;
  KVARTS_CHECK_OK(ForEachPiece(key, at, size, [&text](BytesView piece) {
    text.append(piece);
    return true;
  }));
  return text;
}

Stretch StretchOf(uint64_t size, int64_t first, int64_t last) {
  const auto all = static_cast<int64_t>(size);
  if (first < 0 && last < 0 && first > last) return {0, 0};
  if (first < 0) first = std::max<int64_t>(first + all, 0);
  if (last < 0) last = std::max<int64_t>(last + all, 0);
  last = std::min(last, all - 1);
  if (first > last || all == 0) return {0, 0};
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last - first + 1)};
}

}  // namespace kvarts::structure
