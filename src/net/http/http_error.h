// HttpError: why a request was refused while it was taken apart: a status and a constant text. The connection cannot go
// on after one, because nobody knows where the next request would begin.
#pragma once

namespace kvarts::http {

struct HttpError {
  int status = 0;  // zero: there is none
  const char* text = "";

  explicit operator bool() const { return status != 0; }
};

inline constexpr HttpError kNoError{};

}  // namespace kvarts::http
