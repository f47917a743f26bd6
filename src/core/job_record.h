// What is stored about a job (FORMAT.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/uuid.h"
#include "base/version.h"
#include "encoding/key_buffer.h"
#include "encoding/key_range.h"

namespace kvarts {

struct JobId {
  Uuid uuid;
  friend auto operator<=>(const JobId&, const JobId&) = default;
  std::string ToString() const { return uuid.ToString(); }
};

// The numbers are those on disk.
enum class JobState : uint8_t {
  kQueued = 0,     // for a runner to take
  kRunning = 1,    // a runner has it
  kPaused = 2,     // until it is resumed
  kDone = 3,       // everything is done
  kFailed = 4,     // stopped by an error
  kCancelled = 5,  // stopped for good
};
std::string_view JobStateName(JobState state);
// Whether the job has ended; a failed one may be resumed nevertheless.
constexpr bool HasEnded(JobState state) { return state >= JobState::kDone; }
// Whether there is something to do for it.
constexpr bool IsActive(JobState state) { return state <= JobState::kRunning; }

struct JobError {
  ErrorCode code = ErrorCode::kInternal;
  std::string text;
  friend bool operator==(const JobError&, const JobError&) = default;
};

// Which runner has a job, and until when nobody else may take it.
struct JobLease {
  Uuid owner;
  Timestamp until;
  friend bool operator==(const JobLease&, const JobLease&) = default;
};

struct JobRecord {
  static constexpr size_t kMaxKindBytes = 64;
  static constexpr size_t kMaxParameterBytes = 64 << 10;
  static constexpr size_t kMaxCursorBytes = 64 << 10;
  static constexpr size_t kMaxErrorBytes = 4096;
  // Where in the bytes the version of the job's first commit stands.
  static constexpr uint32_t kCreatedAt = 1;

  std::string kind;
  Bytes parameters;
  JobState state = JobState::kQueued;
  uint32_t throttle = 0;  // units per second; 0: none

  // Progress: a place that only the kind understands, and what the job has done, in its own units.
  Bytes cursor;
  uint64_t done = 0;
  std::optional<uint64_t> total;  // an estimate
  // The throttle's pause: no chunk before this.
  Timestamp not_before;

  std::optional<JobLease> lease;  // exactly while running
  uint64_t fence = 0;             // how often a runner has taken the job: larger for every owner
  std::optional<JobError> error;  // exactly when failed
  Version created;

  // Not in the bytes, but where they are stored.
  JobId id;
  Version updated;

  // `too_large` when a field is.
  Result<Bytes> Encode() const;
  // Any bytes are a job or `corruption`.
  static Result<JobRecord> Decode(BytesView bytes);
  // From its place in the jobs space.
  static Result<JobRecord> FromStored(BytesView key, BytesView value, Version version);

  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

// (4, uuid) and (6, uuid).
KeyBuffer JobKey(JobId id);
KeyBuffer JobQueueKey(JobId id);
// The id in either key.
Result<JobId> JobOfKey(BytesView key);

}  // namespace kvarts
