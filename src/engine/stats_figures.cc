#include "engine/stats_figures.h"

namespace kvarts {
namespace {

// Below these a ratio says more about rounding than about the store.
constexpr uint64_t kEnoughBytes = 1 << 20;
constexpr uint64_t kEnoughEntries = 1000;

// From here on a figure is worth a look.
constexpr double kHighWrite = 30;
constexpr double kHighRead = 12;
constexpr double kHighSpace = 2;
constexpr double kHighTombstones = 0.3;

uint64_t Entries(const EngineStats& stats) {
  uint64_t entries = 0;
  for (const LevelStats& level : stats.levels) entries += level.entries;
  return entries;
}

}  // namespace

std::string_view Figure::Verdict() const {
  if (!enough) return "too little data to judge";
  return value > high ? "high" : "fine";
}

Figure WriteFigure(const EngineStats& stats) {
  return {stats.WriteAmplification(), kHighWrite, stats.user_bytes_written >= kEnoughBytes};
}
Figure ReadFigure(const EngineStats& stats) { return {stats.ReadAmplification(), kHighRead, true}; }
Figure SpaceFigure(const EngineStats& stats) {
  return {stats.SpaceAmplification(), kHighSpace, stats.live_bytes + stats.stale_bytes >= kEnoughBytes};
}
Figure TombstoneFigure(const EngineStats& stats) {
  return {stats.TombstoneRatio(), kHighTombstones, Entries(stats) >= kEnoughEntries};
}

}  // namespace kvarts
