// The facts about a server and its hot keys as JSON: the bodies of /stats and /hotkeys.
#pragma once

#include "protocol/http/collector.h"

namespace kvarts::http {

// One object: the figures of the engine as `kvarts stats --json` has them, and in `server` everything else.
void WriteStats(Bytes* out, const ServerFacts& facts, const Engine& engine, Timestamp now);

struct HotQuery {
  HotOrder order = HotOrder::kReads;
  size_t limit = 0;  // of keys, prefixes and namespaces each
  // Only the keys and prefixes of this one; "(none)" for those that no namespace governs.
  std::optional<std::string> name_space = {};
};
// Keys, prefixes and namespaces, and which namespace each of the keys is of.
void WriteHotKeys(Bytes* out, const HotKeys& hot, const NamespaceTable& table, const HotQuery& query);

}  // namespace kvarts::http
