// LoopCommits: the commits that the connections of a loop ask for in one turn. They leave together at its end, so that
// they are one group of the engine's, and the loop's thread carries out what nobody has to wait for by itself: to wake
// the commit thread, and to be woken by it, costs more than a small commit.
#pragma once

#include <vector>

#include "core/store.h"
#include "net/loop.h"

namespace kvarts {

// Belongs to the loop's thread; it goes when that has ended, before the store and the loop. What was asked for in the
// last turn is dropped with it.
class LoopCommits {
 public:
  LoopCommits(net::Loop& loop, Store& store) : loop_(loop), store_(store) {}
  LoopCommits(const LoopCommits&) = delete;
  LoopCommits& operator=(const LoopCommits&) = delete;

  // Runs it behind what else was asked for in this turn; a commit of its own. Its `done` is overwritten.
  net::Task<Result<RunReport>> Run(Store::Request request);

 private:
  void Leave();

  net::Loop& loop_;
  Store& store_;
  std::vector<Store::Request> waiting_;
};

}  // namespace kvarts
