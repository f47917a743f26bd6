// Tells a torn end of the write-ahead log from damage, before RocksDB reads it.
//
// After a power failure the part of the log that was never synced may hold anything: nothing, zeros, records that fail
// their checksum, with good ones behind them. That is no damage: nothing that was promised to be on disk is gone, and
// what is left is the log up to the first thing that is missing. RocksDB would judge differently: it takes a page of
// zeros for the end of the log wherever it stands, and does not miss what is gone from the end of a log that is not the
// newest. So all logs that count are walked here first. Records are numbered without gaps, so nothing can be missing
// unnoticed; and every group carries a mark (meta.h) that says what had been synced before it: if a record behind the
// bad spot says that something before it had been synced, it is damage, and the store is not opened. After a clean
// close (directory.h) everything had been synced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/rocksdb/directory.h"

namespace rocksdb {
class Env;
}

namespace kvarts {

// What RocksDB's manifest says about the logs, by their numbers.
struct LiveLogs {
  uint64_t oldest = 0;   // older ones are not needed any more, and may be there or not
  uint64_t flushed = 0;  // older ones were synced, because something written after them is in a data file
};
Result<LiveLogs> FindLiveLogs(const std::string& data_path, rocksdb::Env* env);

struct LogCheck {
  bool torn = false;                // from here on, nothing was ever synced:
  std::string path;                 // in this log,
  uint64_t good_bytes = 0;          // behind so many bytes,
  std::vector<std::string> behind;  // and these logs as a whole
};
// Walks the logs in RocksDB's directory `data_path`. `corruption` when they are damaged.
Result<LogCheck> CheckLogs(const std::string& data_path, const LiveLogs& live, const Stamp& stamp);
// The newest log as it is.
Result<ClosedLog> NewestLog(const std::string& data_path);

// Cuts off what CheckLogs found torn.
Status TrimLogs(const LogCheck& check);

}  // namespace kvarts
