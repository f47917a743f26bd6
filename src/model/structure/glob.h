// Patterns as Redis has them: * and ?, [abc], [^a-z], and \ before what is to be taken as it is.
#pragma once

#include "base/bytes.h"

namespace kvarts::structure {

// In time that grows with both sizes multiplied, at most.
bool GlobMatches(BytesView pattern, BytesView text);
// What every text begins with that matches.
Bytes GlobBeginning(BytesView pattern);

}  // namespace kvarts::structure
