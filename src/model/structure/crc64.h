// The checksum behind what DUMP gives: CRC-64 in the variant of Jones (reflected, of 0xad93d23594c935a9).
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace kvarts::structure {

uint64_t Crc64(BytesView bytes);

}  // namespace kvarts::structure
