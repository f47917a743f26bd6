#include "cli/spaces.h"

#include <limits>

namespace kvarts::cli {

const std::vector<Space>& AllSpaces() {
  static const std::vector<Space> kSpaces = [] {
    std::vector<Space> spaces;
    for (int number = 0; number <= std::numeric_limits<uint8_t>::max(); ++number) {
      const auto space = static_cast<Space>(number);
      if (!SpaceName(space).empty()) spaces.push_back(space);
    }
    return spaces;
  }();
  return kSpaces;
}

std::vector<std::string_view> SpaceNames() {
  std::vector<std::string_view> names;
  for (const Space space : AllSpaces()) names.push_back(SpaceName(space));
  return names;
}

std::optional<Space> ParseSpace(std::string_view name) {
  for (const Space space : AllSpaces()) {
    if (SpaceName(space) == name) return space;
  }
  return std::nullopt;
}

std::optional<Space> SpaceOf(BytesView physical_key) {
  TupleReader reader(physical_key);
  const Result<int64_t> number = reader.TakeInt();
  if (!number.has_value() || *number < 0 || *number > std::numeric_limits<uint8_t>::max()) return std::nullopt;
  const auto space = static_cast<Space>(*number);
  return SpaceName(space).empty() ? std::nullopt : std::optional(space);
}

std::string_view ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBytes:
      return "bytes";
    case ValueKind::kCounter:
      return "counter";
    case ValueKind::kJson:
      return "json";
    case ValueKind::kTyped:
      return "typed";
    case ValueKind::kEnvelope:
      return "envelope";
    case ValueKind::kStructure:
      return "structure";
  }
  return "unknown";
}

}  // namespace kvarts::cli
