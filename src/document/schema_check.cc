// How a document is held against a program.
//
// A rule says of a value whether it holds. While that alone is asked, as for anyOf, the first that does not ends it.
// But what the document itself must follow is gone through further, for a failure that begins earlier: a value that
// begins behind the one that is known need not be looked at. So the failure that is told does not depend on the order
// of the schema, and a document without one is gone through once.
//
// Everything that takes time is charged, in steps of about a tenth of a microsecond; what may take long, before it is
// done.
#include "document/schema_check.h"

#include <algorithm>
#include <bit>

#include "document/schema.h"
#include "document/schema_failure.h"
#include "document/schema_format.h"
#include "document/schema_numbers.h"
#include "document/schema_value.h"
#include "encoding/cbor.h"

namespace kvarts {
namespace {

// What a step is enough for.
constexpr uint64_t kValuesSkipped = 16;
constexpr uint64_t kBytesRead = 256;
constexpr uint64_t kZerosOfNumbers = 8;

class Checker {
 public:
  Checker(const SchemaProgram& program, BytesView document) : program_(program), document_(document) {}

  Status Run() {
    Follows(0, document_);
    if (failure_.at != nullptr) return ErrorOf(program_, document_, failure_);
    if (!exceeded_) return {};
    return Error(ErrorCode::kTooLarge, "the row takes too much work to be checked against its schema",
                 {{"limit", exceeded_}, {"at_most", std::to_string(at_most_)}});
  }

 private:
  bool Follows(uint32_t node, BytesView from);
  // The same, without telling why not.
  bool WouldFollow(uint32_t node, BytesView from);
  // By the kind of values that a rule is for.
  bool Holds(const SchemaRule& rule, const SchemaValue& value);
  bool HoldsOfAny(const SchemaRule& rule, const SchemaValue& value);
  bool HoldsOfNumber(const SchemaRule& rule, const Decimal& number);
  bool HoldsOfText(const SchemaRule& rule, const SchemaValue& value);
  bool HoldsOfMap(const SchemaRule& rule, const SchemaValue& map);
  bool HoldsOfElements(const SchemaRule& rule, const SchemaValue& several);

  bool IsOneOf(const SchemaRule& rule, BytesView from);
  bool AllFollow(std::span<const uint32_t> nodes, BytesView from);
  uint64_t CountFollowed(const SchemaRule& rule, BytesView from, uint64_t at_most);
  bool Has(const SchemaValue& map, std::string_view name);
  bool HasAll(const SchemaRule& rule, const SchemaValue& map, uint32_t from);
  bool NamesFollow(const SchemaRule& rule, const SchemaValue& map);
  bool FieldsFollow(const SchemaProgram::Fields& fields, const SchemaValue& map);
  bool ElementsFollow(const SchemaRule& rule, const SchemaValue& several);
  bool PrefixFollows(const SchemaRule& rule, const SchemaValue& list);
  // Counts up to so many.
  uint64_t CountMatching(uint32_t node, const SchemaValue& several, uint64_t at_most);
  bool AreUnique(const SchemaRule& rule, const SchemaValue& list);

  // on_field(name, from) and on_element(index, from) until one says false, or there is no more work to be had.
  template <class OnField>
  void EachField(const SchemaValue& map, OnField on_field);
  template <class OnElement>
  void EachElement(const SchemaValue& several, OnElement on_element);

  // False when it is more than is left, and then always.
  bool Charge(uint64_t steps);
  // That a rule does not hold of a value: false.
  bool Fail(const SchemaRule& rule, BytesView from, uint32_t name = 0);
  void Exceed(const char* limit, uint64_t at_most) {
    exceeded_ = limit;
    at_most_ = at_most;
  }

