#include "net/http/chunked.h"

#include <algorithm>
#include <cstring>

#include "base/hex_digit.h"
#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr HttpError kBadSize{400, "the size of a chunk is malformed"};
constexpr HttpError kBadExtension{400, "a control character in the extension of a chunk"};
constexpr HttpError kExtensionsTooLarge{400, "the extensions of the chunks are too large"};
constexpr HttpError kBadLineEnd{400, "a line of a chunked body must end with CR LF"};
constexpr HttpError kBadChunkEnd{400, "a chunk is not as long as it said"};
constexpr HttpError kBadTrailer{400, "a trailer is malformed"};
constexpr HttpError kTrailersTooLarge{431, "the trailers are too large"};
constexpr HttpError kBodyTooLarge{413, "the body is too large"};

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

}  // namespace

ChunkedDecoder::Progress ChunkedDecoder::Decode(std::string_view input, char* out) {
  Progress progress;
  size_t at = 0;
  while (at < input.size() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const size_t size = std::min<uint64_t>(left_, input.size() - at);
      std::memmove(out + progress.produced, input.data() + at, size);
      progress.produced += size;
      at += size;
      left_ -= size;
      if (left_ == 0) state_ = State::kDataReturn;
      continue;
    }
    progress.error = TakeByte(input[at]);
    if (progress.error) break;
    ++at;
  }
  progress.consumed = at;
  progress.done = state_ == State::kDone;
  return progress;
}

HttpError ChunkedDecoder::TakeByte(char c) {
  switch (state_) {
    case State::kSize:
      return TakeSize(c);
    case State::kExtension:
      if (c == '\r') {
        state_ = State::kSizeEnd;
        return kNoError;
      }
      if (IsControl(c)) return c == '\n' ? kBadLineEnd : kBadExtension;
      return ++extension_bytes_ > kMaxExtensionBytes ? kExtensionsTooLarge : kNoError;
    case State::kSizeEnd:
      return c == '\n' ? EndSize() : kBadLineEnd;
    case State::kDataReturn:
      state_ = State::kDataEnd;
      return c == '\r' ? kNoError : kBadChunkEnd;
    case State::kDataEnd:
      state_ = State::kSize;
      return c == '\n' ? kNoError : kBadChunkEnd;
    default:
      return TakeTrailer(c);
  }
}

HttpError ChunkedDecoder::TakeSize(char c) {
  const int digit = HexValue(c);
  if (digit >= 0) {
    if (++digits_ > kMaxSizeDigits) return kBadSize;
    left_ = left_ << 4 | static_cast<uint64_t>(digit);
    return kNoError;
  }
  if (digits_ == 0 || (c != '\r' && c != ';')) return c == '\n' ? kBadLineEnd : kBadSize;
  state_ = c == '\r' ? State::kSizeEnd : State::kExtension;
  return kNoError;
}

HttpError ChunkedDecoder::EndSize() {
  digits_ = 0;
  if (left_ > max_body_bytes_ - body_bytes_) return kBodyTooLarge;
  body_bytes_ += left_;
  state_ = left_ == 0 ? State::kTrailerStart : State::kData;
  return kNoError;
}

HttpError ChunkedDecoder::TakeTrailer(char c) {
  if (state_ == State::kTrailerEnd || state_ == State::kLastEnd) {
    if (c != '\n') return kBadLineEnd;
    state_ = state_ == State::kLastEnd ? State::kDone : State::kTrailerStart;
    return kNoError;
  }
  if (state_ == State::kTrailerStart && c == '\r') {
    state_ = State::kLastEnd;
    return kNoError;
  }
  if (++trailer_bytes_ > kMaxTrailerBytes) return kTrailersTooLarge;
  if (c == '\n') return kBadLineEnd;
  if (state_ == State::kTrailerValue) {
    if (c == '\r') state_ = State::kTrailerEnd;
    return c != '\r' && IsControl(c) ? kBadTrailer : kNoError;
  }
  if (c == ':' && state_ == State::kTrailerName) {
    state_ = State::kTrailerValue;
    return kNoError;
  }
  state_ = State::kTrailerName;
  return Is(c, kTokenClass) ? kNoError : kBadTrailer;
}

}  // namespace kvarts::http
