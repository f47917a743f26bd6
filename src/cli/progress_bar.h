// How far something has come, as a line: a bar where the whole is known, a rate, and how long it will take.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/terminal.h"

namespace kvarts::cli {

struct ProgressState {
  uint64_t done = 0;                   // in bytes or in units of its own
  uint64_t before = 0;                 // of these, done before the time began, which are none of the rate
  std::optional<uint64_t> total = {};  // of the same
  bool in_bytes = true;                // of the rate
  std::string text = {};               // "1,234 keys"
  Duration elapsed = {};
};

// "[=====>              ]  26.0 %  1,234 keys  10.2 MiB/s  12.0 s left"; without a whole there is no bar.
std::string ProgressText(const ProgressState& state);

// The line on a terminal, for as long as this lives.
class ProgressBar {
 public:
  // Called often; cheap when it is not time yet. `state` says how it stands; the time is added here.
  template <class MakeState>
  void Update(MakeState&& state) {
    if (line_.Due()) Show(state());
  }
  void Clear() { line_.Clear(); }
  Duration Elapsed() const;

 private:
  void Show(ProgressState state);

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Progress line_;
};

}  // namespace kvarts::cli
