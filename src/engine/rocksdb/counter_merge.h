// Counters as a RocksDB merge operator. It never fails, whatever it meets: a merge that fails makes its key unreadable,
// and after a compaction every write. Operands keep their versions, because an add that came after the base's expiry
// starts from zero; so they are never combined without the base, and the committer keeps their chains short.
#pragma once

#include <memory>

namespace rocksdb {
class MergeOperator;
}

namespace kvarts {

std::shared_ptr<rocksdb::MergeOperator> MakeCounterMerge();

}  // namespace kvarts
