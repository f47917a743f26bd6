// LogLimit: keeps what happens often from filling the log. So many entries a second are let through; the first of the
// next second can say how many were not.
//
//   if (const auto kept_back = limit.Pass(now)) Log(LogLevel::kWarning, "…", {…, {"not_logged", *kept_back}});
//
// It belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>

namespace kvarts {

class LogLimit {
 public:
  explicit LogLimit(uint32_t per_second) : per_second_(per_second) {}

  // Nothing when this entry is one too many; else how many were since the last that passed. Time is monotonic.
  std::optional<uint64_t> Pass(uint64_t now_ns) {
    const uint64_t second = now_ns / 1'000'000'000;
    if (second != second_) {
      second_ = second;
      passed_ = 0;
    }
    if (passed_ == per_second_) {
      ++kept_back_;
      return std::nullopt;
    }
    ++passed_;
    const uint64_t kept_back = kept_back_;
    kept_back_ = 0;
    return kept_back;
  }

 private:
  const uint32_t per_second_;
  uint64_t second_ = 0;
  uint32_t passed_ = 0;
  uint64_t kept_back_ = 0;
};

}  // namespace kvarts
