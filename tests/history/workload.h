// Threads that do a bit of everything to a few hot keys, and write down what happened.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "engine/engine.h"
#include "history/history.h"

namespace kvarts::test {

struct WorkloadOptions {
  int threads = 4;
  int operations = 150;  // of each thread
  uint64_t seed = 1;
  ManualClock* clock = nullptr;  // moved now and then, if given
};

History RunWorkload(Engine& engine, const WorkloadOptions& options);

}  // namespace kvarts::test
