// The grammar of a namespace's keys: literals and typed fields, such as
//
//   t/<tenant>/case/<case_id>/event/<occurred_at:timestamp>/<event_id>
//
// A literal stands for itself; `\<`, `\>`, `\\` and `\xNN` are bytes that could not stand there otherwise. A field is
// `<name>` or `<name:type>`, with a name of a-z, 0-9 and _ that begins with a letter, and one of the types of
// field_type.h; without one it is text.
//
// - A text field ends before the first byte of the literal that follows, which therefore it cannot contain. One at the
//   end of the grammar goes to the end of the key and must not contain the grammar's delimiter: the first byte of its
//   literals that is no letter, digit, `-` or `_`. So a key with a part too many does not parse.
// - A path field, the last element, is the rest of the key, delimiters included.
// - Fields of either kind have at least one byte. The others have a fixed width, so anything may follow them.
//
// So a key is read from left to right, once, in one way. A grammar is a value; matching is safe from any thread and
// allocates nothing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/catalog/field_type.h"

namespace kvarts {

struct GrammarField {
  std::string name;
  FieldType type;
  friend bool operator==(const GrammarField&, const GrammarField&) = default;
};

// The fields of a key that matched, borrowed from it.
class KeyFields {
 public:
  static constexpr size_t kMaxFields = 16;

  size_t size() const { return size_; }
  BytesView operator[](size_t i) const { return values_[i]; }

 private:
  friend class Grammar;
  std::array<BytesView, kMaxFields> values_;
  size_t size_ = 0;
};

// Why a key does not match. No key that begins with the bytes up to and including the one at `position` does; when that
// is the key's size, the key ends too early.
struct KeyMismatch {
  enum class Why : uint8_t {
    kLiteral,    // another byte than the literal's
    kValue,      // no value of the field's type
    kEmpty,      // a field without a byte
    kDelimiter,  // the delimiter in the text at the end
    kEndsEarly,  // the key ends before the grammar does
    kGoesOn,     // the grammar ends before the key does
  };
  Why why = Why::kLiteral;
  size_t position = 0;
  size_t element = 0;  // of the grammar; their number for kGoesOn
};

class Grammar {
 public:
  static constexpr size_t kMaxTextBytes = 1024;
  static constexpr size_t kMaxNameBytes = 32;

  // `invalid_argument` with the position of what is wrong.
  static Result<Grammar> Parse(std::string_view text);
  // The text that every grammar like this one has: types are left out where they say nothing, escapes where they are
  // not needed.
  std::string ToString() const;

  // `why` is set when it does not match; neither pointer may be null.
  bool Match(BytesView key, KeyFields* fields, KeyMismatch* why) const;
  // What a mismatch expected, for people, and the field it happened in; empty when it was in a literal.
  std::string Expected(const KeyMismatch& why) const;
  std::string_view FieldAt(const KeyMismatch& why) const;
  // From where on, after a key that does not match, the next one may that does. Empty when none can.
  static Bytes SkipBeyond(BytesView key, const KeyMismatch& why);

  // What every key begins with; may be empty.
  const Bytes& literal_prefix() const { return literal_prefix_; }
  const std::vector<GrammarField>& fields() const { return fields_; }
  std::optional<size_t> FieldIndex(std::string_view name) const;
  std::optional<char> delimiter() const { return delimiter_; }

  // Whether some key matches both. Exact but for one thing: days and times are held against each other digit by digit,
  // so grammars that share only keys with a day like 2026-02-31 count as overlapping.
  bool Overlaps(const Grammar& other) const;
  // Whether some key of `other` begins like keys of this one do before the given field, and goes on from there.
  bool SharesLeading(size_t field, const Grammar& other) const;
  // Whether the bytes are exactly what may stand before the given field.
  bool IsLeading(size_t field, BytesView bytes) const;

  // A key taken apart, as far as it matches: every element with its bytes.
  struct Part {
    std::optional<size_t> field;  // nothing for a literal
    size_t position;
    BytesView bytes;
  };
  std::vector<Part> PartsOf(BytesView key) const;

  friend bool operator==(const Grammar& a, const Grammar& b) { return a.elements_ == b.elements_; }

 private:
  struct Element {
    Bytes literal;                // if it is no field
    std::optional<size_t> field;  // in fields_
    FieldType type;
    size_t width = 0;          // of the type
    std::optional<char> stop;  // of a text: what it cannot contain
    bool last = false;
    friend bool operator==(const Element&, const Element&) = default;
  };
  class Parser;
  class Automaton;

  void Finish();
  // Where the element at `at` ends; nothing, and why, when it does not match.
  static std::optional<size_t> MatchOne(const Element& element, BytesView key, size_t at, KeyMismatch* why);
  static std::optional<size_t> MatchText(const Element& element, BytesView key, size_t at, KeyMismatch* why);

  std::vector<Element> elements_;
  std::vector<GrammarField> fields_;
  Bytes literal_prefix_;
  std::optional<char> delimiter_;
};

}  // namespace kvarts
