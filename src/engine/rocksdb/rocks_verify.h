// Reads back everything that the engine has stored.
#pragma once

#include <string>
#include <vector>

#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

// What is wrong, each `corruption` with the file or the key, until there are `at_most`: blocks of tables and records of
// blob files against their checksums; then every entry of every column family: its header decodes, its version was
// issued, and it lies in the family that its profile names.
std::vector<Error> VerifyStored(RocksStore& store, const std::string& data_path, size_t at_most);

}  // namespace kvarts
