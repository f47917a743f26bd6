#include "load/report.h"

#include <fmt/format.h>

namespace kvarts::load {
namespace {

double Micros(uint64_t nanos) { return static_cast<double>(nanos) / 1e3; }

// The first line of an answer; what is no text is left out.
std::string FirstLine(const std::string& answer) {
  std::string line;
  for (const char c : answer) {
    if (c == '\r' || c == '\n') break;
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') line += c;
  }
  return line;
}

}  // namespace

std::string ReportText(const Report& report, bool allow_missing) {
  const Histogram& latency = report.latency;
  std::string text = fmt::format("answers    {} in {:.2f} s\n", report.answers, report.seconds);
  text += fmt::format("rate       {:.0f} /s\n", report.Rate());
  text += fmt::format("latency    p50 {:.0f}  p90 {:.0f}  p99 {:.0f}  p99.9 {:.0f}  max {:.0f}  mean {:.0f} µs\n",
                      Micros(latency.Quantile(0.5)), Micros(latency.Quantile(0.9)), Micros(latency.Quantile(0.99)),
                      Micros(latency.Quantile(0.999)), Micros(latency.max()), latency.Mean() / 1e3);
  text +=
      fmt::format("errors     {} ({} missing, {} unexpected, {} broken; {} reconnects)\n", report.Errors(allow_missing),
                  report.missing, report.unexpected, report.broken, report.reconnects);
  if (report.unsent != 0) text += fmt::format("unsent     {} that were due: the server is too slow\n", report.unsent);
  if (!report.first_error.empty()) text += fmt::format("           the first: {}\n", FirstLine(report.first_error));
  text += fmt::format("bytes      {} sent, {} received\n", report.bytes_sent, report.bytes_received);
  text += fmt::format("generator  {:.2f} µs of CPU for each request\n", report.CpuPerRequest() / 1e3);
  return text;
}

std::string ReportJson(const Report& report, bool allow_missing) {
  const Histogram& latency = report.latency;
  std::string text =
      fmt::format(R"({{"answers":{},"seconds":{:.3f},"rate":{:.1f},)", report.answers, report.seconds, report.Rate());
  text +=
      fmt::format(R"("latency":{{"p50":{:.1f},"p90":{:.1f},"p99":{:.1f},"p999":{:.1f},"max":{:.1f},"mean":{:.1f}}},)",
                  Micros(latency.Quantile(0.5)), Micros(latency.Quantile(0.9)), Micros(latency.Quantile(0.99)),
                  Micros(latency.Quantile(0.999)), Micros(latency.max()), latency.Mean() / 1e3);
  text += fmt::format(
      R"("errors":{},"missing":{},"unexpected":{},"broken":{},"unsent":{},"reconnects":{},"first_error":"{}",)",
      report.Errors(allow_missing), report.missing, report.unexpected, report.broken, report.unsent, report.reconnects,
      FirstLine(report.first_error));
  text += fmt::format(R"("bytes_sent":{},"bytes_received":{},"generator_cpu":{:.2f}}})", report.bytes_sent,
                      report.bytes_received, report.CpuPerRequest() / 1e3);
  return text + "\n";
}

}  // namespace kvarts::load
