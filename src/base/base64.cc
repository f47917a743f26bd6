#include "base/base64.h"

#include <array>

namespace kvarts {
namespace {

constexpr uint8_t kNoDigit = 0xff;

struct Alphabet {
  constexpr Alphabet(const char* all, bool with_padding) : digits(all), padded(with_padding) {
    values.fill(kNoDigit);
    for (uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(digits[i])] = i;
  }

  uint32_t ValueOf(char c) const { return values[static_cast<unsigned char>(c)]; }

  const char* digits;
  bool padded;
  std::array<uint8_t, 256> values{};  // of every byte, kNoDigit for those that are none
};

constexpr Alphabet kPlain("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true);
constexpr Alphabet kUrl("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false);

void Append(Bytes* to, BytesView bytes, const Alphabet& alphabet) {
  const size_t start = to->size();
  const size_t size = alphabet.padded ? (bytes.size() + 2) / 3 * 4 : (bytes.size() * 4 + 2) / 3;
  to->resize(start + size, '=');
  char* out = to->data() + start;
  const auto at = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  const auto put = [&](uint32_t bits, int shift) { *out++ = alphabet.digits[bits >> shift & 63]; };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t bits = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (const int shift : {18, 12, 6, 0}) put(bits, shift);
  }
  if (i == bytes.size()) return;
  const bool two = i + 2 == bytes.size();
  const uint32_t bits = at(i) << 16 | (two ? at(i + 1) << 8 : 0);
  put(bits, 18);
  put(bits, 12);
  if (two) put(bits, 6);
}

// `text` is without its padding; the errors are those of one alphabet.
Result<Bytes> Decode(std::string_view text, const Alphabet& alphabet, const char* no_digit, const char* cut_off) {
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t digit = alphabet.ValueOf(text[i]);
    if (digit == kNoDigit) return Error(ErrorCode::kInvalidArgument, no_digit, {{"position", std::to_string(i)}});
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  // What is left is less than a digit, and empty.
  if (count >= 6 || (bits & ((1u << count) - 1)) != 0) return Error(ErrorCode::kInvalidArgument, cut_off);
  return bytes;
}

}  // namespace

std::string ToBase64(BytesView bytes) {
  std::string text;
  Append(&text, bytes, kPlain);
  return text;
}

void AppendBase64(Bytes* to, BytesView bytes) { Append(to, bytes, kPlain); }

std::string ToBase64Url(BytesView bytes) {
  std::string text;
  Append(&text, bytes, kUrl);
  return text;
}

Result<Bytes> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return Error(ErrorCode::kInvalidArgument, "base64 without its padding");
  // At most two: a third would stand where a digit has to.
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return Decode(text, kPlain, "not a digit of base64", "base64 that ends in the middle of a byte");
}

Result<Bytes> FromBase64Url(std::string_view text) {
  return Decode(text, kUrl, "not a digit of base64url", "base64url that ends in the middle of a byte");
}

}  // namespace kvarts
