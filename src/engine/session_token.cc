#include "engine/session_token.h"

#include <fmt/format.h>

#include <optional>

namespace kvarts {
namespace {

constexpr size_t kTimelineDigits = 8;
constexpr size_t kPositionDigits = 16;

std::optional<uint64_t> FromDigits(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<uint64_t>(c - '0');
    } else if (c >= 'A' && c <= 'F') {
      value = value << 4 | static_cast<uint64_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace

std::string SessionToken::ToString() const { return fmt::format("{:08X}-{:016X}", timeline, position); }

Result<SessionToken> SessionToken::Parse(std::string_view text) {
  if (text.size() == kTimelineDigits + 1 + kPositionDigits && text[kTimelineDigits] == '-') {
    const auto timeline = FromDigits(text.substr(0, kTimelineDigits));
    const auto position = FromDigits(text.substr(kTimelineDigits + 1));
    // There is no timeline 0: it is no token at all.
    if (timeline && position && *timeline != 0) return SessionToken{static_cast<uint32_t>(*timeline), *position};
  }
  return Error(ErrorCode::kInvalidArgument, "this is no session token");
}

}  // namespace kvarts
