// Numbers, times and bytes as people read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/shown.h"  // IWYU pragma: export
#include "base/units.h"  // IWYU pragma: export
#include "engine/record.h"

namespace kvarts::cli {

// "0 B", "1.5 KiB", "64.0 MiB".
std::string HumanBytes(uint64_t bytes);
// "1,234,567".
std::string HumanCount(uint64_t count);
// "1 key", "2,000 keys".
std::string Counted(uint64_t count, std::string_view one, std::string_view many);
// "350 ms", "29.8 s", "5 min 3 s", "2 h 5 min", "3 d 4 h".
std::string HumanDuration(Duration duration);
// "2026-07-05 10:15:30 UTC".
std::string HumanTime(Timestamp time);
// "12.3 %".
std::string HumanPercent(double ratio);

// Shown as a word that can be typed in the shell: in quotes if it needs them.
std::string ShownWord(BytesView bytes);
// Shown, cut off after so many bytes, with what it would have been: "abc… (12.0 KiB)".
std::string ShownShort(BytesView bytes, size_t at_most);
// How many columns a text takes on a terminal; a character that is not ASCII is taken for one.
size_t Columns(std::string_view text);

// What went wrong with adds to a value, each part behind a comma; nothing when nothing did.
std::string MarksText(CounterMarks marks);

}  // namespace kvarts::cli
