#include "model/structure/lcs.h"

#include <algorithm>

#include "model/structure/refusals.h"

namespace kvarts::structure {
namespace {

// How long the longest is of each pair of beginnings.
class Table {
 public:
  Table(BytesView first, BytesView second, bool whole)
      : width_(second.size() + 1), rows_(whole ? first.size() + 1 : 2), sizes_(rows_ * width_) {
    for (size_t i = 1; i <= first.size(); ++i) {
      for (size_t j = 1; j <= second.size(); ++j) {
        At(i, j) = first[i - 1] == second[j - 1] ? At(i - 1, j - 1) + 1 : std::max(At(i - 1, j), At(i, j - 1));
      }
    }
  }
  uint32_t& At(size_t i, size_t j) { return sizes_[(i % rows_) * width_ + j]; }

 private:
  const size_t width_;
  const size_t rows_;  // unless it is whole, that of the last beginning and that before it
  std::vector<uint32_t> sizes_;
};

}  // namespace

Result<Common> LongestCommon(BytesView first, BytesView second, bool details) {
  if ((first.size() + 1) * (second.size() + 1) > kMaxLcsPairs) return Refusal(kLcsTooLarge);
  Table table(first, second, details);
  Common common;
  common.size = table.At(first.size(), second.size());
  if (!details) return common;
  common.text.resize(common.size);
  size_t left = common.size;
  bool adjoins = false;
  for (size_t i = first.size(), j = second.size(); i > 0 && j > 0;) {
    if (first[i - 1] == second[j - 1]) {
      --i;
      --j;
      common.text[--left] = first[i];
      if (adjoins) {
        CommonStretch& stretch = common.stretches.back();
        stretch = {i, j, stretch.size + 1};
      } else {
        common.stretches.push_back({i, j, 1});
      }
      adjoins = true;
    } else {
      adjoins = false;
      if (table.At(i - 1, j) > table.At(i, j - 1)) {
        --i;
      } else {
        --j;
      }
    }
  }
  return common;
}

}  // namespace kvarts::structure
