// Bytes for the eyes of a person: what is text stays text, and nothing in it moves the cursor or forges a line.
#pragma once

#include <string>

#include "base/bytes.h"

namespace kvarts {

// Bytes as one line of text that ParseEscaped reads back: UTF-8 that a terminal can show as it is, everything else as
// \xNN, a backslash doubled.
std::string Shown(BytesView bytes);

}  // namespace kvarts
