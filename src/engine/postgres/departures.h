// When the next round trip leaves. When none is under way: as soon as half as many wait as went with the last one,
// since those who are answered together mostly ask again together; or when somebody has waited for a moment. Otherwise
// when enough wait for it, or the last one has been away long enough. So those under way are few and full as long as
// the server is quick, and many when it is not, and who comes alone waits for nobody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kvarts::postgres {

class Departures {
 public:
  Departures(size_t enough, std::chrono::microseconds patience, std::chrono::microseconds moment)
      : enough_(enough), patience_(patience), moment_(moment) {}

  // Waits, with the lock held, until the calling thread is to leave: `waiting` says how many wait. False when nobody
  // does, and `ending` says that nobody will.
  template <class Waiting, class Ending>
  bool Await(std::unique_lock<std::mutex>& lock, const Waiting& waiting, const Ending& ending) {
    while (true) {
      const size_t count = waiting();
      if (count == 0) {
        if (ending()) return false;
        changed_.wait(lock);
        continue;
      }
      const Clock::time_point due = under_way_ == 0 ? first_ + moment_ : last_ + patience_;
      if (IsEnough(count) || Clock::now() >= due) break;
      changed_.wait_until(lock, due);
    }
    ++under_way_;
    last_ = Clock::now();
    last_count_ = waiting();
    return true;
  }
  // With the lock held: one is back.
  void Back() { --under_way_; }
  // With the lock held: so many wait now, and waited before.
  void Arrived(size_t waiting, size_t before) {
    if (before == 0) first_ = Clock::now();
    if (before == 0 || IsEnough(waiting)) changed_.notify_one();
  }
  void Ending() { changed_.notify_all(); }

 private:
  using Clock = std::chrono::steady_clock;

  bool IsEnough(size_t count) const { return count >= enough_ || (under_way_ == 0 && 2 * count >= last_count_); }

  const size_t enough_;
  const std::chrono::microseconds patience_;
  const std::chrono::microseconds moment_;
  std::condition_variable changed_;
  size_t under_way_ = 0;
  size_t last_count_ = 0;         // that left together
  Clock::time_point last_ = {};   // when they did
  Clock::time_point first_ = {};  // when the first came of those who wait
};

}  // namespace kvarts::postgres
