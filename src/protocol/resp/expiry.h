// Times as commands give and show them: in seconds or milliseconds, from now on or since 1970.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace kvarts::resp {

enum class Unit : uint8_t { kSeconds, kMillis };

// In whole milliseconds, as Redis' clock has it.
inline int64_t MillisOf(Timestamp time) { return static_cast<int64_t>(time.micros / 1000); }

// Of an argument that is a number of units: from now on, or since 1970 when `now` is nothing. `invalid_argument` when
// it is no number, when it is beyond what a clock can show, or unless `past_too` when it is not positive.
Result<Timestamp> TimeOf(std::string_view argument, Unit unit, const Timestamp* now, std::string_view command,
                         bool past_too = false);

}  // namespace kvarts::resp
