// Sizes as the configuration of Redis writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvarts::resp {

// "64mb": k is a thousand, kb is 1024. Nothing when it is none, or less than zero.
std::optional<int64_t> ParseSize(std::string_view text);

}  // namespace kvarts::resp
