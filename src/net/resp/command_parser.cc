#include "net/resp/command_parser.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/hex_digit.h"

namespace kvarts::resp {
namespace {

// As C has it: space, tab, line feed, vertical tab, form feed, carriage return.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool EndsWord(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A number as Redis reads one: no plus, no zero in front, nothing around it.
std::optional<int64_t> ToNumber(std::string_view text) {
  constexpr size_t kMaxDigits = 19;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  if (text[0] == '0' && (text.size() > 1 || negative)) return std::nullopt;
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  if (number > static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative ? -number : number);
}

// What stands between double quotes, from behind the first; where the last one stands. Nothing: there is none.
std::optional<size_t> TakeQuoted(std::string_view line, size_t at, Bytes* words) {
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') return at;
    if (c != '\\' || at + 1 == line.size()) {
      words->push_back(c);
      continue;
    }
    const char next = line[++at];
    if (next == 'x' && at + 2 < line.size() && HexValue(line[at + 1]) >= 0 && HexValue(line[at + 2]) >= 0) {
      words->push_back(static_cast<char>(HexValue(line[at + 1]) * 16 + HexValue(line[at + 2])));
      at += 2;
      continue;
    }
    constexpr std::string_view kNames = "nrtba";
    constexpr std::string_view kMeant = "\n\r\t\b\a";
    const size_t named = kNames.find(next);
    words->push_back(named == std::string_view::npos ? next : kMeant[named]);
  }
  return std::nullopt;
}

// The same between single ones.
std::optional<size_t> TakeSingleQuoted(std::string_view line, size_t at, Bytes* words) {
  for (; at < line.size(); ++at) {
    if (line[at] == '\'') return at;
    if (line.substr(at, 2) == "\\'") ++at;
    words->push_back(line[at]);
  }
  return std::nullopt;
}

}  // namespace

bool SplitWords(std::string_view line, Bytes* words, std::vector<size_t>* sizes) {
  size_t at = 0;
  while (true) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size()) return true;
    const size_t before = words->size();
    for (; at < line.size() && !EndsWord(line[at]); ++at) {
      if (line[at] != '"' && line[at] != '\'') {
        words->push_back(line[at]);
        continue;
      }
      const auto end = line[at] == '"' ? TakeQuoted(line, at + 1, words) : TakeSingleQuoted(line, at + 1, words);
      if (!end) return false;
      at = *end + 1;
      if (at < line.size() && !IsBlank(line[at])) return false;
      break;
    }
    sizes->push_back(words->size() - before);
  }
}

void CommandParser::LetGo() {
  if (begun_) return;
  if (places_.capacity() > kKeptArguments) places_ = {};
  if (arguments_.capacity() > kKeptArguments) arguments_ = {};
  if (words_.capacity() > kKeptWordBytes) words_ = {};
}

void CommandParser::Begin() {
  begun_ = true;
  at_ = 0;
  looked_ = 0;
  wanted_ = 1;
  left_ = -1;
  size_ = -1;
  places_.clear();
  arguments_.clear();
  words_.clear();
}

CommandParser::State CommandParser::Parse(std::string_view input, const Limits& limits) {
  if (!error_.empty()) return State::kError;
  if (!begun_) Begin();
  if (input.size() < wanted_) return State::kMore;
  const bool whole = input[0] == '*' ? ParseArray(input, limits) : ParseLine(input);
  if (!error_.empty()) return State::kError;
  if (!whole) return State::kMore;
  begun_ = false;
  return State::kCommand;
}

bool CommandParser::Fail(std::string_view why) {
  error_ = "Protocol error: ";
  error_ += why;
  return false;
}

bool CommandParser::ParseLine(std::string_view input) {
  const auto* const end = static_cast<const char*>(std::memchr(input.data() + looked_, '\n', input.size() - looked_));
  if (end == nullptr) {
    looked_ = input.size();
    wanted_ = input.size() + 1;
    return input.size() > kMaxLineBytes && Fail("too big inline request");
  }
  std::string_view line = input.substr(0, static_cast<size_t>(end - input.data()));
  at_ = line.size() + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<size_t> sizes;
  if (!SplitWords(line, &words_, &sizes)) return Fail("unbalanced quotes in request");
  std::string_view words = words_;
  for (const size_t size : sizes) {
    arguments_.push_back(words.substr(0, size));
    words.remove_prefix(size);
  }
  return true;
}

bool CommandParser::ParseArray(std::string_view input, const Limits& limits) {
  if (left_ < 0 && !TakeCount(input, limits)) return false;
  for (; left_ > 0; --left_) {
    if (!TakeArgument(input, limits)) return false;
  }
  for (const Place& place : places_) arguments_.push_back(input.substr(place.at, place.size));
  return true;
}

bool CommandParser::TakeLine(std::string_view input, std::string_view too_long, std::string_view* line) {
  const auto* const end = static_cast<const char*>(std::memchr(input.data() + looked_, '\r', input.size() - looked_));
  looked_ = end == nullptr ? input.size() : static_cast<size_t>(end - input.data());
  if (end == nullptr && looked_ - at_ > kMaxLineBytes) return Fail(too_long);
  // Redis does not look what stands behind the carriage return, but that there is something.
  if (looked_ + 2 > input.size()) {
    wanted_ = looked_ + (end == nullptr ? 1 : 2);
    return false;
  }
  *line = input.substr(at_, looked_ - at_);
  at_ = looked_ + 2;
  looked_ = at_;
  return true;
}

bool CommandParser::TakeCount(std::string_view input, const Limits& limits) {
  std::string_view line;
  if (!TakeLine(input, "too big mbulk count string", &line)) return false;
  const std::optional<int64_t> count = ToNumber(line.substr(1));
  if (!count || *count > kMaxArguments) return Fail("invalid multibulk length");
  if (limits.stranger && *count > kMaxStrangersArguments) return Fail("unauthenticated multibulk length");
  left_ = std::max<int64_t>(*count, 0);
  return true;
}

bool CommandParser::TakeArgument(std::string_view input, const Limits& limits) {
  if (size_ < 0) {
    if (at_ == input.size()) {
      wanted_ = at_ + 1;
      return false;
    }
    const char first = input[at_];
    std::string_view line;
    if (!TakeLine(input, "too big bulk count string", &line)) return false;
    if (first != '$') return Fail(std::string("expected '$', got '") + first + "'");
    const std::optional<int64_t> size = ToNumber(line.substr(1));
    if (!size || *size < 0 || *size > limits.max_bulk_bytes) return Fail("invalid bulk length");
    if (limits.stranger && *size > kMaxStrangersBytes) return Fail("unauthenticated bulk length");
    size_ = *size;
  }
  const auto size = static_cast<size_t>(size_);
  if (input.size() - at_ < size + 2) {
    wanted_ = at_ + size + 2;
    return false;
  }
  places_.push_back({at_, size});
  at_ += size + 2;
  looked_ = at_;
  size_ = -1;
  return true;
}

}  // namespace kvarts::resp
