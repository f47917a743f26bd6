// Where the rows or entries lie that a query asks for.
#pragma once

#include <stop_token>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "model/table/query.h"

namespace kvarts {

// The index of the name, if it can be read: `not_found`, or `unavailable` while it is being built or taken away.
Result<const TableIndex*> ReadableIndex(const TableInfo& table, std::string_view name);

// `invalid_argument` when the query names other fields than there are, or other types.
Result<KeyRange> RangeOf(const TableInfo& table, const TableIndex* index, const RowQuery& query);

// Cuts a range into at most so many parts that hold about as much each, by estimate of their entries or bytes. One that
// holds little may be left whole. `unavailable` when it was stopped: each cut takes tens of estimates.
Result<std::vector<KeyRange>> SplitRange(Engine& engine, const KeyRange& range, size_t parts,
                                         uint64_t RangeEstimate::*by = &RangeEstimate::entries,
                                         const std::stop_token& stop = {});

}  // namespace kvarts
