// The facts about a server and its hot keys as JSON: the bodies of /stats and /hotkeys.
#pragma once

#include "protocol/http/collector.h"

namespace kvarts::http {

// One object: the figures of the engine as `kvarts stats --json` has them, and in `server` everything else.
void WriteStats(Bytes* out, const ServerFacts& facts, std::string_view engine_name, Timestamp now);
void WriteHotKeys(Bytes* out, const HotKeys& hot, HotOrder order, size_t at_most);

}  // namespace kvarts::http
