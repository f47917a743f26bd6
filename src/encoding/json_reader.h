// JsonReader: takes a JSON text (RFC 8259) apart, value by value, for whoever knows what should be in it.
//
//   JsonReader json(text);
//   json.Object([&](std::string_view name) {
//     if (name == "value") {
//       value = json.Raw();
//     } else if (name == "ttl") {
//       ttl = json.Uint(kMaxTtl);
//     } else {
//       json.Unknown(name);
//     }
//   });
//   KVARTS_CHECK_OK(json.Finish());
//
// It may be given any bytes. The first thing that is wrong sticks: everything after it reads as zero or empty,
// callbacks are no longer called, and Finish says what and where. So a caller reads straight down, and looks once. It
// is strict: UTF-8 without a byte order mark, no lone surrogates, no names twice in an object that is read by Object.
//
// What it returns is borrowed from the text, or from the reader where escapes had to be undone: it lasts as long as
// both. Only then, and for an object of more than kFewNames names, is anything allocated, and never more than in
// proportion to the text. Time is linear in the text, but for the names of large objects, which are sorted.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace kvarts {

struct JsonOptions {
  // How many objects and arrays may be inside each other; at most JsonReader::kDeepest.
  size_t max_depth = 64;
};

// kNone is what begins no value, the end of the text among it.
enum class JsonKind : uint8_t { kNone, kObject, kArray, kText, kNumber, kBool, kNull };

class JsonReader {
 public:
  static constexpr size_t kDeepest = 512;
  static constexpr size_t kFewNames = 16;

  explicit JsonReader(std::string_view text, JsonOptions options = {});
  // A text that would be gone before it is read.
  template <std::same_as<Bytes> Temporary>
  explicit JsonReader(Temporary&& text, JsonOptions options = {}) = delete;
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  // Of the next value, which stays the next.
  JsonKind Peek();

  // Calls on_field(name) for each field. It reads the value; one that it leaves is skipped.
  template <class OnField>
  void Object(OnField&& on_field);
  // Calls on_element() or on_element(index) for each element, likewise.
  template <class OnElement>
  void Array(OnElement&& on_element);

  std::string_view Text();
  // A text that is base64 with padding, decoded.
  Bytes Base64();
  // A number without fraction and exponent.
  int64_t Int(int64_t at_least = std::numeric_limits<int64_t>::min(),
              int64_t at_most = std::numeric_limits<int64_t>::max());
  uint64_t Uint(uint64_t at_most = std::numeric_limits<uint64_t>::max());
  // The nearest one; what is too large for it or too small is refused.
  double Double();
  // Any number, as it is written.
  std::string_view Number();
  bool Bool();
  // Takes a null, if that is what comes next.
  bool TakeNull();
  // Any value, as it is written, without the space around it; it is checked to the last byte. Names may repeat.
  std::string_view Raw();
  void Skip() { Raw(); }

  // That the field whose name was given to the callback should not be there.
  void Unknown(std::string_view name);
  // Something that must hold of the value read last; `why` is a constant.
  void Require(bool holds, const char* why);
  // What whoever understands the value read last says of it: a text with a grammar of its own, or a limit.
  void Refuse(const Error& error);
  bool ok() const { return why_ == nullptr; }
  // That nothing was wrong and nothing is left. The error is `invalid_argument`, its text says what is wrong,
  // `position` where in bytes, and `field` the way to it, as in "items[3].value", unless it is the whole. One that was
  // given to Refuse is as it was, with the `field` before its own; if it has a `position`, that is one in the value.
  Status Finish();

 private:
  // An object or array that is being read.
  struct Scope {
    Scope* outer = nullptr;
    const char* name_at = nullptr;
    std::string_view name;
    size_t index = 0;
    bool is_array = false;
    bool inside = false;  // a value has begun, so that the name or the index is part of the way
  };
  struct ObjectScope : Scope {
    bool Add(std::string_view new_name);  // false if it was there before, as far as can be said at once
    size_t few = 0;
    std::array<std::string_view, kFewNames> first;
    std::vector<std::string_view> more;  // compared among each other when the object ends
  };

  // Both are false, for whoever has to say so.
  bool Fail(const char* why, const char* at);
  // That at the next byte there is something else, or nothing.
  bool FailExpecting(const char* why);
  std::string Path() const;

  // The next byte, or zero at the end, which no rule of the grammar accepts.
  char Front() const { return next_ == end_ ? '\0' : *next_; }
  void SkipSpace();
  bool TakeByte(char byte, const char* why);
  bool TakeWord(std::string_view word);
  // These stand at the opening quote, and move behind the closing one.
  std::string_view TakeText(bool decoded);
  std::string_view TakeEscaped(const char* start, const char* stop, bool decoded);
  // Stands at the backslash; where the escape ends, or null.
  const char* ReadEscape(const char* at, uint32_t* character);
  // The unit of UTF-16 that \uXXXX stands for, or kNoUnit.
  uint32_t ReadUnit(const char* at) const;
  std::string_view TakeNumber();
  // A number that has digits only.
  std::string_view TakeInteger();

  void Begin();
  bool OpenScope(Scope* scope, char bracket, const char* why);
  void CloseScope();
  bool NextField(ObjectScope* scope);
  bool NextElement(Scope* scope);
  void CheckNames(ObjectScope* scope);
  bool TakeValue();
  bool TakeScalar();
  bool TakeFieldName();

  const char* const begin_;
  const char* next_;
  const char* const end_;
  const size_t max_depth_;
  size_t depth_ = 0;
  Scope* scope_ = nullptr;
  const char* value_at_;               // where the value read last began; the end before there was one
  std::unique_ptr<char[]> unescaped_;  // large enough for all texts that are left when the first one needs it
  char* unescaped_end_ = nullptr;
  const char* why_ = nullptr;  // the first thing that was wrong
  size_t where_ = 0;
  std::string path_;
  std::optional<Error> refused_;  // by somebody else, whose error it is
};

template <class OnField>
void JsonReader::Object(OnField&& on_field) {
  ObjectScope scope;
  if (!OpenScope(&scope, '{', "an object was expected")) return;
  while (NextField(&scope)) {
    const char* const before = next_;
    on_field(scope.name);
    if (next_ == before) Skip();
  }
  CloseScope();
}

template <class OnElement>
void JsonReader::Array(OnElement&& on_element) {
  Scope scope;
  scope.is_array = true;
  if (!OpenScope(&scope, '[', "an array was expected")) return;
  while (NextElement(&scope)) {
    const char* const before = next_;
    if constexpr (std::is_invocable_v<OnElement, size_t>) {
      on_element(scope.index);
    } else {
      on_element();
    }
    if (next_ == before) Skip();
  }
  CloseScope();
}

}  // namespace kvarts
