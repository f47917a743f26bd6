// Files and the standard input, as commands read them: whole, or line by line, and never more than was agreed.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace kvarts::cli {

// All of it; "-" is the standard input. `too_large` beyond `at_most`.
Result<Bytes> ReadInput(const std::string& path, size_t at_most);

// Lines of a file or, as "-", of the standard input.
class LineInput {
 public:
  static Result<std::unique_ptr<LineInput>> Open(const std::string& path, size_t max_line_bytes);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  // Without the end of the line; nothing at the end. The last line need not end.
  Result<std::optional<Bytes>> Next();
  // Of the line returned last, from 1 on.
  uint64_t number() const { return number_; }
  uint64_t bytes_read() const { return bytes_read_; }
  // How much there is, where that can be known.
  std::optional<uint64_t> size() const { return size_; }

 private:
  LineInput(std::FILE* file, std::string path, size_t max_line_bytes)
      : file_(file), path_(std::move(path)), max_line_bytes_(max_line_bytes) {}

  Error TooLong() const;

  std::FILE* const file_;
  const std::string path_;
  const size_t max_line_bytes_;
  std::optional<uint64_t> size_;
  Bytes buffer_;
  size_t at_ = 0;  // where in the buffer the next line begins
  uint64_t number_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace kvarts::cli
