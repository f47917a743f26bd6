#include "encoding/json_reader.h"

#include <algorithm>
#include <bitset>
#include <charconv>

#include "base/base64.h"
#include "base/byte_search.h"
#include "base/error_fields.h"
#include "base/hex_digit.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

constexpr const char* kCutOff = "the text ends too early";
constexpr const char* kNoValue = "a value was expected";
constexpr const char* kNoName = "a name in quotes was expected";
constexpr const char* kNoFieldEnd = "a comma or the end of the object was expected";
constexpr const char* kNoElementEnd = "a comma or the end of the array was expected";
constexpr const char* kTooDeep = "too many objects and arrays inside each other";
constexpr const char* kTwice = "the name is there twice";
constexpr const char* kOutOfRange = "the number is out of range";

constexpr uint32_t kNoUnit = 0xffff'ffff;

// What an error tells of a name, and of the way to a field.
constexpr size_t kNameBytes = 64;
constexpr size_t kPathBytes = 256;

// Where the text ends, or an escape begins, or a byte is that may not stand in it.
const char* TextStop(const char* from, const char* end) {
  return from +
         FirstByte({from, end}, [](ByteLanes lanes) { return (lanes < 0x20) | (lanes == '"') | (lanes == '\\'); });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

JsonReader::JsonReader(std::string_view text, JsonOptions options)
    : begin_(text.data()),
      next_(begin_),
      end_(begin_ + text.size()),
      max_depth_(std::min(options.max_depth, kDeepest)),
      value_at_(end_) {
  const size_t good = Utf8Prefix(text);
  if (good < text.size()) Fail("the text is not UTF-8", begin_ + good);
}

bool JsonReader::Fail(const char* why, const char* at) {
  if (!ok()) return false;
  why_ = why;
  where_ = static_cast<size_t>(at - begin_);
  path_ = Path();
  next_ = end_;
  return false;
}

bool JsonReader::FailExpecting(const char* why) { return Fail(next_ == end_ ? kCutOff : why, next_); }

std::string JsonReader::Path() const {
  std::vector<const Scope*> scopes;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer) scopes.push_back(scope);
  std::string path;
  for (size_t i = scopes.size(); i-- > 0 && path.size() < kPathBytes;) {
    const Scope& scope = *scopes[i];
    if (!scope.inside) break;
    if (scope.is_array) {
      path.append("[").append(std::to_string(scope.index)).append("]");
    } else {
      path.append(path.empty() ? "" : ".").append(CutText(scope.name, kNameBytes));
    }
  }
  return path;
}

void JsonReader::Require(bool holds, const char* why) {
  if (!holds) Fail(why, value_at_);
}

void JsonReader::Refuse(const Error& error) {
  if (!ok()) return;
  Fail(error.text().data(), value_at_);  // a constant
  refused_ = error;
}

void JsonReader::Unknown(std::string_view name) {
  if (!ok() || scope_ == nullptr) return;
  scope_->name = name;
  Fail("there is no such field", scope_->name_at);
}

Status JsonReader::Finish() {
  SkipSpace();
  if (next_ != end_) Fail("something follows the value", next_);
  if (value_at_ == end_) Fail(kCutOff, end_);
  if (ok()) return {};
  if (refused_) return path_.empty() ? *refused_ : WithField(*refused_, "field", path_);
  std::string position = std::to_string(where_);
  if (path_.empty()) return Error(ErrorCode::kInvalidArgument, why_, {{"position", position}});
  return Error(ErrorCode::kInvalidArgument, why_, {{"field", path_}, {"position", position}});
}

void JsonReader::SkipSpace() {
  while (next_ != end_ && static_cast<unsigned char>(*next_) <= ' ') {
    if (*next_ != ' ' && *next_ != '\n' && *next_ != '\r' && *next_ != '\t') return;
    ++next_;
  }
}

bool JsonReader::TakeByte(char byte, const char* why) {
  SkipSpace();
  if (Front() != byte) return FailExpecting(why);
  ++next_;
  return true;
}

bool JsonReader::TakeWord(std::string_view word) {
  if (!std::string_view(next_, end_).starts_with(word)) return FailExpecting(kNoValue);
  next_ += word.size();
  return true;
}

void JsonReader::Begin() {
  SkipSpace();
  value_at_ = next_;
}

JsonKind JsonReader::Peek() {
  SkipSpace();
  switch (Front()) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kText;
    case 't':
    case 'f':
      return JsonKind::kBool;
    case 'n':
      return JsonKind::kNull;
    default:
      return Front() == '-' || IsDigit(Front()) ? JsonKind::kNumber : JsonKind::kNone;
  }
}

// Texts.

std::string_view JsonReader::Text() {
  Begin();
  if (Front() != '"') {
    FailExpecting("a text was expected");
    return {};
  }
  return TakeText(true);
}

Bytes JsonReader::Base64() {
  const std::string_view text = Text();
  Result<Bytes> bytes = FromBase64(text);
  if (!bytes.has_value()) {
    Fail("base64 with padding was expected", value_at_);
    return {};
  }
  return *std::move(bytes);
}

