#include "engine/record.h"

#include <limits>

namespace kvarts {

int64_t CounterNumber(const ValueHeader& header, BytesView value) {
  if (header.kind != ValueKind::kCounter || value.size() != sizeof(int64_t)) return 0;
  return LoadLittle<int64_t>(value.data());
}

Bytes CounterValue(int64_t number) {
  Bytes value;
  AppendLittle(&value, number);
  return value;
}

int64_t SaturatingAdd(int64_t base, int64_t delta, bool* saturated) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(base, delta, &sum)) return sum;
  *saturated = true;
  return delta > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace kvarts
