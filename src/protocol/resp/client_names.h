// Names of clients: such as fit into a line of CLIENT LIST.
#pragma once

#include <algorithm>
#include <string_view>

namespace kvarts::resp {

inline constexpr const char* kNoClientName = "Client names cannot contain spaces, newlines or special characters.";

inline bool IsClientName(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace kvarts::resp
