#include "base/uuid.h"

#include <sys/random.h>

#include <cstdlib>

#include "base/bytes.h"

namespace kvarts {

std::string Uuid::ToString() const {
  const std::string hex = ToHex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

std::optional<Uuid> Uuid::Parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string hex;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-')) return std::nullopt;
    if (!dash) hex.push_back(text[i]);
  }
  const Result<Bytes> raw = FromHex(hex);
  if (!raw.has_value()) return std::nullopt;
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), raw->data(), uuid.bytes.size());
  return uuid;
}

Uuid Uuid::Version7(Timestamp now, uint64_t random) {
  constexpr uint64_t kVersion = 7;
  constexpr uint64_t kVariant = 2;
  const uint64_t millis = now.micros / 1000;
  const uint64_t fraction = now.micros % 1000 * 4096 / 1000;
  Uuid uuid;
  auto* out = reinterpret_cast<char*>(uuid.bytes.data());
  StoreBig<uint64_t>(out, millis << 16 | kVersion << 12 | fraction);
  StoreBig<uint64_t>(out + 8, kVariant << 62 | random >> 2);
  return uuid;
}

Uuid Uuid::Version7(Timestamp now) { return Version7(now, RandomBits()); }

uint64_t RandomBits() {
  uint64_t bits = 0;
  // Eight bytes are never cut short and block only before the system is seeded; there is no going on without them.
  if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) std::abort();
  return bits;
}

}  // namespace kvarts
