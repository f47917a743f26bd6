// The words of conditions, which are read in any case of letters and written in lower case.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "document/condition.h"

namespace kvarts {

// Names that are written so must be in backquotes, at the beginning of an operand.
inline constexpr std::array<std::string_view, 8> kReservedWords = {"and", "or",   "not",   "between",
                                                                   "in",  "true", "false", "null"};

struct ConditionWord {
  Condition::Kind kind;
  std::string_view word;
};
// Those of two bytes first, since others begin them.
inline constexpr std::array<ConditionWord, 6> kComparisons = {{{Condition::Kind::kNotEqual, "!="},
                                                               {Condition::Kind::kLessOrEqual, "<="},
                                                               {Condition::Kind::kGreaterOrEqual, ">="},
                                                               {Condition::Kind::kEqual, "="},
                                                               {Condition::Kind::kLess, "<"},
                                                               {Condition::Kind::kGreater, ">"}}};
inline constexpr std::array<ConditionWord, 5> kFunctions = {{{Condition::Kind::kExists, "exists"},
                                                             {Condition::Kind::kMissing, "missing"},
                                                             {Condition::Kind::kBeginsWith, "begins_with"},
                                                             {Condition::Kind::kContains, "contains"},
                                                             {Condition::Kind::kType, "type"}}};

constexpr bool IsSameWord(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] - 'A' + 'a') : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

constexpr bool IsReserved(std::string_view name) {
  for (const std::string_view word : kReservedWords) {
    if (IsSameWord(name, word)) return true;
  }
  return false;
}

// Of a comparison; empty for other kinds.
constexpr std::string_view SignOf(Condition::Kind kind) {
  for (const ConditionWord& comparison : kComparisons) {
    if (comparison.kind == kind) return comparison.word;
  }
  return {};
}

constexpr std::string_view FunctionName(Condition::Kind kind) {
  for (const ConditionWord& function : kFunctions) {
    if (function.kind == kind) return function.word;
  }
  return {};
}

constexpr std::optional<Condition::Kind> ParseFunctionName(std::string_view name) {
  for (const ConditionWord& function : kFunctions) {
    if (IsSameWord(name, function.word)) return function.kind;
  }
  return std::nullopt;
}

}  // namespace kvarts
