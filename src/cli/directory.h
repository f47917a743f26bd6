// Data directories as the commands open them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_engine.h"

namespace kvarts::cli {

// A command looks at one state of the store for as long as it takes.
constexpr Duration kMaxViewAge = Duration::Seconds(24 * 60 * 60);

// What commands open a directory with: one that is not there is not made.
RocksOptions DirectoryOptions();

Result<std::unique_ptr<Engine>> OpenDirectory(const std::string& dir, RocksOptions options = DirectoryOptions());

}  // namespace kvarts::cli
