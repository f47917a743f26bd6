// The order of members that are spread out: by XXH3 of their names, so that a place among them is a number. Each
// collection has an order of its own.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model/structure/places.h"

namespace kvarts::structure {

inline uint64_t MemberHash(CollectionId collection, BytesView name) {
  return XXH3_64bits_withSeed(name.data(), name.size(), collection.value);
}

}  // namespace kvarts::structure
