// When the next round trip leaves, and with how many of those who wait.
//
// Two under way are the best: the server works for one while the other is on its way to the disk or to us, and two are
// fuller than more would be. So each takes half of all there are, waiting or under way, and leaves when so many wait;
// those who are answered together mostly ask again together. Who has waited for a moment is not kept for the sake of
// company, and who comes alone waits for nobody. When two take long, others leave without them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kvarts::postgres {

class Departures {
 public:
  Departures(std::chrono::microseconds moment, std::chrono::microseconds patience)
      : moment_(moment), patience_(patience) {}

  // Waits, with the lock held, until the calling thread is to leave: `waiting` says how many wait. How many it takes;
  // zero when nobody waits, and `ending` says that nobody will.
  template <class Waiting, class Ending>
  size_t Await(std::unique_lock<std::mutex>& lock, const Waiting& waiting, const Ending& ending) {
    while (true) {
      const size_t count = waiting();
      if (count == 0) {
        if (ending()) return 0;
        changed_.wait(lock);
        continue;
      }
      const Clock::time_point due = under_way_ < kEnough ? first_ + moment_ : last_ + patience_;
      if (IsFull(count) || ending() || Clock::now() >= due) return Leave(count);
      changed_.wait_until(lock, due);
    }
  }
  // With the lock held: one is back that took so many.
  void Back(size_t count) {
    --under_way_;
    away_ -= count;
  }
  // With the lock held: so many wait now, and waited before.
  void Arrived(size_t waiting, size_t before) {
    if (before == 0) first_ = Clock::now();
    if (before == 0 || IsFull(waiting)) changed_.notify_one();
  }
  void Ending() { changed_.notify_all(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kEnough = 2;

  size_t Half() const { return std::max<size_t>(all_ / 2, 1); }
  bool IsFull(size_t count) const { return under_way_ < kEnough && count >= Half(); }

  size_t Leave(size_t count) {
    // Some who were here may be back in a moment: they are forgotten slowly.
    all_ = std::max(count + away_, all_ - (all_ + 7) / 8);
    const size_t taken = std::min(count, (all_ + 1) / 2);
    ++under_way_;
    away_ += taken;
    last_ = Clock::now();
    // Somebody has to look after the others.
    if (taken < count) changed_.notify_one();
    return taken;
  }

  const std::chrono::microseconds moment_;
  const std::chrono::microseconds patience_;
  std::condition_variable changed_;
  size_t under_way_ = 0;          // round trips
  size_t away_ = 0;               // those who are with them
  size_t all_ = 0;                // as many as there lately were, waiting or away
  Clock::time_point last_ = {};   // when the last one left
  Clock::time_point first_ = {};  // when the first came of those who wait
};

}  // namespace kvarts::postgres
