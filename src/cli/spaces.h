// Names of what is stored, for the tools that print all of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "core/keyspace.h"
#include "engine/record.h"

namespace kvarts::cli {

// Every space of the map, in order.
const std::vector<Space>& AllSpaces();
std::vector<std::string_view> SpaceNames();
std::optional<Space> ParseSpace(std::string_view name);
// The space of a physical key; nothing when it begins with no number of the map.
std::optional<Space> SpaceOf(BytesView physical_key);

std::string_view ValueKindName(ValueKind kind);

}  // namespace kvarts::cli
