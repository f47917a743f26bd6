// The checksum that RocksDB puts into its logs and blob files: CRC-32C, rotated and shifted.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace kvarts {

uint32_t MaskedCrc(BytesView bytes);

}  // namespace kvarts
