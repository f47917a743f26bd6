// LatencyEvents: what took longer than somebody wanted to hear of, by kind, a time of each second. Safe from any
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::resp {

class LatencyEvents {
 public:
  // Seconds of one kind that are kept, and kinds.
  static constexpr size_t kMaxTimes = 160;
  static constexpr size_t kMaxKinds = 32;

  struct Time {
    int64_t at_seconds;
    int64_t millis;  // the longest of that second
  };
  struct Event {
    std::deque<Time> times;  // the oldest first
    int64_t longest = 0;     // millis, since it was reset
  };

  void Add(std::string_view kind, int64_t at_seconds, int64_t millis);
  // By kind.
  std::map<std::string, Event, std::less<>> All() const;
  // Whether there was such a kind.
  bool Forget(std::string_view kind);
  // How many kinds there were.
  size_t ForgetAll();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Event, std::less<>> events_;
};

}  // namespace kvarts::resp
