// PrometheusWriter: metrics in the text form that Prometheus reads (0.0.4), or in that of OpenMetrics 1.0.
//
//   PrometheusWriter metrics(&out, MetricsForm::kPrometheus);
//   metrics.Counter("kvarts_requests_total", "Requests answered.");
//   metrics.Value(12, {{"code", "2xx"}});
//   metrics.Gauge("kvarts_connections", "Connections open.").Value(3);
//   metrics.End();
//
// A family is begun, and what follows are its samples. Names of families and labels are constants of ours; values of
// labels are escaped, and come from small fixed sets: whoever writes a metric sees to that, since each combination of
// them is a series that Prometheus keeps.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/histogram.h"

namespace kvarts {

enum class MetricsForm : uint8_t { kPrometheus, kOpenMetrics };
constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kOpenMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

class PrometheusWriter {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::initializer_list<Label>;

  PrometheusWriter(Bytes* out, MetricsForm form) : out_(*out), form_(form) {}
  PrometheusWriter(const PrometheusWriter&) = delete;
  PrometheusWriter& operator=(const PrometheusWriter&) = delete;

  // Each begins a family. The name of a counter ends with _total.
  PrometheusWriter& Counter(std::string_view name, std::string_view help) { return Begin(name, "counter", help); }
  PrometheusWriter& Gauge(std::string_view name, std::string_view help) { return Begin(name, "gauge", help); }
  PrometheusWriter& Histogram(std::string_view name, std::string_view help) { return Begin(name, "histogram", help); }

  // Samples of the family that was begun last.
  PrometheusWriter& Value(double value, Labels labels = {});
  PrometheusWriter& Value(uint64_t value, Labels labels = {});
  // At most of the same boundaries, every time: a series that changes them cannot be added up.
  PrometheusWriter& Buckets(const HistogramSnapshot& histogram, std::span<const double> boundaries, Labels labels = {});

  // After the last family.
  void End();

 private:
  PrometheusWriter& Begin(std::string_view name, std::string_view type, std::string_view help);
  // The name, the labels and, if there is one, the boundary of a bucket.
  void Series(std::string_view suffix, Labels labels, std::string_view le);
  void Number(double value);

  Bytes& out_;
  const MetricsForm form_;
  std::string_view name_;
};

}  // namespace kvarts
