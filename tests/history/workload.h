// Threads that do a bit of everything to a few hot keys, and write down what happened.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "history/history.h"

namespace kvarts::test {

struct WorkloadOptions {
  int threads = 4;
  int operations = 150;  // of each thread
  uint64_t seed = 1;
  ManualClock* clock = nullptr;  // moved now and then, if given
  // Servers fail meanwhile: requests may be answered with `unavailable` and `unknown_outcome`, and every commit puts a
  // key of its own, by which one can tell later whether it was made (MarksIn).
  bool faults = false;
  std::optional<Durability> durability;     // of all commits, instead of a mixture
  const std::atomic<bool>* stop = nullptr;  // ends before all operations are done, if given
  std::atomic<int>* committed = nullptr;    // counts commits, if given
};

// All there is in the end but for marks, as somebody reads it who comes last: of a commit every part must be there.
Result<ReadEvent> LastState(Engine& engine);
// The marks that are there with the versions of their commits, and when they had been read.
struct Marks {
  std::map<Bytes, Version> versions;
  int64_t read = 0;
};
Result<Marks> MarksIn(Engine& engine);
// Settles by them what was unknown, and takes them out of the history. What is wrong already is told: commits that are
// gone, and those that were made although they were refused.
std::vector<std::string> Resolve(const Marks& marks, History* history);

// The threads take the engines in turn, which are all on the same data.
History RunWorkload(std::span<Engine* const> engines, const WorkloadOptions& options);
inline History RunWorkload(Engine& engine, const WorkloadOptions& options) {
  Engine* const engines[] = {&engine};
  return RunWorkload(engines, options);
}

}  // namespace kvarts::test
