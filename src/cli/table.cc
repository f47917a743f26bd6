#include "cli/table.h"

#include <algorithm>

#include "cli/text.h"

namespace kvarts::cli {

std::string Table::ToString(size_t indent) const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), Columns(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - Columns(row[i]), ' ');
      if (i > 0) line.append("  ");
      line.append(columns_[i] == Align::kRight ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.append(line).append("\n");
  }
  return out;
}

}  // namespace kvarts::cli
