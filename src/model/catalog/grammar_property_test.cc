// Properties of grammars, over made-up ones.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model/catalog/grammar.h"

namespace kvarts {
namespace {

FieldType AnyType(bool last) {
  const int kind = *rc::gen::inRange(0, 9);
  FieldType type{static_cast<FieldKind>(kind), 0};
  if (type.kind == FieldKind::kPath && !last) type.kind = FieldKind::kText;
  if (type.kind == FieldKind::kInt) type.digits = static_cast<uint8_t>(*rc::gen::inRange(1, 20));
  if (type.kind == FieldKind::kHex) type.digits = static_cast<uint8_t>(*rc::gen::inRange(1, 40));
  return type;
}

Bytes AnyBytes(int at_least, int at_most, const Bytes& of) {
  Bytes bytes;
  const int size = *rc::gen::inRange(at_least, at_most + 1);
  for (int i = 0; i < size; ++i)
    bytes.push_back(of[static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(of.size())))]);
  return bytes;
}

Timestamp AnyTime() { return {*rc::gen::inRange<uint64_t>(0, kLastTimestamp.micros)}; }

// A grammar, and what to make keys of it from.
struct Made {
  struct Piece {
    Bytes literal;  // empty: a field
    FieldType type;
  };
  std::vector<Piece> pieces;
  Grammar grammar;
};

Made AnyGrammar() {
  Made made;
  std::string text;
  const int fields = *rc::gen::inRange(1, 6);
  for (int i = 0; i < fields; ++i) {
    const bool may_touch = made.pieces.empty() || made.pieces.back().type.width() != 0;
    const Bytes literal = AnyBytes(may_touch ? 0 : 1, 4, Bytes("/:#abT-0<>\\\0\xff", 13));
    if (!literal.empty()) {
      made.pieces.push_back({literal, {}});
      for (const char c : literal) text += c == '<' || c == '>' ? std::string("\\") + c : Escaped({&c, 1});
    }
    const FieldType type = AnyType(i + 1 == fields);
    made.pieces.push_back({{}, type});
    text += "<f" + std::to_string(i) + ":" + type.ToString() + ">";
  }
  const auto grammar = Grammar::Parse(text);
  RC_ASSERT(grammar.has_value());
  made.grammar = *grammar;
  return made;
}

Bytes AnyValue(const Made& made, size_t i) {
  const FieldType type = made.pieces[i].type;
  if (type.IsTime()) return type.ValueAt(AnyTime());
  Bytes value;
  for (size_t at = 0; at < type.width(); ++at) {
    const char pattern = type.Pattern()[at];
    value += pattern == 'd'   ? AnyBytes(1, 1, "0123456789")
             : pattern == 'x' ? AnyBytes(1, 1, "0123456789abcdef")
                              : Bytes(1, pattern);
  }
  if (type.width() != 0) return value;
  Bytes alphabet("/:#abT-09z\0\xff", 12);
  const bool last = i + 1 == made.pieces.size();
  if (type.kind == FieldKind::kText && !last) std::erase(alphabet, made.pieces[i + 1].literal.front());
  if (type.kind == FieldKind::kText && last && made.grammar.delimiter())
    std::erase(alphabet, *made.grammar.delimiter());
  return AnyBytes(1, 6, alphabet);
}

Bytes AnyKey(const Made& made, std::vector<Bytes>* values) {
  Bytes key;
  for (size_t i = 0; i < made.pieces.size(); ++i) {
    if (!made.pieces[i].literal.empty()) {
      key += made.pieces[i].literal;
      continue;
    }
    values->push_back(AnyValue(made, i));
    key += values->back();
  }
  return key;
}

RC_GTEST_PROP(GrammarPropertyTest, PrintsWhatParsesToTheSame, ()) {
  const Made made = AnyGrammar();
  const auto again = Grammar::Parse(made.grammar.ToString());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == made.grammar);
  RC_ASSERT(again->ToString() == made.grammar.ToString());
}

RC_GTEST_PROP(GrammarPropertyTest, ReadsBackTheFieldsThatAKeyWasMadeOf, ()) {
  const Made made = AnyGrammar();
  std::vector<Bytes> values;
  const Bytes key = AnyKey(made, &values);
  KeyFields fields;
  KeyMismatch why;
  RC_ASSERT(made.grammar.Match(key, &fields, &why));
  RC_ASSERT(fields.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) RC_ASSERT(fields[i] == values[i]);
  RC_ASSERT(key.starts_with(made.grammar.literal_prefix()));
}

// Whatever is between a key that does not match and where the next may, does not match either.
RC_GTEST_PROP(GrammarPropertyTest, NothingThatIsSkippedMatches, ()) {
  const Made made = AnyGrammar();
  std::vector<Bytes> values;
  Bytes broken = AnyKey(made, &values);
  broken[static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(broken.size())))] =
      AnyBytes(1, 1, "/:#a0z9")[0];
  broken.resize(static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(broken.size()) + 1)));
  KeyFields fields;
  KeyMismatch why;
  if (made.grammar.Match(broken, &fields, &why)) return;
  RC_ASSERT(why.position <= broken.size());
  const Bytes next = Grammar::SkipBeyond(broken, why);
  RC_ASSERT(next.empty() || next > broken);
  std::vector<Bytes> others;
  const Bytes key = AnyKey(made, &others);
  RC_ASSERT(!(key >= broken && (next.empty() || key < next)));
}

RC_GTEST_PROP(GrammarPropertyTest, AKeyOfBothIsAnOverlap, ()) {
  const Made a = AnyGrammar();
  const Made b = AnyGrammar();
  std::vector<Bytes> values;
  const Bytes key = AnyKey(a, &values);
  KeyFields fields;
  KeyMismatch why;
  if (b.grammar.Match(key, &fields, &why)) RC_ASSERT(a.grammar.Overlaps(b.grammar));
  RC_ASSERT(a.grammar.Overlaps(a.grammar));
  RC_ASSERT(a.grammar.Overlaps(b.grammar) == b.grammar.Overlaps(a.grammar));
}

RC_GTEST_PROP(GrammarPropertyTest, TimesAreInTheOrderOfTheirBytes, ()) {
  const Timestamp a = AnyTime();
  const Timestamp b = AnyTime();
  const std::pair<FieldKind, uint64_t> units[] = {{FieldKind::kDate, 86'400'000'000},
                                                  {FieldKind::kTimestamp, 1'000'000},
                                                  {FieldKind::kTimestampMs, 1000},
                                                  {FieldKind::kTimestampUs, 1}};
  for (const auto& [kind, micros] : units) {
    const FieldType type{kind, 0};
    RC_ASSERT(type.Check(type.ValueAt(a)).ok);
    RC_ASSERT((type.ValueAt(a) < type.ValueAt(b)) == (a.micros / micros < b.micros / micros));
  }
}

}  // namespace
}  // namespace kvarts
