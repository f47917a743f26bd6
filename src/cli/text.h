// Numbers, times and bytes as people read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
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

// The whole text is a decimal number that fits, or the error says what is wrong with it.
Result<uint64_t> ParseCount(std::string_view text);
Result<int64_t> ParseInteger(std::string_view text);
// 4096, 64KiB, 1GiB; also kB, MB, GB and TB, which count by thousands.
Result<uint64_t> ParseSize(std::string_view text);
// 60 or 60s, 500ms, 5m, 2h, 7d. Zero and negative ones are left to whoever knows whether they make sense.
Result<Duration> ParseDuration(std::string_view text);

// Bytes as one line of text that ParseEscaped reads back: UTF-8 that a terminal can show as it is, everything else as
// \xNN, a backslash doubled.
std::string Shown(BytesView bytes);
// The same as a word that can be typed in the shell: in quotes if it needs them.
std::string ShownWord(BytesView bytes);
// Shown, cut off after so many bytes, with what it would have been: "abc… (12.0 KiB)".
std::string ShownShort(BytesView bytes, size_t at_most);
// How many columns a text takes on a terminal; a character that is not ASCII is taken for one.
size_t Columns(std::string_view text);

// What went wrong with adds to a value, each part behind a comma; nothing when nothing did.
std::string MarksText(CounterMarks marks);

}  // namespace kvarts::cli
