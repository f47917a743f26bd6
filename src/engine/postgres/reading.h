// Reads on a connection: point reads and pages, at whatever snapshot its transaction has.
#pragma once

#include <optional>
#include <span>

#include "engine/postgres/connection.h"
#include "engine/view.h"

namespace kvarts::postgres {

// Where the time of reads comes from: this server's clock, unless a clock is given, and never before `floor`.
struct ReadTime {
  uint64_t floor = 0;
  std::optional<uint64_t> given;
};

// How far a replica has replayed, said before it reads.
struct Replay {
  uint64_t position = 0;
};

// The newest records. When `at` is given it is their time, else the server says it, and it is returned: zero when there
// was nothing to be told about.
Result<uint64_t> ReadKeys(Connection& connection, std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                          const ReadOptions& options, const ReadTime& time, std::optional<Timestamp> at,
                          Deadline deadline, Replay* replay = nullptr);

Result<ScanPage> ReadPage(Connection& connection, const ScanRequest& request, Timestamp at, Deadline deadline);

}  // namespace kvarts::postgres
