// Bytes as text that can stand in a URL: base64 with - and _ and without padding (RFC 4648, section 5).
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kvarts {

std::string ToBase64Url(BytesView bytes);
// The inverse. Strict: every text is that of its bytes, or is refused as `invalid_argument`.
Result<Bytes> FromBase64Url(std::string_view text);

}  // namespace kvarts
