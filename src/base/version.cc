#include "base/version.h"

#include <charconv>

namespace kvarts {

std::optional<Version> Version::Parse(std::string_view text) {
  Version version;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), version.stamp);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

}  // namespace kvarts
