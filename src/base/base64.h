// Bytes as text in 64 digits (RFC 4648). Base64 proper (section 4) ends in + and / and is padded with = to whole groups
// of four: it stands in JSON. Base64url (section 5) has - and _ instead, and no padding: it can stand in a URL.
//
// Reading is strict in both: every text is that of its bytes, or is refused as `invalid_argument`.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kvarts {

std::string ToBase64(BytesView bytes);
void AppendBase64(Bytes* to, BytesView bytes);
Result<Bytes> FromBase64(std::string_view text);

std::string ToBase64Url(BytesView bytes);
Result<Bytes> FromBase64Url(std::string_view text);

}  // namespace kvarts
