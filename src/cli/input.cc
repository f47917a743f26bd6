#include "cli/input.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kvarts::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr size_t kReadBytes = 64 << 10;

Error Unreadable(const std::string& path) {
  return Error(ErrorCode::kUnavailable, "the file cannot be read", {{"path", path}, {"cause", std::strerror(errno)}});
}

Result<std::FILE*> OpenFile(const std::string& path) {
  if (path == kStandardInput) return stdin;
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return Unreadable(path);
  return file;
}

void CloseFile(std::FILE* file) {
  if (file != stdin) std::fclose(file);
}

}  // namespace

Result<Bytes> ReadInput(const std::string& path, size_t at_most) {
  KVARTS_TRY(std::FILE * file, OpenFile(path));
  Bytes bytes;
  std::array<char, kReadBytes> chunk;
  while (const size_t got = std::fread(chunk.data(), 1, chunk.size(), file)) {
    bytes.append(chunk.data(), got);
    if (bytes.size() > at_most) {
      CloseFile(file);
      return Error(ErrorCode::kTooLarge, "the input is too large",
                   {{"path", path}, {"at_most", std::to_string(at_most)}});
    }
  }
  const bool failed = std::ferror(file) != 0;
  CloseFile(file);
  if (failed) return Unreadable(path);
  return bytes;
}

Result<std::unique_ptr<LineInput>> LineInput::Open(const std::string& path, size_t max_line_bytes) {
  KVARTS_TRY(std::FILE * file, OpenFile(path));
  std::unique_ptr<LineInput> input(new LineInput(file, path, max_line_bytes));
  struct stat about {};
  if (fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode)) input->size_ = static_cast<uint64_t>(about.st_size);
  return input;
}

LineInput::~LineInput() { CloseFile(file_); }

Error LineInput::TooLong() const {
  return Error(ErrorCode::kTooLarge, "a line is too long",
               {{"line", std::to_string(number_ + 1)}, {"at_most", std::to_string(max_line_bytes_)}});
}

Result<std::optional<Bytes>> LineInput::Next() {
  size_t end = buffer_.find('\n', at_);
  while (end == Bytes::npos) {
    buffer_.erase(0, std::exchange(at_, 0));
    const size_t before = buffer_.size();
    if (before > max_line_bytes_) return TooLong();
    buffer_.resize(before + kReadBytes);
    const size_t got = std::fread(buffer_.data() + before, 1, kReadBytes, file_);
    buffer_.resize(before + got);
    bytes_read_ += got;
    if (got == 0 && std::ferror(file_) != 0) return Unreadable(path_);
    if (got == 0 && before == 0) return std::optional<Bytes>();
    end = got == 0 ? before : buffer_.find('\n', before);
  }
  if (end - at_ > max_line_bytes_) return TooLong();
  ++number_;
  Bytes line = buffer_.substr(at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  if (line.ends_with('\r')) line.pop_back();
  return std::optional(std::move(line));
}

}  // namespace kvarts::cli
