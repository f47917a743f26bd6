// A key of a database by chance. Each of up to a hundred keys is as likely as any other; in a larger database each may
// come, though those with few names near theirs come more often.
#pragma once

#include <optional>

#include "model/structure/structures.h"

namespace kvarts::structure {

// Nothing when there are no keys.
Result<std::optional<Bytes>> RandomName(Structures& keys, uint32_t database);

}  // namespace kvarts::structure
