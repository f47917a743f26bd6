// The memory engine: the oracle that the other engines are compared with. Nothing outlives the
// process.
//
// It is meant to be obviously right, not fast: one lock around a map of versions, and every commit
// is decided under it inside Submit, on the submitter's thread. Done and Visible are called in
// commit order without the lock, by whichever submitting thread is at it, so they may be called for
// another thread's submission; a callback that does call Submit is answered later by the same
// thread. Claim, Run and Decided are called under the lock.
#pragma once

#include <memory>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/limits.h"

namespace kvarts {

struct MemoryOptions {
  Limits limits;
  // Where time comes from; null means a SystemClock.
  std::shared_ptr<Clock> clock;
  // Erasures that are remembered for *range unchanged*. Beyond it old ones are forgotten, and such
  // a precondition with a version from before then fails.
  size_t max_remembered_erasures = 1'000'000;
};

std::unique_ptr<Engine> OpenMemoryEngine(MemoryOptions options);

}  // namespace kvarts
