#include "base/base64url.h"

namespace kvarts {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The value of a digit, or -1.
int DigitValue(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  return c == '_' ? 63 : -1;
}

}  // namespace

std::string ToBase64Url(BytesView bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text.push_back(kDigits[bits >> (count - 6) & 63]);
  }
  if (count > 0) text.push_back(kDigits[bits << (6 - count) & 63]);
  return text;
}

Result<Bytes> FromBase64Url(std::string_view text) {
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = DigitValue(text[i]);
    if (digit < 0) {
      return Error(ErrorCode::kInvalidArgument, "not a digit of base64url", {{"position", std::to_string(i)}});
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  // What is left is less than a digit, and empty.
  if (count >= 6 || (bits & ((1u << count) - 1)) != 0) {
    return Error(ErrorCode::kInvalidArgument, "base64url that ends in the middle of a byte");
  }
  return bytes;
}

}  // namespace kvarts
