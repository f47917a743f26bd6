#include "protocol/resp/expiry.h"

#include <algorithm>

#include "protocol/resp/arguments.h"

namespace kvarts::resp {
namespace {

constexpr int64_t kPerUnit = 1000;

}  // namespace

Result<Timestamp> TimeOf(std::string_view argument, Unit unit, const Timestamp* now, std::string_view command,
                         bool past_too) {
  KVARTS_TRY(int64_t millis, IntegerOf(argument));
  if (millis <= 0 && !past_too) return WrongExpire(command);
  if (unit == Unit::kSeconds && __builtin_mul_overflow(millis, kPerUnit, &millis)) return WrongExpire(command);
  if (now != nullptr && __builtin_add_overflow(millis, MillisOf(*now), &millis)) return WrongExpire(command);
  // The last instant at which anything expires, for what lies beyond it.
  constexpr uint64_t kLast = kLastTimestamp.micros;
  const auto since = static_cast<uint64_t>(std::max<int64_t>(millis, 0));
  return Timestamp{since > kLast / kPerUnit ? kLast : since * kPerUnit};
}

}  // namespace kvarts::resp
