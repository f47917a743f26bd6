// Reads the tables of FORMAT.md, so that tests hold the code against the document. Header-only: tests of the lowest
// layers use it too.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#ifndef KVARTS_SOURCE_DIR
#error "the build defines KVARTS_SOURCE_DIR for tests"
#endif

namespace kvarts {

using FormatRow = std::vector<std::string>;

inline std::string TrimmedCell(const std::string& cell) {
  const size_t begin = cell.find_first_not_of(' ');
  if (begin == cell.npos) return "";
  return cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
}

inline std::string WithoutTicks(std::string cell) {
  std::erase(cell, '`');
  return cell;
}

inline FormatRow CellsOf(const std::string& line) {
  FormatRow cells;
  for (size_t begin = 1; begin < line.size();) {
    const size_t end = std::min(line.find('|', begin), line.size());
    cells.push_back(TrimmedCell(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

// The rows of the table under a heading, without its head.
inline std::vector<FormatRow> FormatTableUnder(const std::string& heading) {
  std::ifstream file(KVARTS_SOURCE_DIR "/FORMAT.md");
  EXPECT_TRUE(file.good());
  std::vector<FormatRow> rows;
  bool under = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) under = line == heading;
    if (under && line.starts_with("|")) rows.push_back(CellsOf(line));
  }
  EXPECT_GT(rows.size(), 2u) << heading;
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

}  // namespace kvarts
