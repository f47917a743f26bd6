#include "cli/text.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "encoding/utf8.h"

namespace kvarts::cli {
namespace {

bool SameLetters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == std::tolower(y); });
}

// A number, and what follows it.
template <class Number>
struct Measured {
  Number number;
  std::string_view unit;
};

template <class Number>
Result<Measured<Number>> TakeNumber(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc::result_out_of_range) {
    return Error(ErrorCode::kInvalidArgument, "the number is too large", {{"word", std::string(text)}});
  }
  if (problem != std::errc()) {
    return Error(ErrorCode::kInvalidArgument, "not a number", {{"word", std::string(text)}});
  }
  return Measured<Number>{number, text.substr(static_cast<size_t>(end - text.data()))};
}

template <class Number>
Result<Number> ParseWhole(std::string_view text) {
  KVARTS_TRY(const Measured<Number> measured, TakeNumber<Number>(text));
  if (!measured.unit.empty()) {
    return Error(ErrorCode::kInvalidArgument, "not a number", {{"word", std::string(text)}});
  }
  return measured.number;
}

// Whether a terminal shows the character as itself. Left out are controls, what changes the direction or the width of
// the text around it, and what is not for exchange.
bool Printable(uint32_t number) {
  if (number < 0x20 || (number >= 0x7f && number < 0xa0) || number == 0xad) return false;
  if (number >= 0x200b && number <= 0x200f) return false;
  if (number >= 0x2028 && number <= 0x202e) return false;
  if (number >= 0x2060 && number <= 0x206f) return false;
  if (number >= 0xe000 && number <= 0xf8ff) return false;
  return number != 0xfeff && (number & 0xfffe) != 0xfffe && number < 0xe0000;
}

}  // namespace

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

Result<uint64_t> ParseCount(std::string_view text) { return ParseWhole<uint64_t>(text); }

Result<int64_t> ParseInteger(std::string_view text) {
  // A plus sign is welcome where numbers are added.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return ParseWhole<int64_t>(text);
}

Result<uint64_t> ParseSize(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  static constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"KiB", 1ULL << 10},
                                                   {"MiB", 1ULL << 20},
                                                   {"GiB", 1ULL << 30},
                                                   {"TiB", 1ULL << 40},
                                                   {"kB", 1'000},
                                                   {"MB", 1'000'000},
                                                   {"GB", 1'000'000'000},
                                                   {"TB", 1'000'000'000'000}}};
  KVARTS_TRY(const auto measured, TakeNumber<uint64_t>(text));
  for (const Unit& unit : kUnits) {
    if (!SameLetters(measured.unit, unit.name)) continue;
    if (measured.number > std::numeric_limits<uint64_t>::max() / unit.bytes) {
      return Error(ErrorCode::kInvalidArgument, "the number is too large", {{"word", std::string(text)}});
    }
    return measured.number * unit.bytes;
  }
  return Error(ErrorCode::kInvalidArgument, "not a size; write 4096, 64KiB, 512MiB or 2GiB",
               {{"word", std::string(text)}});
}

Result<Duration> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t micros;
  };
  static constexpr std::array<Unit, 6> kUnits = {{{"", 1'000'000},
                                                  {"ms", 1'000},
                                                  {"s", 1'000'000},
                                                  {"m", 60'000'000},
                                                  {"h", 3'600'000'000},
                                                  {"d", 86'400'000'000}}};
  KVARTS_TRY(const auto measured, TakeNumber<int64_t>(text));
  for (const Unit& unit : kUnits) {
    if (measured.unit != unit.name) continue;
    int64_t micros = 0;
    if (__builtin_mul_overflow(measured.number, unit.micros, &micros)) {
      return Error(ErrorCode::kInvalidArgument, "the number is too large", {{"word", std::string(text)}});
    }
    return Duration{micros};
  }
  return Error(ErrorCode::kInvalidArgument, "not a duration; write 60, 500ms, 5m, 2h or 7d",
               {{"word", std::string(text)}});
}

std::string Shown(BytesView bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Character character = FrontCharacter(bytes);
    const size_t size = std::max<size_t>(character.size, 1);
    const BytesView taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (taken == "\\") {
      out.append("\\\\");
    } else if (character.size > 0 && Printable(character.number)) {
      out.append(taken);
    } else {
      for (const char c : taken) fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

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
