// ChunkedDecoder: takes the framing off a chunked body (RFC 9112, section 7.1), as it arrives.
//
// Strict for the same reason as the head's parser: a size is hex digits and nothing around them, lines end in CR LF,
// the bytes after a chunk are CR LF. Extensions are skipped and trailers dropped, both within a bound, so that a body
// cannot be mostly framing.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/http/http_error.h"

namespace kvarts::http {

class ChunkedDecoder {
 public:
  static constexpr size_t kMaxExtensionBytes = 4 << 10;  // of all chunks together
  static constexpr size_t kMaxTrailerBytes = 8 << 10;
  static constexpr int kMaxSizeDigits = 16;

  struct Progress {
    size_t consumed = 0;  // of the input: all of it, unless the body ended within it
    size_t produced = 0;  // bytes of the body
    bool done = false;    // what was not consumed belongs to the next request
    HttpError error;      // 400, 413 or 431
  };

  // A body of more than `max_body_bytes` is refused as soon as a chunk announces it.
  explicit ChunkedDecoder(uint64_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  // `out` has room for as many bytes as the input has; it may be the input's own place, or one before it in the same
  // buffer, so that a body is decoded where it arrived. Not called again after it was done, or failed.
  Progress Decode(std::string_view input, char* out);

  uint64_t body_bytes() const { return body_bytes_; }

 private:
  enum class State : uint8_t {
    kSize,
    kExtension,
    kSizeEnd,  // wants LF
    kData,
    kDataReturn,  // wants CR
    kDataEnd,     // wants LF
    kTrailerStart,
    kTrailerName,
    kTrailerValue,
    kTrailerEnd,  // wants LF
    kLastEnd,     // wants LF
    kDone,
  };

  HttpError TakeByte(char c);
  HttpError TakeSize(char c);
  HttpError TakeTrailer(char c);
  HttpError EndSize();

  uint64_t max_body_bytes_;
  uint64_t body_bytes_ = 0;
  uint64_t left_ = 0;  // of the chunk; while its size is read, that size
  size_t extension_bytes_ = 0;
  size_t trailer_bytes_ = 0;
  int digits_ = 0;
  State state_ = State::kSize;
};

}  // namespace kvarts::http
