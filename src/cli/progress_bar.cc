#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr size_t kBarColumns = 24;
// Before this, a rate says nothing.
constexpr Duration kTooEarly = Duration::Millis(200);

std::string Bar(double share) {
  const auto full = static_cast<size_t>(share * kBarColumns);
  std::string bar(full, '=');
  if (full < kBarColumns) bar.append(">");
  bar.resize(kBarColumns, ' ');
  return fmt::format("[{}] {:5.1f} %", bar, share * 100);
}

}  // namespace

std::string ProgressText(const ProgressState& state) {
  std::string out;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) out.append(out.empty() ? "" : "  ").append(part);
  };
  const bool known = state.total.has_value() && *state.total > 0;
  if (known) add(Bar(std::min(1.0, static_cast<double>(state.done) / static_cast<double>(*state.total))));
  add(state.text);
  if (state.elapsed < kTooEarly || state.done <= state.before) return out;
  const double rate = static_cast<double>(state.done - state.before) * 1e6 / static_cast<double>(state.elapsed.micros);
  const auto whole = static_cast<uint64_t>(rate);
  add((state.in_bytes ? HumanBytes(whole) : HumanCount(whole)) + "/s");
  if (known && *state.total > state.done && rate > 0) {
    const double left = static_cast<double>(*state.total - state.done) / rate;
    add(fmt::format("{} left", HumanDuration({static_cast<int64_t>(std::min(left, 1e9) * 1e6)})));
  }
  return out;
}

Duration ProgressBar::Elapsed() const {
  const auto elapsed = std::chrono::steady_clock::now() - begin_;
  return {std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()};
}

void ProgressBar::Show(ProgressState state) {
  state.elapsed = Elapsed();
  line_.Show(ProgressText(state));
}

}  // namespace kvarts::cli
