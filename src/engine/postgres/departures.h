// When the next round trip leaves, with all who wait.
//
// One or two are under way at a time: a round trip costs the server much, and each who is with it little. What comes
// meanwhile gathers for the next. That leaves when half as many wait as there lately were, since those who are answered
// together mostly ask again together. Who has waited for a moment is not kept for the sake of company, and who comes
// alone waits for nobody. When one takes long, others leave without it.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kvarts::postgres {

class Departures {
 public:
  Departures(size_t under_way, std::chrono::microseconds moment, std::chrono::microseconds patience)
      : two_(under_way > 1), moment_(moment), patience_(patience) {}

  // All with the lock held. Waits until the calling thread is to take those who wait, as many as there is room for:
  // `waiting` says how many they are, and `ending` that no more will come. False when there are none and will be none.
  template <class Waiting, class Ending>
  bool Await(std::unique_lock<std::mutex>& lock, const Waiting& waiting, const Ending& ending) {
    while (true) {
      const size_t count = waiting();
      if (count == 0) {
        if (ending()) return false;
        changed_.wait(lock);
        continue;
      }
      const Clock::time_point due = last_ != 0 ? left_at_ + patience_ : first_ + moment_;
      if (IsFull(count) || ending() || Clock::now() >= due) return true;
      changed_.wait_until(lock, due);
    }
  }
  // A round trip leaves with some, and others still wait. Its number.
  uint64_t Leave(size_t taken, size_t waiting) {
    away_ += taken;
    // Some who were here may be back in a moment: they are forgotten slowly.
    all_ = std::max(waiting + away_, all_ - (all_ + 63) / 64);
    left_at_ = Clock::now();
    // Somebody has to look after the others.
    if (waiting != 0) changed_.notify_one();
    before_last_ = last_;
    return last_ = ++left_;
  }
  // It is back. The caller awaits the next.
  void Back(uint64_t number, size_t taken) {
    away_ -= taken;
    if (number == last_) last_ = 0;
    if (number == before_last_) before_last_ = 0;
  }
  // So many wait now, and waited before.
  void Arrived(size_t waiting, size_t before) {
    if (before == 0) first_ = Clock::now();
    if (before == 0 || IsFull(waiting)) changed_.notify_one();
  }
  // Whether more will come has changed.
  void Ending() { changed_.notify_all(); }

 private:
  using Clock = std::chrono::steady_clock;

  bool IsFull(size_t count) const { return (last_ == 0 || (two_ && before_last_ == 0)) && 2 * count >= all_; }

  const bool two_;
  const std::chrono::microseconds moment_;
  const std::chrono::microseconds patience_;
  std::condition_variable changed_;
  uint64_t left_ = 0;               // round trips, ever
  uint64_t last_ = 0;               // of them, while it is under way
  uint64_t before_last_ = 0;        // likewise
  Clock::time_point left_at_ = {};  // when the last left
  size_t away_ = 0;                 // those who are with one
  size_t all_ = 0;                  // as many as there lately were, waiting or away
  Clock::time_point first_ = {};    // when the first came of those who wait
};

}  // namespace kvarts::postgres
