// Statistics: how often each command was carried out and how long it took, how often it was refused or has failed, and
// which kinds of errors there were.
//
// Safe from any thread. Counting costs a few nanoseconds and no lock, but for errors: threads count apart from each
// other, as far as there are parts. What was never asked for takes no memory.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {

class Statistics {
 public:
  // Kinds of errors told apart; others are counted together.
  static constexpr size_t kMaxKinds = 128;
  static constexpr std::string_view kOtherKinds = "OTHER";

  Statistics();
  ~Statistics();

  void Ran(const Command& command, uint64_t nanos, bool failed);
  // It was not carried out.
  void Rejected(const Command& command);
  // The kind is the first word: "WRONGTYPE Operation against …".
  void Failed(std::string_view error);

  // Since the last reset.
  struct Figures {
    HistogramSnapshot latency;  // one for each time it was carried out
    uint64_t rejected = 0;
    uint64_t failed = 0;
  };
  Figures Of(const Command& command) const;
  std::map<std::string, uint64_t, std::less<>> Errors() const;
  // Of all commands.
  uint64_t commands() const;
  void Reset();

 private:
  struct Counts {
    LatencyHistogram latency;
    std::atomic<uint64_t> rejected{0};
    std::atomic<uint64_t> failed{0};
  };

  struct alignas(64) Part {
    // By the number of the command; null: never used.
    std::vector<std::atomic<Counts*>> counts = std::vector<std::atomic<Counts*>>(CommandCount());
    std::atomic<uint64_t> commands{0};
  };
  static constexpr size_t kParts = 8;

  // That of this thread.
  Part& PartHere();
  static Counts& CountsOf(Part& part, const Command& command);
  Figures Taken(size_t number) const;

  std::array<Part, kParts> parts_;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> errors_;
  std::map<size_t, Figures> forgotten_;  // what was counted before the reset
};

// The first word of an error.
std::string_view KindOfError(std::string_view error);

}  // namespace kvarts::resp
