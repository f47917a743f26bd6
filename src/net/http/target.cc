#include "net/http/target.h"

#include <algorithm>
#include <charconv>

#include "base/hex_digit.h"
#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr const char* kBadEscape = "a percent sign must be followed by two hex digits";
constexpr size_t kMaxNameInError = 64;

// Decodes into `out`; where the text is malformed, or npos.
size_t Decode(std::string_view text, bool plus_is_space, Bytes* out) {
  size_t bad = std::string_view::npos;
  out->resize_and_overwrite(text.size(), [text, plus_is_space, &bad](char* to, size_t) {
    char* const start = to;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '%') {
        const int high = text.size() - i < 3 ? -1 : HexValue(text[i + 1]);
        const int low = high < 0 ? -1 : HexValue(text[i + 2]);
        if (low < 0) {
          bad = i;
          break;
        }
        c = static_cast<char>(high << 4 | low);
        i += 2;
      } else if (c == '+' && plus_is_space) {
        c = ' ';
      }
      *to++ = c;
    }
    return static_cast<size_t>(to - start);
  });
  return bad;
}

Error BadEscape(size_t position) {
  return {ErrorCode::kInvalidArgument, kBadEscape, {{"position", std::to_string(position)}}};
}

}  // namespace

Result<Bytes> PercentDecode(std::string_view text) {
  Bytes decoded;
  if (const size_t bad = Decode(text, false, &decoded); bad != text.npos) return BadEscape(bad);
  return decoded;
}

Result<BytesView> PercentDecode(std::string_view text, Bytes* scratch) {
  if (text.find('%') == text.npos) return text;
  if (const size_t bad = Decode(text, false, scratch); bad != text.npos) return BadEscape(bad);
  return BytesView(*scratch);
}

void AppendPercentEncoded(Bytes* to, BytesView bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    if (Is(c, kUnreservedClass)) {
      to->push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    const char encoded[] = {'%', kDigits[byte >> 4], kDigits[byte & 0xf]};
    to->append(encoded, sizeof(encoded));
  }
}

Bytes PercentEncode(BytesView bytes) {
  Bytes encoded;
  encoded.reserve(bytes.size());
  AppendPercentEncoded(&encoded, bytes);
  return encoded;
}

QueryReader::QueryReader(std::string_view query) {
  while (!query.empty() && ok()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(piece.size() + 1, query.size()));
    if (piece.empty()) continue;
    const size_t equals = piece.find('=');
    Add(piece.substr(0, equals), equals == piece.npos ? "" : piece.substr(equals + 1));
  }
}

void QueryReader::Add(std::string_view name, std::string_view value) {
  if (name.find('%') != name.npos) {
    Bytes decoded;
    if (Decode(name, false, &decoded) != name.npos) return Fail(kBadEscape, name);
    name = Keep(std::move(decoded));
  }
  if (count_ == kMaxParameters) return Fail("too many parameters", name);
  for (size_t i = 0; i < count_; ++i) {
    if (parameters_[i].name == name) return Fail("a parameter is given twice", name);
  }
  parameters_[count_++] = {name, value, false};
}

void QueryReader::Fail(const char* text, std::string_view name, std::initializer_list<Error::Field> more) {
  if (!ok()) return;
  // The name may be any bytes, and long.
  std::string shown = Escaped(name.substr(0, kMaxNameInError));
  switch (more.size()) {
    case 0:
      error_ = Error(ErrorCode::kInvalidArgument, text, {{"parameter", std::move(shown)}});
      return;
    case 1:
      error_ = Error(ErrorCode::kInvalidArgument, text, {{"parameter", std::move(shown)}, *more.begin()});
      return;
    default:
      error_ =
          Error(ErrorCode::kInvalidArgument, text, {{"parameter", std::move(shown)}, *more.begin(), more.begin()[1]});
  }
}

std::optional<BytesView> QueryReader::Get(std::string_view name) {
  if (!ok()) return std::nullopt;
  for (size_t i = 0; i < count_; ++i) {
    Parameter& parameter = parameters_[i];
    if (parameter.name != name) continue;
    parameter.asked = true;
    if (parameter.value.find_first_of("%+") == std::string_view::npos) return parameter.value;
    Bytes decoded;
    if (Decode(parameter.value, true, &decoded) != std::string_view::npos) {
      Fail(kBadEscape, name);
      return std::nullopt;
    }
    return Keep(std::move(decoded));
  }
  return std::nullopt;
}

BytesView QueryReader::Get(std::string_view name, BytesView fallback) { return Get(name).value_or(fallback); }

uint64_t QueryReader::Uint(std::string_view name, uint64_t fallback, uint64_t at_least, uint64_t at_most) {
  const std::optional<BytesView> text = Get(name);
  if (!text) return fallback;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool is_number = end == text->data() + text->size() && error != std::errc::invalid_argument;
  if (!is_number) {
    Fail("a parameter is not a whole number", name);
  } else if (error != std::errc() || value < at_least || value > at_most) {
    Fail("a parameter is out of range", name,
         {{"at_least", std::to_string(at_least)}, {"at_most", std::to_string(at_most)}});
  }
  return ok() ? value : fallback;
}

bool QueryReader::Flag(std::string_view name, bool fallback) {
  const std::optional<BytesView> text = Get(name);
  if (!text) return fallback;
  if (text->empty() || *text == "true") return true;
  if (*text == "false") return false;
  Fail("a parameter is neither true nor false", name);
  return fallback;
}

size_t QueryReader::Choice(std::string_view name, std::initializer_list<std::string_view> choices, size_t fallback) {
  const std::optional<BytesView> text = Get(name);
  if (!text) return fallback;
  std::string all;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices.begin()[i] == *text) return i;
    all.append(i == 0 ? "" : ", ").append(choices.begin()[i]);
  }
  Fail("a parameter is not one of its choices", name, {{"choices", std::move(all)}});
  return fallback;
}

void QueryReader::Require(bool holds, std::string_view name, const char* why) {
  if (!holds) Fail(why, name);
}

Status QueryReader::Finish() {
  for (size_t i = 0; i < count_ && ok(); ++i) {
    if (!parameters_[i].asked) Fail("an unknown parameter", parameters_[i].name);
  }
  if (!ok()) return *error_;
  return {};
}

}  // namespace kvarts::http
