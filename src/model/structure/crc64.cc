#include "model/structure/crc64.h"

#include <array>

namespace kvarts::structure {
namespace {

constexpr uint64_t kReflected = 0x95ac9329ac4bc9b5;

constexpr std::array<uint64_t, 256> MakeTable() {
  std::array<uint64_t, 256> table{};
  for (uint64_t byte = 0; byte < table.size(); ++byte) {
    uint64_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kReflected : 0);
    table[byte] = sum;
  }
  return table;
}

constexpr std::array<uint64_t, 256> kTable = MakeTable();

}  // namespace

uint64_t Crc64(BytesView bytes) {
  uint64_t sum = 0;
  for (const char c : bytes) sum = kTable[(sum ^ static_cast<uint8_t>(c)) & 0xff] ^ (sum >> 8);
  return sum;
}

}  // namespace kvarts::structure
