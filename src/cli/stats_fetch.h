// Asks a server for a page by plain HTTP.
#pragma once

#include "cli/stats_live.h"

namespace kvarts::cli {

// Of a server that is named as in "http://127.0.0.1:7700".
Result<Fetch> FetchFrom(const std::string& server);

}  // namespace kvarts::cli
