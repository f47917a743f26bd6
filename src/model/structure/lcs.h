// The longest common subsequence of two strings.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace kvarts::structure {

// So many pairs of places are compared at most: what is asked for beyond it is refused.
constexpr uint64_t kMaxLcsPairs = 1 << 25;

struct CommonStretch {
  size_t first_begin;
  size_t second_begin;
  size_t size;
};
struct Common {
  uint64_t size = 0;
  Bytes text = {};
  std::vector<CommonStretch> stretches = {};  // from the last to the first
};
// `details`: the text and the stretches, too.
Result<Common> LongestCommon(BytesView first, BytesView second, bool details);

}  // namespace kvarts::structure
