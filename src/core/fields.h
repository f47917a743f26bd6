// FieldReader: takes a stored value apart, field by field, for the codecs of core.
//
//   FieldReader fields(bytes);
//   job.throttle = fields.Varint(kMaxThrottle);
//   job.kind = fields.Sized(kMaxKindBytes);
//   KVARTS_CHECK_OK(fields.Finish("the job is damaged"));
//
// It may be given any bytes. The first thing that is wrong sticks: everything after it reads as zero or empty, and
// Finish says what and where. So a codec reads straight down, and looks once. It is strict: a number has one encoding.
// What it returns is borrowed from the bytes.
#pragma once

#include <cstdint>
#include <limits>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/version.h"

namespace kvarts {

class FieldReader {
 public:
  explicit FieldReader(BytesView bytes) : bytes_(bytes), left_(bytes) {}

  uint8_t Byte(uint8_t at_most = std::numeric_limits<uint8_t>::max());
  uint64_t Varint(uint64_t at_most = std::numeric_limits<uint64_t>::max());
  // Eight bytes, big-endian.
  uint64_t Fixed();
  Version TakeVersion() { return {Fixed()}; }
  Timestamp TakeTime() { return {Fixed()}; }
  // A varint length and as many bytes.
  BytesView Sized(size_t at_most = std::numeric_limits<size_t>::max());
  // Exactly so many bytes.
  BytesView Raw(size_t size);
  // Whatever is left.
  BytesView Rest();

  // Something that must hold of what was read; `why` is a constant.
  void Require(bool holds, const char* why);
  bool ok() const { return why_ == nullptr; }
  // That nothing was wrong and nothing is left. `text` is a constant: the text of the error, `corruption`.
  Status Finish(const char* text);

 private:
  const BytesView bytes_;
  BytesView left_;
  const char* why_ = nullptr;  // the first thing that was wrong
  size_t where_ = 0;
};

}  // namespace kvarts
