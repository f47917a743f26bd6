// JSON without the whitespace that means nothing: what is stored or put on a line of its own. Everything else stays as
// it was written, the digits of numbers, escapes and the order of names among it.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "encoding/json_reader.h"

namespace kvarts {

// The text must be JSON, such as JsonReader::Raw returns; of any other, some bytes are left out.
void AppendMinified(Bytes* to, std::string_view json);

// Of a text that may be anything: one value, or `invalid_argument`.
Result<Bytes> Minified(std::string_view text, JsonOptions options = {});

}  // namespace kvarts
