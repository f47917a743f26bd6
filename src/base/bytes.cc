#include "base/bytes.h"

#include "base/hex_digit.h"

namespace kvarts {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void AppendHexByte(std::string* to, unsigned char byte) {
  to->push_back(kHexDigits[byte >> 4]);
  to->push_back(kHexDigits[byte & 0xf]);
}

}  // namespace

void AppendVarint(Bytes* to, uint64_t value) {
  while (value >= 0x80) {
    to->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  to->push_back(static_cast<char>(value));
}

bool TakeVarint(BytesView* from, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < from->size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>((*from)[i]);
    if (i == 9 && byte > 1) return false;
    if (i > 0 && byte == 0) return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      from->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

void AppendSized(Bytes* to, BytesView bytes) {
  AppendVarint(to, bytes.size());
  to->append(bytes);
}

bool TakeSized(BytesView* from, BytesView* bytes) {
  BytesView rest = *from;
  uint64_t size = 0;
  if (!TakeVarint(&rest, &size) || size > rest.size()) return false;
  *bytes = rest.substr(0, size);
  rest.remove_prefix(size);
  *from = rest;
  return true;
}

Bytes PrefixEnd(BytesView prefix) {
  Bytes end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

Bytes KeyAfter(BytesView key) {
  Bytes after;
  after.reserve(key.size() + 1);
  after.append(key).push_back('\0');
  return after;
}

std::string Escaped(BytesView bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out.append("\\\\");
    } else if (byte >= 0x20 && byte < 0x7f) {
      out.push_back(c);
    } else {
      out.append("\\x");
      AppendHexByte(&out, byte);
    }
  }
  return out;
}

Result<Bytes> ParseEscaped(std::string_view text) {
  Bytes out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      out.push_back('\\');
      i += 1;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && HexValue(text[i + 2]) >= 0 && HexValue(text[i + 3]) >= 0) {
      out.push_back(static_cast<char>(HexValue(text[i + 2]) << 4 | HexValue(text[i + 3])));
      i += 3;
    } else {
      return Error(ErrorCode::kInvalidArgument, "a backslash must be followed by a backslash or xNN",
                   {{"position", std::to_string(i)}});
    }
  }
  return out;
}

std::string ToHex(BytesView bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) AppendHexByte(&out, static_cast<unsigned char>(c));
  return out;
}

Result<Bytes> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument, "hex has an odd number of digits");
  }
  Bytes out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) {
      return Error(ErrorCode::kInvalidArgument, "not a hex digit", {{"position", std::to_string(i)}});
    }
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

}  // namespace kvarts