std::string_view JsonReader::TakeText(bool decoded) {
  const char* const start = next_ + 1;
  const char* const stop = TextStop(start, end_);
  if (stop == end_ || *stop != '"') return TakeEscaped(start, stop, decoded);
  next_ = stop + 1;
  return {start, stop};
}

std::string_view JsonReader::TakeEscaped(const char* start, const char* stop, bool decoded) {
  if (decoded && unescaped_ == nullptr) {
    // No text is longer than it is written, so what is left of the input is room enough for all.
    unescaped_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(end_ - start));
    unescaped_end_ = unescaped_.get();
  }
  char* const text = unescaped_end_;
  char* to = text;
  while (true) {
    if (decoded) to = std::copy(start, stop, to);
    if (stop == end_ || (*stop != '"' && *stop != '\\')) {
      Fail(stop == end_ ? kCutOff : "a control character in a text", stop);
      return {};
    }
    if (*stop == '"') break;
    uint32_t character = 0;
    start = ReadEscape(stop, &character);
    if (start == nullptr) return {};
    if (decoded) to = WriteCharacter(to, character);
    stop = TextStop(start, end_);
  }
  next_ = stop + 1;
  if (!decoded) return {};
  unescaped_end_ = to;
  return {text, to};
}

const char* JsonReader::ReadEscape(const char* at, uint32_t* character) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (end_ - at < 2) {
    Fail(kCutOff, end_);
    return nullptr;
  }
  if (at[1] != 'u') {
    const size_t letter = kLetters.find(at[1]);
    if (letter == std::string_view::npos) {
      Fail("there is no such escape", at);
      return nullptr;
    }
    *character = static_cast<unsigned char>(kMeanings[letter]);
    return at + 2;
  }
  const uint32_t unit = ReadUnit(at);
  if (unit == kNoUnit) {
    Fail("four hexadecimal digits were expected", at);
    return nullptr;
  }
  *character = unit;
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  const uint32_t low = unit < 0xdc00 ? ReadUnit(at + 6) : kNoUnit;
  if (low < 0xdc00 || low > 0xdfff) {
    Fail("half a surrogate pair", at);
    return nullptr;
  }
  *character = 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
  return at + 12;
}

uint32_t JsonReader::ReadUnit(const char* at) const {
  if (end_ - at < 6 || at[0] != '\\' || at[1] != 'u') return kNoUnit;
  uint32_t unit = 0;
  for (int i = 2; i < 6; ++i) {
    const int digit = HexValue(at[i]);
    if (digit < 0) return kNoUnit;
    unit = unit << 4 | static_cast<uint32_t>(digit);
  }
  return unit;
}

// Numbers and words.

std::string_view JsonReader::TakeNumber() {
  const char* const start = next_;
  const auto digits = [&] {
    if (!IsDigit(Front())) return FailExpecting("a digit was expected");
    while (IsDigit(Front())) ++next_;
    return true;
  };
  if (Front() == '-') ++next_;
  if (Front() == '0') {
    ++next_;
    if (IsDigit(Front())) Fail("a number begins with a zero", start);
  } else if (!digits()) {
    return {};
  }
  if (Front() == '.') {
    ++next_;
    if (!digits()) return {};
  }
  if (Front() == 'e' || Front() == 'E') {
    ++next_;
    if (Front() == '+' || Front() == '-') ++next_;
    if (!digits()) return {};
  }
  return ok() ? std::string_view(start, next_) : std::string_view();
}

std::string_view JsonReader::Number() {
  Begin();
  if (Peek() != JsonKind::kNumber) {
    FailExpecting("a number was expected");
    return {};
  }
  return TakeNumber();
}

std::string_view JsonReader::TakeInteger() {
  const std::string_view text = Number();
  Require(text.find_first_of(".eE") == std::string_view::npos, "a number without fraction and exponent was expected");
  if (!ok()) return "0";
  return text == "-0" ? "0" : text;
}

namespace {

// Bounds that somebody has set are told; those of 64 bits are not.
template <class Integer>
Error OutOfRange(Integer at_least, Integer at_most, size_t position) {
  using Limits = std::numeric_limits<Integer>;
  std::vector<Error::Field> fields;
  if (at_least != Limits::min()) fields.emplace_back("at_least", std::to_string(at_least));
  if (at_most != Limits::max()) fields.emplace_back("at_most", std::to_string(at_most));
  fields.emplace_back("position", std::to_string(position));
  return MakeError(ErrorCode::kInvalidArgument, kOutOfRange, fields);
}

}  // namespace

int64_t JsonReader::Int(int64_t at_least, int64_t at_most) {
  const std::string_view text = TakeInteger();
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && value >= at_least && value <= at_most) return value;
  Refuse(OutOfRange(at_least, at_most, static_cast<size_t>(value_at_ - begin_)));
  return 0;
}

