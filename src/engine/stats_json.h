// What an engine knows about itself, as JSON: for `kvarts stats --json` and the server's /stats.
#pragma once

#include <string>

#include "encoding/json_writer.h"
#include "engine/stats.h"

namespace kvarts {

// The fields of an object that is open.
void AppendStats(JsonWriter* json, const EngineStats& stats);
// A histogram as a field: count, sum and quantiles.
void AppendHistogram(JsonWriter* json, std::string_view name, const HistogramSnapshot& histogram);
// One object.
std::string StatsJson(const EngineStats& stats);

}  // namespace kvarts
