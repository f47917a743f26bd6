// What SCAN and those like it are asked for.
#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/resp/command.h"

namespace kvarts::resp {

struct ScanOptions {
  std::string_view pattern = "*";
  std::string_view type = {};
  int64_t count = 10;
};
// Behind the cursor. TYPE is known to SCAN alone.
Result<ScanOptions> ReadScanOptions(Arguments arguments, bool with_type);

Result<uint64_t> CursorOf(std::string_view argument);

}  // namespace kvarts::resp
