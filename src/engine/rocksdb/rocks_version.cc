#include "engine/rocksdb/rocks_version.h"

#include <rocksdb/version.h>

namespace kvarts {

std::string RocksVersion() { return rocksdb::GetRocksVersionAsString(); }

}  // namespace kvarts
