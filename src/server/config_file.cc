// The configuration file that a user begins with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/config.h"

namespace kvarts {
namespace {

constexpr std::string_view kHead =
    R"(# The configuration of kvarts: every option, with its default. Remove the sign before one to change it.
#
# Sizes are numbers of bytes, or have a unit: "64KiB", "512MiB", "2GiB". Durations are seconds, or have a unit: "100ms",
# "30s", "5m". An environment variable wins over this file, and a flag over both; `kvarts config` shows what counts.
)";

// The values it takes, where the default does not show them: "none, interval, sync" or "from 1KiB to 1MiB".
std::string Takes(const Option& option) {
  const std::vector<std::string_view> choices = option.Choices();
  if (option.type == OptionType::kChoice) return fmt::format("; one of {}", fmt::join(choices, ", "));
  const std::string range = option.Range();
  return range.empty() ? range : "; " + range;
}

}  // namespace

std::string DefaultConfigFile() {
  const ServerOptions defaults;
  std::string file(kHead);
  std::string_view section;
  for (const Option& option : OptionTable()) {
    if (option.Section() != section) {
      section = option.Section();
      file.append(fmt::format("\n[{}]\n", section));
    }
    file.append(
        fmt::format("\n# {}{}\n#{} = {}\n", option.help, Takes(option), option.Key(), option.TomlValue(defaults)));
  }
  return file;
}

}  // namespace kvarts
