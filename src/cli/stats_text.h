// What an engine knows about itself, in words and tables for a person; engine/stats_json.h has it for a program.
#pragma once

#include <string>

#include "engine/stats.h"

namespace kvarts::cli {

// Levels, then the three amplifications with what each means and when to worry, then space, what writing and reading
// met since the store was opened, memory and totals.
std::string StatsText(const EngineStats& stats);

}  // namespace kvarts::cli
