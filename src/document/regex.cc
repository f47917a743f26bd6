#include "document/regex.h"

#include <re2/re2.h>

#include "base/shown.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

// Where RE2 falls back to following all states at once, each takes up to eight nanoseconds for a byte.
constexpr uint64_t kStatesPerStep = 16;

Error NoPattern(std::string_view pattern, std::string why) {
  return Error(ErrorCode::kInvalidArgument, "not a regular expression",
               {{"pattern", Shown(pattern)}, {"why", std::move(why)}});
}

re2::StringPiece Piece(std::string_view text) { return re2::StringPiece(text.data(), text.size()); }

}  // namespace

Result<Regex> Regex::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Error(ErrorCode::kTooLarge, "the regular expression is too long",
                 {{"limit", "max_pattern_bytes"}, {"at_most", std::to_string(kMaxPatternBytes)}});
  }
  if (!IsUtf8(pattern)) return NoPattern(pattern, "it is not UTF-8");
  re2::RE2::Options options;
  options.set_max_mem(kMaxMemoryBytes);
  options.set_never_capture(true);
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(Piece(pattern), options);
  if (!compiled->ok()) return NoPattern(pattern, compiled->error());
  return Regex(std::move(compiled));
}

bool Regex::Matches(std::string_view text) const { return re2::RE2::FullMatch(Piece(text), *compiled_); }

bool Regex::IsIn(std::string_view text) const { return re2::RE2::PartialMatch(Piece(text), *compiled_); }

uint64_t Regex::Steps(std::string_view text) const {
  return 1 + text.size() * static_cast<uint64_t>(compiled_->ProgramSize()) / kStatesPerStep;
}

const std::string& Regex::text() const { return compiled_->pattern(); }

}  // namespace kvarts
