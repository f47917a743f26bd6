#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace kvarts {
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

struct SizeUnit {
  std::string_view name;
  uint64_t bytes;
};
// Those that SizeText writes come first, the largest in front.
constexpr std::array<SizeUnit, 10> kSizeUnits = {{{"TiB", 1ULL << 40},
                                                  {"GiB", 1ULL << 30},
                                                  {"MiB", 1ULL << 20},
                                                  {"KiB", 1ULL << 10},
                                                  {"B", 1},
                                                  {"", 1},
                                                  {"kB", 1'000},
                                                  {"MB", 1'000'000},
                                                  {"GB", 1'000'000'000},
                                                  {"TB", 1'000'000'000'000}}};

struct DurationUnit {
  std::string_view name;
  int64_t micros;
};
constexpr std::array<DurationUnit, 7> kDurationUnits = {{{"d", 86'400'000'000},
                                                         {"h", 3'600'000'000},
                                                         {"m", 60'000'000},
                                                         {"s", 1'000'000},
                                                         {"ms", 1'000},
                                                         {"us", 1},
                                                         {"", 1'000'000}}};

}  // namespace

Result<uint64_t> ParseCount(std::string_view text) { return ParseWhole<uint64_t>(text); }

Result<int64_t> ParseInteger(std::string_view text) {
  // A plus sign is welcome where numbers are added.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return ParseWhole<int64_t>(text);
}

Result<uint64_t> ParseSize(std::string_view text) {
  KVARTS_TRY(const auto measured, TakeNumber<uint64_t>(text));
  for (const SizeUnit& unit : kSizeUnits) {
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
  KVARTS_TRY(const auto measured, TakeNumber<int64_t>(text));
  for (const DurationUnit& unit : kDurationUnits) {
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

std::string SizeText(uint64_t bytes) {
  if (bytes == 0) return "0B";
  const auto unit = std::ranges::find_if(kSizeUnits, [&](const SizeUnit& it) { return bytes % it.bytes == 0; });
  return fmt::format("{}{}", bytes / unit->bytes, unit->name);
}

std::string DurationText(Duration duration) {
  if (duration.micros == 0) return "0s";
  const auto unit =
      std::ranges::find_if(kDurationUnits, [&](const DurationUnit& it) { return duration.micros % it.micros == 0; });
  return fmt::format("{}{}", duration.micros / unit->micros, unit->name);
}

}  // namespace kvarts
