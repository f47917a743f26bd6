// Tells a torn end of the write-ahead log from damage.
//
// RocksDB drops a record that is cut off at the end of its log by itself, and refuses to open when a checksum does not
// match. But after a power failure the part of the log that was never synced may hold anything, also records that fail
// their checksum with good ones behind them. That is no damage: nothing that was promised to be on disk is gone. Every
// group carries a mark (meta.h) that says what had been synced before it, so the two can be told apart: if a record
// behind the bad one says that the bad one had been synced, it is damage, and the store is not opened.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kvarts {

struct LogCheck {
  bool torn = false;        // the newest log ends in bytes that were never synced
  std::string path;         // of that log
  uint64_t good_bytes = 0;  // what stands before them
  uint64_t total_bytes = 0;
};

// Looks at the newest log in RocksDB's directory `data_path`. `corruption` when it is damaged.
Result<LogCheck> CheckLog(const std::string& data_path);

// Cuts off what CheckLog found torn.
Status TrimLog(const LogCheck& check);

}  // namespace kvarts
