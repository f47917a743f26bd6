// One hash of a key, computed once per operation and used by the hot-value cache and the memory of recent writes.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>

#include "base/bytes.h"

namespace kvarts {

inline uint64_t KeyHash(BytesView key) { return XXH3_64bits(key.data(), key.size()); }

}  // namespace kvarts
