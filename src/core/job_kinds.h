// The kinds of jobs that core itself brings.
#pragma once

#include "core/job_runner.h"
#include "encoding/key_range.h"

namespace kvarts {

// "erase_range": erases what is in a range, key by key, so many in a commit: for ranges larger than a commit may be,
// and where a feed shall have every key. Every chunk sees what is there by then; what is put behind it stays. Its unit
// is a key.
constexpr size_t kEraseChunkKeys = 500;
JobKind EraseRangeKind(size_t chunk_keys = kEraseChunkKeys);
JobSpec EraseRangeJob(const KeyRange& range);

}  // namespace kvarts
