#include "protocol/common/prometheus.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace kvarts {
namespace {

constexpr std::string_view kTotal = "_total";

// Of a label's value; of help all but the quotes.
void AppendEscaped(Bytes* out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out->append("\\n");
    } else {
      if (c == '\\' || (quotes && c == '"')) out->push_back('\\');
      out->push_back(c);
    }
  }
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

// OpenMetrics wants boundaries to look like numbers with a fraction.
std::string BoundaryText(double value, MetricsForm form) {
  std::string text = NumberText(value);
  if (form == MetricsForm::kOpenMetrics && text.find_first_of(".eIN") == std::string::npos) text.append(".0");
  return text;
}

}  // namespace

PrometheusWriter& PrometheusWriter::Begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  // There a counter's family is called without what its samples end with.
  if (form_ == MetricsForm::kOpenMetrics && name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
  fmt::format_to(std::back_inserter(out_), "# HELP {} ", name);
  AppendEscaped(&out_, help, form_ == MetricsForm::kOpenMetrics);
  fmt::format_to(std::back_inserter(out_), "\n# TYPE {} {}\n", name, type);
  return *this;
}

void PrometheusWriter::Series(std::string_view suffix, Labels labels, std::string_view le) {
  out_.append(name_).append(suffix);
  char before = '{';
  const auto append = [&](std::string_view name, std::string_view value) {
    out_.push_back(before);
    out_.append(name).append("=\"");
    AppendEscaped(&out_, value, true);
    out_.push_back('"');
    before = ',';
  };
  for (const auto& [name, value] : labels) append(name, value);
  if (!le.empty()) append("le", le);
  if (before == ',') out_.push_back('}');
  out_.push_back(' ');
}

void PrometheusWriter::Number(double value) { out_.append(NumberText(value)).push_back('\n'); }

PrometheusWriter& PrometheusWriter::Value(double value, Labels labels) {
  Series({}, labels, {});
  Number(value);
  return *this;
}

PrometheusWriter& PrometheusWriter::Value(uint64_t value, Labels labels) {
  Series({}, labels, {});
  fmt::format_to(std::back_inserter(out_), "{}\n", value);
  return *this;
}

PrometheusWriter& PrometheusWriter::Buckets(const HistogramSnapshot& histogram, std::span<const double> boundaries,
                                            Labels labels) {
  for (const double boundary : boundaries) {
    Series("_bucket", labels, BoundaryText(boundary, form_));
    fmt::format_to(std::back_inserter(out_), "{}\n", histogram.CountAtMost(boundary));
  }
  const uint64_t count = histogram.Count();
  Series("_bucket", labels, "+Inf");
  fmt::format_to(std::back_inserter(out_), "{}\n", count);
  Series("_sum", labels, {});
  Number(histogram.Sum());
  Series("_count", labels, {});
  fmt::format_to(std::back_inserter(out_), "{}\n", count);
  return *this;
}

void PrometheusWriter::End() {
  if (form_ == MetricsForm::kOpenMetrics) out_.append("# EOF\n");
}

}  // namespace kvarts
