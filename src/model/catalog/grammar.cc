#include "model/catalog/grammar.h"

#include <algorithm>
#include <cstring>

namespace kvarts {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// A literal as the text of a grammar has it.
std::string LiteralText(BytesView literal) {
  std::string text;
  for (const char c : literal) {
    if (c == '<' || c == '>') text.push_back('\\');
    text += c == '<' || c == '>' ? std::string(1, c) : Escaped({&c, 1});
  }
  return text;
}

}  // namespace

std::string Grammar::ToString() const {
  std::string text;
  for (const Element& element : elements_) {
    if (!element.field) {
      text += LiteralText(element.literal);
      continue;
    }
    const GrammarField& field = fields_[*element.field];
    text += "<" + field.name;
    if (field.type.kind != FieldKind::kText) text += ":" + field.type.ToString();
    text += ">";
  }
  return text;
}

void Grammar::Finish() {
  if (!elements_.front().field) literal_prefix_ = elements_.front().literal;
  for (const Element& element : elements_) {
    for (const char c : element.literal) {
      if (!delimiter_ && !IsWordByte(c)) delimiter_ = c;
    }
  }
  elements_.back().last = true;
  for (size_t i = 0; i < elements_.size(); ++i) {
    Element& element = elements_[i];
    if (!element.field || element.type.kind != FieldKind::kText) continue;
    element.stop = element.last ? delimiter_ : elements_[i + 1].literal.front();
  }
}

std::optional<size_t> Grammar::MatchText(const Element& element, BytesView key, size_t at, KeyMismatch* why) {
  using Why = KeyMismatch::Why;
  const size_t stop = element.stop ? key.find(*element.stop, at) : key.npos;
  const bool stopped = stop != key.npos;
  if (at < key.size() && stopped != element.last && stop != at) return std::min(stop, key.size());
  why->position = std::min(stop, key.size());
  why->why = !stopped ? Why::kEndsEarly : element.last ? Why::kDelimiter : Why::kEmpty;
  return std::nullopt;
}

std::optional<size_t> Grammar::MatchOne(const Element& element, BytesView key, size_t at, KeyMismatch* why) {
  using Why = KeyMismatch::Why;
  const BytesView rest = key.substr(at);
  if (!element.field) {
    if (rest.starts_with(element.literal)) return at + element.literal.size();
    const auto differ = std::ranges::mismatch(rest, element.literal);
    why->position = at + static_cast<size_t>(differ.in1 - rest.begin());
    why->why = why->position == key.size() ? Why::kEndsEarly : Why::kLiteral;
    return std::nullopt;
  }
  if (element.width == 0) return MatchText(element, key, at, why);
  const FieldType::Checked checked = element.type.Check(rest);
  if (checked.ok) return at + element.width;
  why->position = at + checked.good;
  why->why = why->position == key.size() ? Why::kEndsEarly : Why::kValue;
  return std::nullopt;
}

bool Grammar::Match(BytesView key, KeyFields* fields, KeyMismatch* why) const {
  size_t at = 0;
  fields->size_ = 0;
  for (size_t i = 0; i < elements_.size(); ++i) {
    const Element& element = elements_[i];
    const std::optional<size_t> end = MatchOne(element, key, at, why);
    if (!end) {
      why->element = i;
      return false;
    }
    if (element.field) fields->values_[fields->size_++] = key.substr(at, *end - at);
    at = *end;
  }
  if (at == key.size()) return true;
  *why = {KeyMismatch::Why::kGoesOn, at, elements_.size()};
  return false;
}

std::string Grammar::Expected(const KeyMismatch& why) const {
  using Why = KeyMismatch::Why;
  if (why.why == Why::kGoesOn) return "the end of the key";
  const Element& element = elements_[why.element];
  if (!element.field) return "\"" + Escaped(element.literal) + "\"";
  std::string expected = element.type.Expected();
  if (element.stop) expected += " other than \"" + Escaped({&*element.stop, 1}) + "\"";
  if (element.stop && why.why == Why::kEndsEarly && !element.last) {
    expected += ", and then \"" + Escaped(elements_[why.element + 1].literal) + "\"";
  }
  return expected;
}

std::string_view Grammar::FieldAt(const KeyMismatch& why) const {
  if (why.element >= elements_.size() || !elements_[why.element].field) return {};
  return fields_[*elements_[why.element].field].name;
}

Bytes Grammar::SkipBeyond(BytesView key, const KeyMismatch& why) {
  return why.position < key.size() ? PrefixEnd(key.substr(0, why.position + 1)) : KeyAfter(key);
}

std::optional<size_t> Grammar::FieldIndex(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &GrammarField::name);
  if (found == fields_.end()) return std::nullopt;
  return static_cast<size_t>(found - fields_.begin());
}

bool Grammar::IsLeading(size_t field, BytesView bytes) const {
  size_t at = 0;
  KeyMismatch why;
  for (const Element& element : elements_) {
    if (element.field == field) return at == bytes.size();
    const std::optional<size_t> end = MatchOne(element, bytes, at, &why);
    if (!end) return false;
    at = *end;
  }
  return false;
}

std::vector<Grammar::Part> Grammar::PartsOf(BytesView key) const {
  std::vector<Part> parts;
  size_t at = 0;
  KeyMismatch why;
  for (const Element& element : elements_) {
    const std::optional<size_t> end = MatchOne(element, key, at, &why);
    if (!end) break;
    parts.push_back({element.field, at, key.substr(at, *end - at)});
    at = *end;
  }
  return parts;
}

}  // namespace kvarts
