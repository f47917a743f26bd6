#include "base/nearest.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(Nearest, IsWhatWasProbablyMeant) {
  const std::vector<std::string_view> names = {"get", "put", "delete", "deleteif", "scan"};
  EXPECT_EQ(Nearest("gte", names), "get");
  EXPECT_EQ(Nearest("delte", names), "delete");
  EXPECT_EQ(Nearest("sc", names), "scan");
  EXPECT_EQ(Nearest("frobnicate", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), names), "");
}

}  // namespace
}  // namespace kvarts
