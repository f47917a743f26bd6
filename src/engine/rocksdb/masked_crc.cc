#include "engine/rocksdb/masked_crc.h"

#include <array>

namespace kvarts {
namespace {

std::array<uint32_t, 256> MakeCrcTable() {
  constexpr uint32_t kCastagnoli = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}

}  // namespace

uint32_t MaskedCrc(BytesView bytes) {
  static const std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

}  // namespace kvarts
