// The keywords that say something about a value itself, without another schema.
#include <algorithm>

#include "document/schema.h"
#include "document/schema_format.h"
#include "document/schema_numbers.h"
#include "document/schema_parser.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

uint32_t Size32(const auto& list) { return static_cast<uint32_t>(list.size()); }

}  // namespace

void SchemaParser::ReadType(Draft& draft, SchemaKeyword keyword) {
  constexpr const char* kWhy =
      "a type is null, boolean, integer, number, string, array, object, binary or set, or a list of these, none twice";
  uint32_t types = 0;
  const auto read = [&] {
    if (!IsNext(JsonKind::kText, draft, keyword, kWhy)) return;
    const auto* const found = std::ranges::find(kSchemaTypeNames, json_.Text());
    const uint32_t bit =
        found == kSchemaTypeNames.end() ? 0 : TypeBit(static_cast<SchemaType>(found - kSchemaTypeNames.begin()));
    if (bit == 0 || (types & bit) != 0) Refuse(draft.node, keyword, kWhy);
    types |= bit;
  };
  if (json_.Peek() == JsonKind::kArray) {
    json_.Array(read);
  } else {
    read();
  }
  if (types == 0) Refuse(draft.node, keyword, kWhy);
  draft.Add(keyword, types);
}

uint32_t SchemaParser::Value(const Draft& draft, SchemaKeyword keyword) {
  const std::string_view text = json_.Raw();
  if (!json_.ok()) return 0;
  Result<Bytes> value = DocumentFromJson(text);
  if (value.has_value()) {
    program_.values.push_back(*std::move(value));
  } else {
    Refuse(draft.node, keyword, value.error().text().data());  // a constant
  }
  return Size32(program_.values) - 1;
}

void SchemaParser::ReadValues(Draft& draft, SchemaKeyword keyword) {
  if (keyword == SchemaKeyword::kConst) return draft.Add(keyword, Value(draft, keyword));
  constexpr const char* kWhy = "an enum is a list of values, one at least";
  if (!IsNext(JsonKind::kArray, draft, keyword, kWhy)) return;
  const uint32_t from = Size32(program_.values);
  json_.Array([&] { Value(draft, keyword); });
  if (Size32(program_.values) == from) Refuse(draft.node, keyword, kWhy);
  std::sort(program_.values.begin() + from, program_.values.end());
  draft.Add(keyword, from, Size32(program_.values));
}

void SchemaParser::ReadNumber(Draft& draft, SchemaKeyword keyword) {
  if (!IsNext(JsonKind::kNumber, draft, keyword, "a number was expected")) return;
  const Result<Decimal> number = Decimal::Parse(json_.Number());
  if (!json_.ok()) return;
  if (!number.has_value()) return Refuse(draft.node, keyword, number.error().text().data());  // a constant
  if (keyword == SchemaKeyword::kMultipleOf && (number->IsZero() || number->IsNegative())) {
    return Refuse(draft.node, keyword, "multipleOf is more than 0");
  }
  draft.Add(keyword, Size32(program_.numbers));
  program_.numbers.push_back(*number);
}

void SchemaParser::ReadCount(Draft& draft, SchemaKeyword keyword) {
  constexpr const char* kWhy = "a count is a whole number from 0 on";
  if (!IsNext(JsonKind::kNumber, draft, keyword, kWhy)) return;
  const Result<Decimal> number = Decimal::Parse(json_.Number());
  if (!json_.ok()) return;
  if (!number.has_value() || number->IsNegative() || !IsWhole(*number)) return Refuse(draft.node, keyword, kWhy);
  // No document has as many of anything.
  constexpr int64_t kMost = UINT32_MAX;
  const auto count = static_cast<uint32_t>(std::min(number->ToInt().value_or(kMost), kMost));
  if (keyword == SchemaKeyword::kMinContains) {
    draft.min_contains = count;
  } else if (keyword == SchemaKeyword::kMaxContains) {
    draft.max_contains = count;
  } else {
    draft.Add(keyword, count);
  }
}

