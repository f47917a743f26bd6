// Reads what Prometheus would be given, and is stricter than Prometheus is: the whole text is held against the rules of
// the format (0.0.4, or OpenMetrics 1.0) and of good metrics.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvarts::test {

struct MetricSample {
  std::string name;  // with _bucket and the like
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct MetricFamily {
  std::string type;
  std::string help;
  std::vector<MetricSample> samples;
};

struct Exposition {
  // By the names that stand in TYPE.
  std::map<std::string, MetricFamily> families;

  // Of the sample with exactly these labels; NaN when there is none.
  double Value(const std::string& name, const std::map<std::string, std::string>& labels = {}) const;
  // How many series there are.
  size_t Series() const;
  // Every value that a label has anywhere.
  std::map<std::string, std::vector<std::string>> LabelValues() const;
  // The names of all samples.
  std::vector<std::string> Names() const;
};

// `invalid_argument` with the line that is wrong.
Result<Exposition> ParseExposition(std::string_view text, bool open_metrics = false);

}  // namespace kvarts::test
