#include "cli/row_input.h"

namespace kvarts::cli {
namespace {

// The server has a limit of its own, which is lower; this is what we hold in memory.
constexpr size_t kMaxRowBytes = 64 << 20;

void SkipSpace(Bytes* text) { text->erase(0, std::min(text->find_first_not_of(" \t\r\n"), text->size())); }

}  // namespace

std::optional<size_t> ObjectEnd::Find(std::string_view piece) {
  for (size_t i = 0; i < piece.size(); ++i) {
    const char c = piece[i];
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0 && --depth_ == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

Result<std::unique_ptr<RowInput>> RowInput::Open(const std::string& path) {
  KVARTS_TRY(auto lines, LineInput::Open(path, kMaxRowBytes));
  return std::unique_ptr<RowInput>(new RowInput(std::move(lines)));
}

Result<std::optional<Bytes>> RowInput::Next() {
  SkipSpace(&rest_);
  while (rest_.empty()) {
    KVARTS_TRY(std::optional<Bytes> line, lines_->Next());
    if (!line) return std::optional<Bytes>();
    rest_ = *std::move(line);
    SkipSpace(&rest_);
  }
  if (!rest_.starts_with('{')) {
    return Error(ErrorCode::kInvalidArgument, "a row is a JSON object", {{"line", std::to_string(line())}});
  }
  ObjectEnd end;
  Bytes row;
  while (true) {
    if (const std::optional<size_t> size = end.Find(rest_)) {
      row.append(rest_, 0, *size);
      rest_.erase(0, *size);
      return std::optional(std::move(row));
    }
    row.append(rest_).push_back('\n');
    if (row.size() > kMaxRowBytes) {
      return Error(ErrorCode::kTooLarge, "a row is too large", {{"line", std::to_string(line())}});
    }
    KVARTS_TRY(std::optional<Bytes> next, lines_->Next());
    if (!next) return Error(ErrorCode::kInvalidArgument, "the last row does not end");
    rest_ = *std::move(next);
  }
}

}  // namespace kvarts::cli
