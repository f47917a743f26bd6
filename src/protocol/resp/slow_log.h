// SlowLog: the latest commands that took long. Safe from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/resp/command.h"

namespace kvarts::resp {

class SlowLog {
 public:
  // Of a command, what is kept of its words.
  static constexpr size_t kMaxWords = 32;
  static constexpr size_t kMaxWordBytes = 128;

  struct Entry {
    int64_t id = 0;
    int64_t at_seconds = 0;
    int64_t micros = 0;
    std::vector<std::string> words;
    std::string client;
    std::string client_name;
  };

  // Keeps so many.
  void Add(Entry entry, size_t most);
  // The latest first.
  std::vector<Entry> Latest(size_t count) const;
  size_t size() const;
  void Clear();

 private:
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  int64_t next_ = 0;
};

// Cut as Redis cuts them: "... (5 more arguments)", "abc... (17 more bytes)".
std::vector<std::string> CutWords(Arguments arguments);

}  // namespace kvarts::resp