  const SchemaProgram& program_;
  const BytesView document_;
  uint64_t steps_left_ = DocumentSchema::kMaxSteps;
  size_t depth_ = 0;
  bool telling_ = true;
  SchemaFailure failure_;
  const char* exceeded_ = nullptr;  // the limit
  uint64_t at_most_ = 0;
};

bool Checker::Charge(uint64_t steps) {
  if (exceeded_ != nullptr) return false;
  if (steps > steps_left_) {
    Exceed("max_schema_steps", DocumentSchema::kMaxSteps);
    return false;
  }
  steps_left_ -= steps;
  return true;
}

bool Checker::Fail(const SchemaRule& rule, BytesView from, uint32_t name) {
  // Where work has ended nothing is known.
  if (!telling_ || exceeded_ != nullptr) return false;
  if (failure_.at == nullptr || from.data() < failure_.at) failure_ = {from.data(), &rule, name};
  return false;
}

template <class OnField>
void Checker::EachField(const SchemaValue& map, OnField on_field) {
  BytesView rest = map.from;
  for (uint64_t left = TakeCount(&rest); left != 0 && Charge(1); --left) {
    const std::string_view name = cbor::TakeString(&rest);
    if (!on_field(name, rest)) return;
    if (left > 1) Charge(SkipCounting(&rest) / kValuesSkipped);
  }
}

template <class OnElement>
void Checker::EachElement(const SchemaValue& several, OnElement on_element) {
  BytesView rest = several.from;
  const uint64_t count = TakeCount(&rest);
  for (uint64_t i = 0; i < count && Charge(1); ++i) {
    if (!on_element(i, rest)) return;
    if (i + 1 < count) Charge(SkipCounting(&rest) / kValuesSkipped);
  }
}

bool Checker::Follows(uint32_t node, BytesView from) {
  // What begins behind a failure is none that comes first.
  if (telling_ && failure_.at != nullptr && from.data() >= failure_.at) return false;
  if (depth_ == DocumentSchema::kMaxCheckDepth) Exceed("max_schema_check_depth", DocumentSchema::kMaxCheckDepth);
  if (!Charge(1)) return false;
  ++depth_;
  const SchemaValue value(from);
  bool all = true;
  for (const SchemaRule& rule : program_.RulesOf(node)) {
    if (Charge(1) && Holds(rule, value)) continue;
    all = false;
    if (!telling_ || exceeded_ != nullptr) break;
  }
  --depth_;
  return all;
}

bool Checker::WouldFollow(uint32_t node, BytesView from) {
  const bool telling = telling_;
  telling_ = false;
  const bool follows = Follows(node, from);
  telling_ = telling;
  return follows;
}

bool Checker::Holds(const SchemaRule& rule, const SchemaValue& value) {
  using enum SchemaKeyword;
  switch (rule.keyword) {
    case kMinimum:
    case kMaximum:
    case kExclusiveMinimum:
    case kExclusiveMaximum:
    case kMultipleOf:
      if (value.kind != DocumentKind::kNumber) return true;
      return HoldsOfNumber(rule, value.view().Number()) || Fail(rule, value.from);
    case kMinLength:
    case kMaxLength:
    case kPattern:
    case kFormat:
      return HoldsOfText(rule, value) || Fail(rule, value.from);
    case kMinProperties:
    case kMaxProperties:
    case kRequired:
    case kDependentRequired:
    case kDependentSchemas:
    case kPropertyNames:
    case kProperties:
      return value.kind != DocumentKind::kMap || HoldsOfMap(rule, value);
    case kMinItems:
    case kMaxItems:
    case kPrefixItems:
    case kItems:
    case kContains:
    case kMinContains:
    case kMaxContains:
    case kUniqueItems:
      return !value.HasElements() || HoldsOfElements(rule, value);
    default:
      return HoldsOfAny(rule, value);
  }
}

bool Checker::HoldsOfAny(const SchemaRule& rule, const SchemaValue& value) {
  using enum SchemaKeyword;
  const std::span children = program_.children;
  switch (rule.keyword) {
    case kType:
      return (value.Types() & rule.a) != 0 || Fail(rule, value.from);
    case kConst:
    case kEnum:
      return IsOneOf(rule, value.from) || Fail(rule, value.from);
    case kRef:
      return Follows(rule.a, value.from);
    case kAllOf:
      return AllFollow(children.subspan(rule.a, rule.b - rule.a), value.from);
    case kAnyOf:
      return CountFollowed(rule, value.from, 1) == 1 || Fail(rule, value.from);
    case kOneOf:
      return CountFollowed(rule, value.from, 2) == 1 || Fail(rule, value.from);
    case kNot:
      return !WouldFollow(rule.a, value.from) || Fail(rule, value.from);
    case kIf: {
      const uint32_t next = children[WouldFollow(children[rule.a], value.from) ? rule.a + 1 : rule.a + 2];
      return next == kNoNode || Follows(next, value.from);
    }
    default:
      return Fail(rule, value.from);
  }
}

// An encoding does not begin with another one. So if a value is in a list that is sorted, it is the last one that is
// not behind it, and it need not be known where the value ends.
bool Checker::IsOneOf(const SchemaRule& rule, BytesView from) {
  const auto begin = program_.values.begin() + rule.a;
  const auto end = rule.keyword == SchemaKeyword::kConst ? begin + 1 : program_.values.begin() + rule.b;
  const auto behind = std::upper_bound(begin, end, from);
  return behind != begin && Charge(std::prev(behind)->size() / kBytesRead) && from.starts_with(*std::prev(behind));
}

bool Checker::AllFollow(std::span<const uint32_t> nodes, BytesView from) {
  bool all = true;
  for (const uint32_t node : nodes) {
    all = Follows(node, from) && all;
    if (!all && !telling_) return false;
  }
  return all;
}

uint64_t Checker::CountFollowed(const SchemaRule& rule, BytesView from, uint64_t at_most) {
  uint64_t count = 0;
  for (uint32_t i = rule.a; i < rule.b && count < at_most; ++i) {
    if (WouldFollow(program_.children[i], from)) ++count;
  }
  return count;
}

bool Checker::HoldsOfNumber(const SchemaRule& rule, const Decimal& number) {
  const Decimal& bound = program_.numbers[rule.a];
  switch (rule.keyword) {
    case SchemaKeyword::kMinimum:
      return number >= bound;
    case SchemaKeyword::kMaximum:
      return number <= bound;
    case SchemaKeyword::kExclusiveMinimum:
      return number > bound;
    case SchemaKeyword::kExclusiveMaximum:
      return number < bound;
    default:
      return Charge(static_cast<uint64_t>(std::abs(number.exponent() - bound.exponent())) / kZerosOfNumbers) &&
             IsMultiple(number, bound);
  }
}

bool Checker::HoldsOfText(const SchemaRule& rule, const SchemaValue& value) {
  const bool is_text = value.kind == DocumentKind::kText;
  if (!is_text && value.kind != DocumentKind::kBinary) return true;
  const std::string_view text = value.view().Text();
  const auto length = [&] { return is_text ? CountCharacters(text) : text.size(); };
  if (!Charge(text.size() / kBytesRead)) return false;
  switch (rule.keyword) {
    case SchemaKeyword::kMinLength:
      return length() >= rule.a;
    case SchemaKeyword::kMaxLength:
      return length() <= rule.a;
    case SchemaKeyword::kPattern: {
      const Regex& pattern = program_.patterns[rule.a];
      return !is_text || (Charge(pattern.Steps(text)) && pattern.IsIn(text));
    }
    default:
      return !is_text || HasFormat(static_cast<SchemaFormat>(rule.a), text);
  }
}

bool Checker::HoldsOfMap(const SchemaRule& rule, const SchemaValue& map) {
  switch (rule.keyword) {
    case SchemaKeyword::kMinProperties:
      return map.view().size() >= rule.a || Fail(rule, map.from);
    case SchemaKeyword::kMaxProperties:
      return map.view().size() <= rule.a || Fail(rule, map.from);
    case SchemaKeyword::kRequired:
      return HasAll(rule, map, rule.a);
    case SchemaKeyword::kDependentRequired:
      return !Has(map, program_.names[rule.a]) || HasAll(rule, map, rule.a + 1);
    case SchemaKeyword::kDependentSchemas: {
      bool all = true;
      for (uint32_t i = rule.a; i < rule.b && (all || telling_); ++i) {
        const SchemaProgram::Named& named = program_.named[i];
        if (Has(map, named.name) && !Follows(named.node, map.from)) all = false;
      }
      return all;
    }
    case SchemaKeyword::kPropertyNames:
      return NamesFollow(rule, map);
    default:
      return FieldsFollow(program_.fields[rule.a], map);
  }
}

bool Checker::Has(const SchemaValue& map, std::string_view name) {
  bool found = false;
  EachField(map, [&](std::string_view field, BytesView) {
    const std::strong_ordering order = CompareNames(field, name);
    found = order == 0;
    return order < 0;
  });
  return found;
}

// The names are in the order of fields.
bool Checker::HasAll(const SchemaRule& rule, const SchemaValue& map, uint32_t from) {
  uint32_t next = from;
  EachField(map, [&](std::string_view field, BytesView) {
    const std::strong_ordering order =
        next < rule.b ? CompareNames(field, program_.names[next]) : std::strong_ordering::greater;
    if (order == 0) ++next;
    return order <= 0;
  });
  return next == rule.b || Fail(rule, map.from, next);
}

bool Checker::NamesFollow(const SchemaRule& rule, const SchemaValue& map) {
  bool all = true;
  Bytes text;
  EachField(map, [&](std::string_view name, BytesView from) {
    if (!Charge(name.size() / kBytesRead)) return false;
    text.clear();
    cbor::AppendHead(&text, cbor::Major::kText, name.size());
    text.append(name);
    all = WouldFollow(rule.a, text) || Fail(rule, from);
    return all;
  });
  return all;
}

bool Checker::FieldsFollow(const SchemaProgram::Fields& fields, const SchemaValue& map) {
  bool all = true;
  auto next = program_.named.begin() + fields.from;
  const auto end = program_.named.begin() + fields.to;
  EachField(map, [&](std::string_view name, BytesView from) {
    const auto before = [](const SchemaProgram::Named& one, std::string_view other) {
      return NameIsBefore(one.name, other);
    };
    next = std::lower_bound(next, end, name, before);
    bool known = next != end && next->name == name;
    if (known) all = Follows(next->node, from) && all;
    for (const SchemaProgram::OfPattern& one : fields.patterns) {
      const Regex& pattern = program_.patterns[one.pattern];
      if (!Charge(pattern.Steps(name))) return false;
      if (!pattern.IsIn(name)) continue;
      known = true;
      all = Follows(one.node, from) && all;
    }
    if (!known && fields.additional != kNoNode) all = Follows(fields.additional, from) && all;
    return all;
  });
  return all;
}

bool Checker::HoldsOfElements(const SchemaRule& rule, const SchemaValue& several) {
  switch (rule.keyword) {
    case SchemaKeyword::kMinItems:
      return several.view().size() >= rule.a || Fail(rule, several.from);
    case SchemaKeyword::kMaxItems:
      return several.view().size() <= rule.a || Fail(rule, several.from);
    case SchemaKeyword::kPrefixItems:
      return several.IsSet() || PrefixFollows(rule, several);
    case SchemaKeyword::kItems:
      return ElementsFollow(rule, several);
    case SchemaKeyword::kContains:
      return CountMatching(rule.a, several, 1) == 1 || Fail(rule, several.from);
    case SchemaKeyword::kMinContains:
      return CountMatching(rule.a, several, rule.b) == rule.b || Fail(rule, several.from);
    case SchemaKeyword::kMaxContains:
      return CountMatching(rule.a, several, uint64_t{rule.b} + 1) <= rule.b || Fail(rule, several.from);
    default:
      return several.IsSet() || AreUnique(rule, several);
  }
}

// A failure ends it: what comes behind is none that begins earlier.
bool Checker::ElementsFollow(const SchemaRule& rule, const SchemaValue& several) {
  const uint64_t first = several.IsSet() ? 0 : rule.b;
  bool all = true;
  EachElement(several, [&](uint64_t index, BytesView from) {
    if (index >= first) all = Follows(rule.a, from);
    return all;
  });
  return all;
}

bool Checker::PrefixFollows(const SchemaRule& rule, const SchemaValue& list) {
  bool all = true;
  EachElement(list, [&](uint64_t index, BytesView from) {
    if (index == rule.b - rule.a) return false;
    all = Follows(program_.children[rule.a + index], from);
    return all;
  });
  return all;
}

uint64_t Checker::CountMatching(uint32_t node, const SchemaValue& several, uint64_t at_most) {
  uint64_t count = 0;
  EachElement(several, [&](uint64_t, BytesView from) {
    if (WouldFollow(node, from)) ++count;
    return count < at_most;
  });
  return count;
}

// Equal elements are neighbours when they are sorted, the earlier first.
bool Checker::AreUnique(const SchemaRule& rule, const SchemaValue& list) {
  std::vector<BytesView> elements;
  EachElement(list, [&](uint64_t, BytesView from) {
    BytesView behind = from;
    const uint64_t values = SkipCounting(&behind);
    elements.push_back(from.substr(0, from.size() - behind.size()));
    return Charge(values / kValuesSkipped + elements.back().size() / kBytesRead);
  });
  const uint64_t count = elements.size();
  if (!Charge(count * static_cast<uint64_t>(std::bit_width(count)) / 4)) return false;
  std::ranges::sort(elements, [](BytesView a, BytesView b) {
    const int order = a.compare(b);
    return order != 0 ? order < 0 : a.data() < b.data();
  });
  BytesView repeated;
  for (size_t i = 1; i < count; ++i) {
    if (elements[i] != elements[i - 1]) continue;
    if (repeated.empty() || elements[i].data() < repeated.data()) repeated = elements[i];
  }
  return repeated.empty() || Fail(rule, repeated);
}

}  // namespace

Status CheckAgainst(const SchemaProgram& program, BytesView document) { return Checker(program, document).Run(); }

}  // namespace kvarts
