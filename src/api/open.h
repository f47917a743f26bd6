// How the options of the public interface become those of an engine.
#pragma once

#include "engine/memory/memory_engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "kvarts/options.h"

namespace kvarts {

Limits LimitsOf(const Options& options);
RocksOptions RocksOptionsOf(const Options& options);

}  // namespace kvarts
