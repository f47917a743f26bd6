// Which Redis this is to its clients.
#pragma once

#include <string_view>

namespace kvarts::resp {

// The version whose behaviour this is.
inline constexpr std::string_view kRedisVersion = "7.0.15";

}  // namespace kvarts::resp
