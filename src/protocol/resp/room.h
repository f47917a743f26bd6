// Room: what the answers of one run of a batch may take, in memory and in time.
//
// Answers are held until the client has taken them, and count among what all connections hold
// (RespOptions::max_held_bytes). Those of many commands are not gathered beyond kMaxTogether: the batch is then given
// up, and each of its commands is run and answered by itself. What is read for long is not read on a loop.
#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/common/held_bytes.h"

namespace kvarts::resp {

// The errors with which a batch is given up, to be run otherwise.
inline constexpr const char* kNeedsWorker = "a worker has to look through this";
inline constexpr const char* kTooMuchTogether = "the answers of a pipeline are too large to be gathered";

class Room {
 public:
  static constexpr uint64_t kMaxTogether = 16 << 20;
  // Less is read anywhere, and not counted.
  static constexpr uint64_t kLittle = 1 << 20;
  static constexpr uint64_t kFew = 5'000;  // elements

  // `divisible`: its commands may be run by themselves instead.
  Room(HeldBytes& held, bool on_worker, bool divisible) : held_(held), on_worker_(on_worker), divisible_(divisible) {}

  // Before so many bytes are read.
  Status ExpectReading(uint64_t bytes) const;
  // Before it is looked through what may be much.
  Status ExpectLooking() const;
  // Before so many elements are gone through.
  Status ExpectElements(uint64_t count) const { return count <= kFew ? Status() : ExpectLooking(); }
  // So many bytes is what is answered so far, or is about to be.
  Status ExpectAnswers(uint64_t bytes);

 private:
  HeldBytes& held_;
  const bool on_worker_;
  const bool divisible_;
  uint64_t counted_ = 0;
};

}  // namespace kvarts::resp
