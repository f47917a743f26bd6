// What flags and categories of commands are called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::resp {

// "write", "denyoom".
std::vector<std::string_view> FlagNames(uint32_t flags);
// "@write", "@string".
std::vector<std::string_view> CategoryNames(uint32_t categories);
// By its name without the @, in any case of letters; zero: there is none.
uint32_t CategoryOf(std::string_view name);

std::string UpperCase(std::string_view text);

}  // namespace kvarts::resp