uint32_t SchemaParser::Pattern(const Draft& draft, SchemaKeyword keyword, std::string_view text) {
  const auto known = std::ranges::find(program_.patterns, text, &Regex::text);
  const auto index = static_cast<uint32_t>(known - program_.patterns.begin());
  if (known != program_.patterns.end()) return index;
  const std::string pointer = program_.PointerTo(draft.node, KeywordName(keyword));
  if (index == DocumentSchema::kMaxPatterns) {
    Exceeded("the schema has too many regular expressions", "max_schema_patterns", index, pointer);
    return 0;
  }
  Result<Regex> regex = Regex::Compile(text);
  if (regex.has_value()) {
    program_.patterns.push_back(*std::move(regex));
  } else if (const Error& why = regex.error(); why.code() == ErrorCode::kTooLarge) {
    Exceeded(why.text().data(), "max_pattern_bytes", Regex::kMaxPatternBytes, pointer);  // a constant
  } else {
    Refuse(Error(why.code(), why.text().data(),
                 {{"keyword", std::string(KeywordName(keyword))},
                  {"schema_path", pointer},
                  {"pattern", std::string(why.field("pattern"))},
                  {"why", std::string(why.field("why"))}}));
  }
  return index;
}

void SchemaParser::ReadPattern(Draft& draft, SchemaKeyword keyword) {
  if (!IsNext(JsonKind::kText, draft, keyword, "a regular expression was expected")) return;
  const std::string_view text = json_.Text();
  if (json_.ok()) draft.Add(keyword, Pattern(draft, keyword, text));
}

void SchemaParser::ReadFormat(Draft& draft, SchemaKeyword keyword) {
  constexpr const char* kWhy = "a format is date-time, date, time, email, uuid, uri, ipv4, ipv6 or hostname";
  if (!IsNext(JsonKind::kText, draft, keyword, kWhy)) return;
  const std::optional<SchemaFormat> format = FormatNamed(json_.Text());
  if (!format) return Refuse(draft.node, keyword, kWhy);
  draft.Add(keyword, static_cast<uint32_t>(*format));
}

void SchemaParser::ReadFlag(Draft& draft, SchemaKeyword keyword) {
  if (!IsNext(JsonKind::kBool, draft, keyword, "true or false was expected")) return;
  if (json_.Bool()) draft.Add(keyword);
}

uint32_t SchemaParser::ReadNames(const Draft& draft, SchemaKeyword keyword) {
  constexpr const char* kWhy = "a list of names was expected, none twice";
  const uint32_t from = Size32(program_.names);
  if (!IsNext(JsonKind::kArray, draft, keyword, kWhy)) return from;
  json_.Array([&] {
    if (IsNext(JsonKind::kText, draft, keyword, kWhy)) program_.names.emplace_back(json_.Text());
  });
  const auto begin = program_.names.begin() + from;
  std::sort(begin, program_.names.end(), NameIsBefore);
  if (std::adjacent_find(begin, program_.names.end()) != program_.names.end()) Refuse(draft.node, keyword, kWhy);
  return from;
}

void SchemaParser::ReadRequired(Draft& draft, SchemaKeyword keyword) {
  const uint32_t from = ReadNames(draft, keyword);
  if (Size32(program_.names) > from) draft.Add(keyword, from, Size32(program_.names));
}

void SchemaParser::ReadDependentRequired(Draft& draft, SchemaKeyword keyword) {
  if (!IsNext(JsonKind::kObject, draft, keyword, "an object of lists of names was expected")) return;
  json_.Object([&](std::string_view name) {
    program_.names.emplace_back(name);
    const uint32_t from = ReadNames(draft, keyword);
    draft.Add(keyword, from - 1, Size32(program_.names));
  });
}

}  // namespace kvarts
