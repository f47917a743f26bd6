// What keys hold as DUMP gives it and RESTORE takes it; a new type of collection is a line in each of these.
#pragma once

#include <functional>

#include "model/structure/rdb_value.h"
#include "model/structure/structures.h"

namespace kvarts::structure {

// What a list, a set or a sorted set holds, in its order.
using VisitElement = std::function<void(BytesView element)>;
Status ForEachElement(Collection& collection, const VisitElement& visit);

// Of a key that there is. `too_large` beyond what a commit could hold.
Result<RdbValue> ValueOf(Key& key);
// In the place of whatever there is; what has expired by now is left out.
Status PutValue(Key& key, RdbValue value);

}  // namespace kvarts::structure
