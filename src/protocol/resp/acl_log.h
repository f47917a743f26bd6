// The log of what was refused for want of a right, and of names and passwords that were wrong. What is refused again
// within a minute is counted with what was refused before. Safe from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::resp {

class AclLog {
 public:
  // Of what was asked for, and of a name.
  static constexpr size_t kMaxTextBytes = 4096;

  struct Entry {
    uint64_t count = 1;
    std::string_view reason;   // "command", "key", "channel", "auth"
    std::string_view context;  // "toplevel", "multi"
    std::string object;
    std::string user;
    int64_t at_millis = 0;
    std::string client;  // the last one, as CLIENT LIST tells of it
  };

  // Keeps so many.
  void Add(Entry entry, size_t most);
  // The latest first.
  std::vector<Entry> Latest(size_t count) const;
  void Clear();

 private:
  // Within so much time, and so many entries, one is looked for that is alike.
  static constexpr int64_t kAlikeMillis = 60'000;
  static constexpr size_t kAlikeAmong = 10;

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace kvarts::resp
