// Text in aligned columns, for a terminal.
#pragma once

#include <string>
#include <vector>

namespace kvarts::cli {

class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight };

  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // A line per row, each behind `indent` blanks, two blanks between columns, none at the end.
  std::string ToString(size_t indent = 0) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kvarts::cli
