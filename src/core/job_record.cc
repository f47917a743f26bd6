#include "core/job_record.h"

#include <algorithm>

#include "core/fields.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr uint8_t kFormat = 1;

constexpr uint8_t kHasTotal = 1;
constexpr uint8_t kHasLease = 2;
constexpr uint8_t kHasError = 4;
constexpr uint8_t kHasPause = 8;
constexpr uint8_t kAllFlags = 15;

constexpr std::string_view kStateNames[] = {"queued", "running", "paused", "done", "failed", "cancelled"};

Status CheckSize(const char* field, size_t size, size_t at_most) {
  if (size <= at_most) return {};
  return Error(ErrorCode::kTooLarge, "a field of the job is too long",
               {{"field", field}, {"at_most", std::to_string(at_most)}, {"is", std::to_string(size)}});
}

BytesView BytesOf(const Uuid& uuid) { return {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()}; }

Uuid TakeUuid(FieldReader* fields) {
  Uuid uuid;
  const BytesView raw = fields->Raw(uuid.bytes.size());
  std::ranges::copy(raw, uuid.bytes.begin());
  return uuid;
}

KeyBuffer KeyIn(Space space, JobId id) {
  KeyBuffer key;
  BeginKey(&key, space).Uuid(id.uuid);
  return key;
}

}  // namespace

std::string_view JobStateName(JobState state) { return kStateNames[static_cast<size_t>(state)]; }

KeyBuffer JobKey(JobId id) { return KeyIn(Space::kJobs, id); }

KeyBuffer JobQueueKey(JobId id) { return KeyIn(Space::kJobQueue, id); }

Result<JobId> JobOfKey(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const Uuid uuid, reader.TakeUuid());
  KVARTS_CHECK_OK(reader.Finish());
  return JobId{uuid};
}

Result<Bytes> JobRecord::Encode() const {
  KVARTS_CHECK_OK(CheckSize("kind", kind.size(), kMaxKindBytes));
  KVARTS_CHECK_OK(CheckSize("parameters", parameters.size(), kMaxParameterBytes));
  KVARTS_CHECK_OK(CheckSize("cursor", cursor.size(), kMaxCursorBytes));
  const bool pauses = not_before != Timestamp{};
  unsigned flags = 0;
  if (total) flags |= kHasTotal;
  if (lease) flags |= kHasLease;
  if (error) flags |= kHasError;
  if (pauses) flags |= kHasPause;
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  AppendBig(&bytes, created.stamp);
  bytes.push_back(static_cast<char>(state));
  bytes.push_back(static_cast<char>(flags));
  AppendSized(&bytes, kind);
  AppendSized(&bytes, parameters);
  AppendVarint(&bytes, throttle);
  AppendSized(&bytes, cursor);
  AppendVarint(&bytes, done);
  if (total) AppendVarint(&bytes, *total);
  if (pauses) AppendBig(&bytes, not_before.micros);
  AppendVarint(&bytes, fence);
  if (lease) bytes.append(BytesOf(lease->owner));
  if (lease) AppendBig(&bytes, lease->until.micros);
  if (error) bytes.push_back(static_cast<char>(error->code));
  if (error) AppendSized(&bytes, BytesView(error->text).substr(0, kMaxErrorBytes));
  return bytes;
}

Result<JobRecord> JobRecord::Decode(BytesView bytes) {
  FieldReader fields(bytes);
  JobRecord job;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  job.created = fields.TakeVersion();
  job.state = static_cast<JobState>(fields.Byte(static_cast<uint8_t>(JobState::kCancelled)));
  const uint8_t flags = fields.Byte(kAllFlags);
  job.kind = fields.Sized(kMaxKindBytes);
  job.parameters = fields.Sized(kMaxParameterBytes);
  job.throttle = static_cast<uint32_t>(fields.Varint(UINT32_MAX));
  job.cursor = fields.Sized(kMaxCursorBytes);
  job.done = fields.Varint();
  if ((flags & kHasTotal) != 0) job.total = fields.Varint();
  if ((flags & kHasPause) != 0) {
    job.not_before = fields.TakeTime();
    fields.Require(job.not_before != Timestamp{}, "a pause that is none");
  }
  job.fence = fields.Varint();
  if ((flags & kHasLease) != 0) {
    const Uuid owner = TakeUuid(&fields);
    job.lease = {owner, fields.TakeTime()};
  }
  if ((flags & kHasError) != 0) {
    job.error.emplace();
    job.error->code = static_cast<ErrorCode>(fields.Byte(static_cast<uint8_t>(ErrorCode::kInternal)));
    job.error->text = fields.Sized(kMaxErrorBytes);
  }
  fields.Require(!job.kind.empty(), "a job of no kind");
  fields.Require(job.lease.has_value() == (job.state == JobState::kRunning), "a lease that contradicts the state");
  fields.Require(job.error.has_value() == (job.state == JobState::kFailed), "an error that contradicts the state");
  KVARTS_CHECK_OK(fields.Finish("the job is damaged"));
  return job;
}

Result<JobRecord> JobRecord::FromStored(BytesView key, BytesView value, Version version) {
  KVARTS_TRY(JobRecord job, Decode(value));
  KVARTS_TRY(job.id, JobOfKey(key));
  job.updated = version;
  return job;
}

}  // namespace kvarts
