#include "protocol/resp/room.h"

namespace kvarts::resp {

Status Room::ExpectReading(uint64_t bytes) const { return bytes <= kLittle ? Status() : ExpectLooking(); }

Status Room::ExpectLooking() const { return on_worker_ ? Status() : Error(ErrorCode::kOverloaded, kNeedsWorker); }

Status Room::ExpectAnswers(uint64_t bytes) {
  if (bytes <= kLittle || bytes <= counted_) return {};
  if (divisible_ && bytes > kMaxTogether) return Error(ErrorCode::kTooLarge, kTooMuchTogether);
  const uint64_t more = bytes - counted_;
  counted_ = bytes;
  if (held_.Add(more)) return {};
  return Error(ErrorCode::kOverloaded, "all clients together hold too much",
               {{"limit", "redis.max_held_bytes"}, {"bytes", std::to_string(bytes)}});
}

}  // namespace kvarts::resp
