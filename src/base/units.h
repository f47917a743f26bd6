// Numbers, sizes and durations as people write them, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace kvarts {

// The whole text is a decimal number that fits, or the error says what is wrong with it.
Result<uint64_t> ParseCount(std::string_view text);
Result<int64_t> ParseInteger(std::string_view text);
// 4096, 64KiB, 1GiB; also kB, MB, GB and TB, which count by thousands.
Result<uint64_t> ParseSize(std::string_view text);
// 60 or 60s, 500us, 500ms, 5m, 2h, 7d. Zero and negative ones are left to whoever knows whether they make sense.
Result<Duration> ParseDuration(std::string_view text);

// What the two above read back, in the largest unit that says it exactly: "64MiB", "1500B", "30s", "100ms".
std::string SizeText(uint64_t bytes);
std::string DurationText(Duration duration);

}  // namespace kvarts
