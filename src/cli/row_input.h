// JSON objects one after the other, as rows come from a pipe: a line for each, or each over many lines. How they are
// inside is for the server to judge; here it is only seen where one ends.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/input.h"

namespace kvarts::cli {

// Says where an object ends, over pieces of text.
class ObjectEnd {
 public:
  // How many bytes of the piece belong to the object, its last bracket among them; nothing when it goes on behind it.
  std::optional<size_t> Find(std::string_view piece);

 private:
  size_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
};

class RowInput {
 public:
  static Result<std::unique_ptr<RowInput>> Open(const std::string& path);

  // Nothing at the end. `invalid_argument` where something else than an object stands, or one does not end.
  Result<std::optional<Bytes>> Next();
  // Of the line on which the row returned last ended.
  uint64_t line() const { return lines_->number(); }

 private:
  explicit RowInput(std::unique_ptr<LineInput> lines) : lines_(std::move(lines)) {}

  std::unique_ptr<LineInput> lines_;
  Bytes rest_;  // of the line
};

}  // namespace kvarts::cli
