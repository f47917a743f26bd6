// Sets: what commands make of several of them. One that is null is empty.
#pragma once

#include <span>
#include <vector>

#include "model/structure/members.h"

namespace kvarts::structure {

// Their members, in no particular order.
Result<std::vector<Bytes>> Intersection(std::span<Members* const> sets);
// How many are in all of them; no more than `at_most` are counted, and none is looked for beyond.
Result<uint64_t> CountIntersection(std::span<Members* const> sets, uint64_t at_most);
Result<std::vector<Bytes>> Union(std::span<Members* const> sets);
// Those of the first that no other has.
Result<std::vector<Bytes>> Difference(std::span<Members* const> sets);

}  // namespace kvarts::structure
