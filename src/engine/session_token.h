// SessionToken: how far a session has come, given with a commit and handed back with a read that must see it. What its
// numbers mean is the engine's affair; nobody keeps anything for it, so any process takes one that another gave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts {

struct SessionToken {
  uint32_t timeline = 0;  // 0: there is nothing to see yet, or the engine has no tokens
  uint64_t position = 0;

  explicit operator bool() const { return timeline != 0; }

  // "00000002-0000000003000148", in this form only.
  std::string ToString() const;
  static Result<SessionToken> Parse(std::string_view text);

  friend bool operator==(const SessionToken&, const SessionToken&) = default;
};

}  // namespace kvarts
