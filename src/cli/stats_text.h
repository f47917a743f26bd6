// What an engine knows about itself, in words and tables for a person, and as JSON for a program.
#pragma once

#include <string>

#include "engine/stats.h"

namespace kvarts::cli {

// Levels, then the three amplifications with what each means and when to worry, then space, what writing and reading
// met since the store was opened, memory and totals.
std::string StatsText(const EngineStats& stats);
// One object.
std::string StatsJson(const EngineStats& stats);

}  // namespace kvarts::cli
