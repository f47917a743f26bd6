// What may be too large: for those who know whose key or value it is, and can say so, before a commit is refused for
// it.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "engine/limits.h"

namespace kvarts {

// `too_large`, with the limit's name, what it allows, and how much it is.
Error LimitExceeded(const char* text, const char* limit_name, size_t limit, size_t size);

// That for what is too long to be a key, or too large to be a value.
Status CheckSizes(BytesView key, BytesView value, const Limits& limits);

}  // namespace kvarts