uint64_t JsonReader::Uint(uint64_t at_most) {
  const std::string_view text = TakeInteger();
  uint64_t value = 0;
  // A minus sign is no part of an unsigned number.
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && value <= at_most) return value;
  Refuse(OutOfRange<uint64_t>(0, at_most, static_cast<size_t>(value_at_ - begin_)));
  return 0;
}

double JsonReader::Double() {
  const std::string_view text = Number();
  if (!ok()) return 0;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  Require(problem == std::errc(), kOutOfRange);
  return ok() ? value : 0;
}

bool JsonReader::Bool() {
  Begin();
  if (Peek() != JsonKind::kBool) return FailExpecting("true or false was expected");
  const bool value = Front() == 't';
  return TakeWord(value ? "true" : "false") && value;
}

bool JsonReader::TakeNull() {
  Begin();
  return Front() == 'n' && TakeWord("null");
}

// Objects and arrays, one field or element at a time.

bool JsonReader::OpenScope(Scope* scope, char bracket, const char* why) {
  Begin();
  if (!TakeByte(bracket, why)) return false;
  if (depth_ == max_depth_) return Fail(kTooDeep, value_at_);
  ++depth_;
  scope->outer = scope_;
  scope_ = scope;
  return true;
}

void JsonReader::CloseScope() {
  --depth_;
  scope_ = scope_->outer;
}

bool JsonReader::NextField(ObjectScope* scope) {
  SkipSpace();
  if (!ok()) return false;
  const bool first = !scope->inside;
  scope->inside = false;
  if (Front() == '}') {
    ++next_;
    CheckNames(scope);
    return false;
  }
  if (!first && !TakeByte(',', kNoFieldEnd)) return false;
  SkipSpace();
  scope->name_at = next_;
  if (Front() != '"') return FailExpecting(kNoName);
  scope->name = TakeText(true);
  if (!TakeByte(':', "a colon was expected")) return false;
  SkipSpace();
  scope->inside = true;
  if (!scope->Add(scope->name)) Fail(kTwice, scope->name_at);
  return ok();
}

bool JsonReader::ObjectScope::Add(std::string_view new_name) {
  const auto end = first.begin() + few;
  if (std::find(first.begin(), end, new_name) != end) return false;
  if (few < kFewNames) {
    first[few++] = new_name;
  } else {
    more.push_back(new_name);
  }
  return true;
}

void JsonReader::CheckNames(ObjectScope* scope) {
  std::ranges::sort(scope->more);
  const auto twice = std::ranges::adjacent_find(scope->more);
  if (twice == scope->more.end()) return;
  scope->name = *twice;
  scope->inside = true;
  Fail(kTwice, next_);
}

bool JsonReader::NextElement(Scope* scope) {
  SkipSpace();
  if (!ok()) return false;
  const bool first = !scope->inside;
  scope->inside = false;
  if (Front() == ']') {
    ++next_;
    return false;
  }
  if (!first && !TakeByte(',', kNoElementEnd)) return false;
  if (!first) ++scope->index;
  SkipSpace();
  scope->inside = true;
  return true;
}

// Whole values.

std::string_view JsonReader::Raw() {
  Begin();
  const char* const start = next_;
  if (!TakeValue()) return {};
  value_at_ = start;
  return {start, next_};
}

// Without recursion: what is open is a bit each, set for an object.
bool JsonReader::TakeValue() {
  std::bitset<kDeepest> objects;
  size_t open = 0;
  while (true) {
    SkipSpace();
    const char bracket = Front();
    if (bracket == '{' || bracket == '[') {
      const bool object = bracket == '{';
      if (depth_ + open == max_depth_) return Fail(kTooDeep, next_);
      ++next_;
      SkipSpace();
      if (Front() != (object ? '}' : ']')) {
        objects[open++] = object;
        if (object && !TakeFieldName()) return false;
        continue;
      }
      ++next_;
    } else if (!TakeScalar()) {
      return false;
    }
    // A value has ended, and with it what it was the last of.
    while (true) {
      if (open == 0) return true;
      const bool object = objects[open - 1];
      SkipSpace();
      if (Front() == (object ? '}' : ']')) {
        ++next_;
        --open;
        continue;
      }
      if (!TakeByte(',', object ? kNoFieldEnd : kNoElementEnd)) return false;
      if (object && !TakeFieldName()) return false;
      break;
    }
  }
}

bool JsonReader::TakeFieldName() {
  SkipSpace();
  if (Front() != '"') return FailExpecting(kNoName);
  TakeText(false);
  return TakeByte(':', "a colon was expected");
}

bool JsonReader::TakeScalar() {
  switch (Peek()) {
    case JsonKind::kText:
      TakeText(false);
      break;
    case JsonKind::kNumber:
      TakeNumber();
      break;
    case JsonKind::kBool:
      TakeWord(Front() == 't' ? "true" : "false");
      break;
    case JsonKind::kNull:
      TakeWord("null");
      break;
    default:
      FailExpecting(kNoValue);
      break;
  }
  return ok();
}

}  // namespace kvarts
