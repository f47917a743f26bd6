// The facts about a server as Prometheus takes them: the list of all metrics that there are. Every label has a small
// fixed set of values; keys and prefixes are in none (they are in /hotkeys and /stats).
#pragma once

#include "protocol/common/prometheus.h"
#include "protocol/http/collector.h"

namespace kvarts::http {

void WriteMetrics(Bytes* out, MetricsForm form, const ServerFacts& facts);

// How much of everything goes to the one that gets most: 0 to 1, of reads or writes, of keys or declared partitions.
struct HotShares {
  double key_reads = 0;
  double key_writes = 0;
  double partition_reads = 0;
  double partition_writes = 0;
};
HotShares HotSharesOf(const HotKeys& hot);

}  // namespace kvarts::http
