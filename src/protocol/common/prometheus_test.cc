#include "protocol/common/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/exposition.h"

namespace kvarts {
namespace {

using test::ParseExposition;

TEST(Prometheus, WritesFamiliesAndSamples) {
  Bytes out;
  PrometheusWriter writer(&out, MetricsForm::kPrometheus);
  writer.Counter("a_total", "How many.").Value(uint64_t{18446744073709551615U}).Value(uint64_t{2}, {{"x", "y"}});
  writer.Gauge("b", "A share.").Value(0.25, {{"x", "1"}, {"y", "2"}});
  writer.End();
  EXPECT_EQ(out,
            "# HELP a_total How many.\n# TYPE a_total counter\na_total 18446744073709551615\na_total{x=\"y\"} 2\n"
            "# HELP b A share.\n# TYPE b gauge\nb{x=\"1\",y=\"2\"} 0.25\n");
  EXPECT_TRUE(ParseExposition(out));
}

TEST(Prometheus, EscapesWhatWouldEndALineOrALabel) {
  const std::string hostile = "a\\b\"c\nd\"} 1\n# EOF\n\xc3\xa4";
  for (const MetricsForm form : {MetricsForm::kPrometheus, MetricsForm::kOpenMetrics}) {
    Bytes out;
    PrometheusWriter writer(&out, form);
    writer.Gauge("a", "a \"help\"\nof \\ two lines").Value(1.0, {{"x", hostile}});
    writer.End();
    const auto read = ParseExposition(out, form == MetricsForm::kOpenMetrics);
    ASSERT_TRUE(read) << read.error() << out;
    EXPECT_EQ(read->Value("a", {{"x", hostile}}), 1);
    EXPECT_EQ(read->families.at("a").help, "a \"help\"\nof \\ two lines");
  }
}

TEST(Prometheus, SaysWhatIsNoNumber) {
  Bytes out;
  PrometheusWriter writer(&out, MetricsForm::kPrometheus);
  const double infinity = std::numeric_limits<double>::infinity();
  writer.Gauge("a", "A.")
      .Value(infinity, {{"x", "1"}})
      .Value(-infinity, {{"x", "2"}})
      .Value(std::nan(""), {{"x", "3"}});
  EXPECT_TRUE(out.ends_with("a{x=\"1\"} +Inf\na{x=\"2\"} -Inf\na{x=\"3\"} NaN\n")) << out;
}

TEST(Prometheus, HistogramsAddUp) {
  LatencyHistogram histogram;
  for (const uint64_t nanos : {1'000U, 3'000U, 3'000U, 2'000'000U}) histogram.Record(nanos);
  histogram.Record(600'000'000'000);
  for (const MetricsForm form : {MetricsForm::kPrometheus, MetricsForm::kOpenMetrics}) {
    Bytes out;
    PrometheusWriter writer(&out, form);
    writer.Histogram("h_seconds", "How long.");
    writer.Buckets(histogram.Take(), LatencyHistogram::Boundaries(), {{"operation", "get"}});
    writer.Buckets(HistogramSnapshot(), LatencyHistogram::Boundaries(), {{"operation", "scan"}});
    writer.End();
    const auto read = ParseExposition(out, form == MetricsForm::kOpenMetrics);
    ASSERT_TRUE(read) << read.error();
    const auto at_most = [&](const char* le) {
      return read->Value("h_seconds_bucket", {{"operation", "get"}, {"le", le}});
    };
    EXPECT_EQ(at_most("2e-06"), 1);
    EXPECT_EQ(at_most("4e-06"), 3);
    EXPECT_EQ(at_most("16.777216"), 4);
    EXPECT_EQ(at_most("+Inf"), 5);
    EXPECT_EQ(read->Value("h_seconds_count", {{"operation", "get"}}), 5);
    EXPECT_NEAR(read->Value("h_seconds_sum", {{"operation", "get"}}), 600.002007, 1e-9);
    EXPECT_EQ(read->Value("h_seconds_count", {{"operation", "scan"}}), 0);
  }
}

TEST(Prometheus, OpenMetricsNamesCountersWithoutTotal) {
  Bytes out;
  SizeHistogram sizes;
  sizes.Record(1);
  PrometheusWriter writer(&out, MetricsForm::kOpenMetrics);
  writer.Counter("a_total", "How many.").Value(uint64_t{1});
  writer.Histogram("h", "Sizes.").Buckets(sizes.Take(), SizeHistogram::Boundaries());
  writer.End();
  EXPECT_TRUE(out.starts_with("# HELP a How many.\n# TYPE a counter\na_total 1\n")) << out;
  EXPECT_NE(out.find("h_bucket{le=\"1.0\"} 1\n"), Bytes::npos) << out;
  EXPECT_TRUE(ParseExposition(out, true));
}

}  // namespace
}  // namespace kvarts
