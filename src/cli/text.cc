#include "cli/text.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace kvarts::cli {

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What would be rounded up to 1024.0 is shown in the next unit.
  for (; amount >= 1023.95 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits.at(unit));
}

std::string HumanCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", HumanCount(count), count == 1 ? one : many);
}

std::string HumanDuration(Duration duration) {
  const int64_t seconds = duration.micros / 1'000'000;
  if (duration.micros < 1'000'000) return fmt::format("{} ms", duration.micros / 1000);
  if (seconds < 120) return fmt::format("{:.1f} s", static_cast<double>(duration.micros / 100'000) / 10);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{} d {} h", seconds / 86'400, seconds % 86'400 / 3600);
}

std::string HumanTime(Timestamp time) {
  if (time == kNever) return "never";
  const auto seconds = static_cast<time_t>(time.micros / 1'000'000);
  tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return time.ToString();
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string HumanPercent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string ShownWord(BytesView bytes) {
  const std::string shown = Shown(bytes);
  const bool bare =
      !shown.empty() && shown.find(' ') == std::string::npos && shown[0] != '"' && shown[0] != '\'' && shown[0] != '#';
  if (bare) return shown;
  std::string quoted = "\"";
  for (const char c : shown) quoted.append(c == '"' ? "\\\"" : std::string(1, c));
  return quoted + "\"";
}

std::string ShownShort(BytesView bytes, size_t at_most) {
  if (bytes.size() <= at_most) return Shown(bytes);
  return fmt::format("{}… ({})", Shown(CutText(bytes, at_most)), HumanBytes(bytes.size()));
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string MarksText(CounterMarks marks) {
  std::string text;
  if (marks.saturated) text.append(", held at the edge of 64 bits");
  if (marks.misapplied) text.append(", an add to it was lost: it was no counter");
  return text;
}

}  // namespace kvarts::cli
