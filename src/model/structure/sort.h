// What SORT makes of a list, a set or a sorted set: its elements in some order, or what keys hold whose names are made
// of them.
//
// A pattern names such a key: what stands in the place of its first * is the element. Behind it "->" and a field may
// stand: then it is the field of a hash. "#" is the element itself. Anything else without a * is nothing.
#pragma once

#include <optional>
#include <vector>

#include "model/structure/structures.h"

namespace kvarts::structure {

// Elements and what is looked up for them, together.
constexpr uint64_t kMaxSortedBytes = 128 << 20;

struct SortOptions {
  std::optional<BytesView> by = {};  // nothing: by the elements themselves; without a *: they stay as they are
  bool by_text = false;              // else by number
  bool descending = false;
  int64_t first = 0;
  int64_t count = -1;  // less than zero: all
  std::vector<BytesView> get = {};
  bool stores = false;  // what is read must be so still when it is stored
};

// Of a key that is absent, nothing. `invalid_argument` when it is of another type (kWrongType), or what is to be
// compared as numbers is none (kNotSortable); `too_large` when it is more than kMaxSortedBytes.
Result<std::vector<std::optional<Bytes>>> Sorted(Structures& keys, uint32_t database, Key& key,
                                                 const SortOptions& options);

}  // namespace kvarts::structure
