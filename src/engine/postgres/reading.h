// Reads on a connection: point reads and pages, at whatever snapshot its transaction has.
#pragma once

#include <optional>
#include <span>
#include <vector>

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

// Asks for the newest records, whose keys are `keys`.
Call GetCall(std::span<const BytesView> keys, const ReadTime& time);
// Whether that costs more than it does for others.
inline bool IsLong(BytesView key) { return key.size() > kIndexedBytes; }

// What was answered to it, for any number of reads that share it.
class FoundKeys {
 public:
  FoundKeys() = default;
  explicit FoundKeys(Rows rows);

  // What the server says; zero when there was nothing to be told about.
  uint64_t time() const { return time_; }
  // Answers one of the reads, by what has not expired at that time. Counts what it cost.
  void Answer(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadOptions& options,
              Timestamp now) const;

 private:
  Rows rows_;
  std::vector<int> by_key_;  // rows in the order of their keys
  uint64_t time_ = 0;
};

// Asks, and waits for the answer.
Result<FoundKeys> FindKeys(Connection& connection, std::span<const BytesView> keys, const ReadTime& time,
                           Deadline deadline, Replay* replay = nullptr);

// The newest records. When `at` is given it is their time, else the server says it, and it is returned: zero when there
// was nothing to be told about.
Result<uint64_t> ReadKeys(Connection& connection, std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                          const ReadOptions& options, const ReadTime& time, std::optional<Timestamp> at,
                          Deadline deadline);

Result<ScanPage> ReadPage(Connection& connection, const ScanRequest& request, Timestamp at, Deadline deadline);

}  // namespace kvarts::postgres
