#include "cli/error_text.h"

#include <algorithm>
#include <array>

#include "cli/problem.h"

namespace kvarts::cli {
namespace {

// What the error is about: stands right behind the text.
constexpr std::array<std::string_view, 6> kSubjects = {"path", "option", "command", "word", "key", "argument"};
// These have a place of their own.
constexpr std::array<std::string_view, 5> kPlaced = {"cause", "nearest", "usage", "problems", kSentProblem};

template <size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Causes come from elsewhere, and may have lines.
std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, text.find_last_not_of(" \n") + 1));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// A list, a line for each.
std::string Indented(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    out.append(out.empty() ? "  " : "\n  ").append(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

void AppendIfAny(std::string* out, std::string_view before, std::string_view text, std::string_view after = {}) {
  if (text.empty()) return;
  out->append(before).append(text).append(after);
}

}  // namespace

std::string ErrorText(const Error& error) {
  std::string out(error.text());
  std::string facts;
  for (const auto& [name, value] : error.fields()) {
    if (IsOneOf(kSubjects, name)) {
      AppendIfAny(&out, ": ", value);
    } else if (!IsOneOf(kPlaced, name)) {
      std::string words(name);
      std::ranges::replace(words, '_', ' ');
      facts.append(facts.empty() ? "" : ", ").append(words).append(" ").append(value);
    }
  }
  AppendIfAny(&out, " (", facts, ")");
  AppendIfAny(&out, "; ", OneLine(error.field("cause")));
  AppendIfAny(&out, "; did you mean ", error.field("nearest"), "?");
  AppendIfAny(&out, "; usage: ", error.field("usage"));
  AppendIfAny(&out, ":\n", Indented(error.field("problems")));
  return out;
}

std::string_view ErrorAdvice(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kUnknownOutcome:
      return "It may or may not be there: read before trying again.";
    case ErrorCode::kCorruption:
      return "Keep a copy of the data as they are. `kvarts check` lists what is damaged.";
    case ErrorCode::kInternal:
      return "This is a defect of Kvarts.";
    default:
      return {};
  }
}

}  // namespace kvarts::cli
