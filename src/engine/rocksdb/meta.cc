#include "engine/rocksdb/meta.h"

namespace kvarts {
namespace {

constexpr std::string_view kLogMark = "kvarts.mark";

Error Damaged() { return Error(ErrorCode::kCorruption, "a record of the engine is damaged"); }

}  // namespace

Bytes ReclaimKey(Version version, const KeyRange& range) {
  Bytes key(kMetaReclaim);
  AppendBig(&key, version.stamp);
  key.append(EncodeRange(range));
  return key;
}

Bytes EncodeRange(const KeyRange& range) {
  Bytes bytes;
  AppendSized(&bytes, range.start);
  AppendSized(&bytes, range.end);
  return bytes;
}

Result<KeyRange> DecodeRange(BytesView bytes) {
  BytesView start;
  BytesView end;
  if (!TakeSized(&bytes, &start) || !TakeSized(&bytes, &end) || !bytes.empty()) return Damaged();
  return KeyRange{Bytes(start), Bytes(end)};
}

Bytes Totals::Encode() const {
  Bytes bytes;
  AppendVarint(&bytes, user_bytes);
  AppendVarint(&bytes, storage_bytes);
  AppendVarint(&bytes, commits);
  return bytes;
}

Result<Totals> Totals::Decode(BytesView bytes) {
  Totals totals;
  const bool whole = TakeVarint(&bytes, &totals.user_bytes) && TakeVarint(&bytes, &totals.storage_bytes) &&
                     TakeVarint(&bytes, &totals.commits) && bytes.empty();
  if (!whole) return Damaged();
  return totals;
}

Bytes LogMark::Encode() const {
  Bytes blob(kLogMark);
  AppendLittle(&blob, synced.stamp);
  AppendLittle(&blob, log_start.stamp);
  AppendLittle(&blob, last.stamp);
  if (salt != 0) AppendLittle(&blob, salt);
  return blob;
}

bool LogMark::Decode(BytesView blob, LogMark* mark) {
  if (!blob.starts_with(kLogMark)) return false;
  const size_t numbers = (blob.size() - kLogMark.size()) / sizeof(uint64_t);
  if (blob.size() != kLogMark.size() + numbers * sizeof(uint64_t) || numbers < 3 || numbers > 4) return false;
  const char* at = blob.data() + kLogMark.size();
  mark->synced = {LoadLittle<uint64_t>(at)};
  mark->log_start = {LoadLittle<uint64_t>(at + 8)};
  mark->last = {LoadLittle<uint64_t>(at + 16)};
  mark->salt = numbers == 4 ? LoadLittle<uint64_t>(at + 24) : 0;
  return numbers == 3 || mark->salt != 0;
}

}  // namespace kvarts
