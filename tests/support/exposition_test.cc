#include "support/exposition.h"

#include <gtest/gtest.h>

namespace kvarts::test {
namespace {

constexpr std::string_view kHead = "# HELP x_total a b\n# TYPE x_total counter\n";

TEST(Exposition, ReadsSamples) {
  const auto read = ParseExposition(std::string(kHead) + "x_total{a=\"1\\\"\\\\\\n\",b=\"2\"} 5\nx_total 1e3\n");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->Value("x_total", {{"a", "1\"\\\n"}, {"b", "2"}}), 5);
  EXPECT_EQ(read->Value("x_total"), 1000);
  EXPECT_EQ(read->Series(), 2U);
}

TEST(Exposition, RefusesWhatBreaksTheRules) {
  for (const std::string lines : {"x_total 1",
                                  "x_total\n",
                                  "x_total  1\n",
                                  "x_total 1 \n",
                                  "y_total 1\n",
                                  "x_total one\n",
                                  "x_total -1\n",
                                  "x_total{} 1\n",
                                  "x_total{a=1} 1\n",
                                  "x_total{a=\"1\"\n",
                                  "x_total{a=\"1\",} 1\n",
                                  "x_total{a=\"\\t\"} 1\n",
                                  "x_total{a=\"1\",a=\"2\"} 1\n",
                                  "x_total{a=\"1\"} 1\nx_total{a=\"1\"} 2\n",
                                  "x_total{1=\"1\"} 1\n",
                                  "\n",
                                  "# a comment\n",
                                  "# TYPE x_total counter\n",
                                  "# HELP x_total again\n",
                                  "# HELP y_total\n"}) {
    EXPECT_FALSE(ParseExposition(std::string(kHead) + lines)) << lines;
  }
  EXPECT_FALSE(ParseExposition("x_total 1\n"));
  EXPECT_FALSE(ParseExposition("# HELP x a\n# TYPE x counter\nx 1\n"));
}

TEST(Exposition, HoldsHistogramsAgainstThemselves) {
  const std::string head = "# HELP h a\n# TYPE h histogram\n";
  EXPECT_TRUE(ParseExposition(
      head + "h_bucket{le=\"1\"} 1\nh_bucket{le=\"2\"} 3\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\n"));
  for (const std::string lines :
       {"h_bucket{le=\"1\"} 1\nh_sum 4\nh_count 1\n", "h_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 2\n",
        "h_bucket{le=\"1\"} 4\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\n",
        "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\n",
        "h_bucket{le=\"+Inf\"} 3\nh_count 3\n", "h_bucket{le=\"+Inf\"} 3\nh_sum{le=\"1\"} 1\nh_count 3\n", "h 3\n"}) {
    EXPECT_FALSE(ParseExposition(head + lines)) << lines;
  }
}

TEST(Exposition, OpenMetricsEnds) {
  const std::string text = "# HELP x a\n# TYPE x counter\nx_total 1\n";
  EXPECT_FALSE(ParseExposition(text, true));
  EXPECT_TRUE(ParseExposition(text + "# EOF\n", true));
  EXPECT_FALSE(ParseExposition(text + "# EOF\n", false));
}

}  // namespace
}  // namespace kvarts::test
