#include "cli/stats_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "encoding/json_reader.h"

namespace kvarts::cli {
namespace {

using enum Table::Align;

constexpr size_t kHotLines = 8;
constexpr size_t kLongestKey = 40;

// "1,234/s", "0.5/s".
std::string Rate(double per_second) {
  if (per_second > 0 && per_second < 10) return fmt::format("{:.1f}/s", per_second);
  return HumanCount(static_cast<uint64_t>(std::llround(std::max(0.0, per_second)))) + "/s";
}

std::string ByteRate(double per_second) { return HumanBytes(static_cast<uint64_t>(std::max(0.0, per_second))) + "/s"; }

// "48 us", "1.2 ms", "3.4 s".
std::string Latency(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (*seconds < 1e-3) return fmt::format("{:.0f} us", *seconds * 1e6);
  if (*seconds < 1) return fmt::format("{:.1f} ms", *seconds * 1e3);
  return fmt::format("{:.1f} s", *seconds);
}

// No line longer than the screen is wide; sequences that only colour take no place and are kept.
std::string Fitted(std::string_view text, size_t columns) {
  std::string out;
  size_t column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      const size_t end = std::min(text.find('m', i), text.size() - 1);
      out.append(text.substr(i, end - i + 1));
      i = end;
      continue;
    }
    if (text[i] == '\n') column = 0;
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;  // a character of UTF-8
    if (text[i] != '\n' && !continues) ++column;
    if (column <= columns) out.push_back(text[i]);
  }
  return out;
}

// The two snapshots, and what changed from one to the other.
class Change {
 public:
  Change(const StatsSnapshot& now, const StatsSnapshot& before)
      : now_(now), before_(before), seconds_(now.Number("server.time") - before.Number("server.time")) {}

  // Of a counter. A server that was started anew begins at zero.
  double PerSecond(std::string_view path) const {
    if (seconds_ <= 0) return 0;
    return std::max(0.0, now_.Number(path) - before_.Number(path)) / seconds_;
  }
  // Of two counters, the share that the first gained.
  std::string Share(std::string_view part, std::string_view rest) const {
    const double gained = PerSecond(part);
    const double other = PerSecond(rest);
    return gained + other > 0 ? HumanPercent(gained / (gained + other)) : "-";
  }
  const StatsSnapshot& now() const { return now_; }
  const StatsSnapshot& before() const { return before_; }

 private:
  const StatsSnapshot& now_;
  const StatsSnapshot& before_;
  const double seconds_;
};

std::string Title(const StatsSnapshot& now) {
  const auto uptime = Duration::Micros(static_cast<int64_t>(now.Number("server.uptime_seconds") * 1e6));
  std::string title = Bold(fmt::format("Kvarts {} on {}, up {}", now.Text("server.version"), now.Text("server.engine"),
                                       HumanDuration(uptime)));
  const std::string reason = now.Text("not_writable_because");
  if (!reason.empty()) title += "  " + Red("takes no writes: " + reason);
  return title + "\n\n";
}

std::string Requests(const Change& change) {
  Table table({kLeft, kRight, kRight, kRight, kRight});
  table.Add({"requests", "rate", "p50", "p99", "p99.9"});
  for (const std::string_view operation : {"get", "scan", "commit", "other"}) {
    const auto quantile = [&](double q) {
      return Latency(QuantileBetween(change.now(), change.before(), operation, q));
    };
    table.Add({std::string(operation),
               Rate(change.PerSecond(fmt::format("server.requests.latency.{}.count", operation))), quantile(0.5),
               quantile(0.99), quantile(0.999)});
  }
  return table.ToString() + "\n";
}

void AddTraffic(const Change& change, Table* table) {
  const auto rate = [&](const char* path) { return Rate(change.PerSecond(path)); };
  const auto bytes = [&](const char* path) { return ByteRate(change.PerSecond(path)); };
  const std::string failed = fmt::format("5xx {}", rate("server.requests.answers.5xx"));
  table->Add({"answers", fmt::format("2xx {}  3xx {}  4xx {}  {}", rate("server.requests.answers.2xx"),
                                     rate("server.requests.answers.3xx"), rate("server.requests.answers.4xx"),
                                     change.PerSecond("server.requests.answers.5xx") > 0 ? Red(failed) : failed)});
  table->Add({"held back", fmt::format("slow {}  throttled {}  rate limited {}  stalls {}",
                                       rate("server.requests.slow"), rate("server.requests.throttled"),
                                       rate("server.requests.rate_limited"), rate("commit_path.stalls"))});
  table->Add({"keys", fmt::format("read {} ({})  written {} ({})  tombstones stepped over {}",
                                  rate("server.requests.keys_read"), bytes("server.requests.bytes_read"),
                                  rate("server.requests.keys_written"), bytes("server.requests.bytes_written"),
                                  rate("server.requests.tombstones_skipped"))});
  table->Add({"network",
              fmt::format("in {}  out {}", bytes("server.requests.body_bytes"), bytes("server.requests.sent_bytes"))});
}

void AddResources(const Change& change, Table* table) {
  const StatsSnapshot& now = change.now();
  const auto bytes = [&](const char* path) { return HumanBytes(now.Count(path)); };
  const auto count = [&](const char* path) { return HumanCount(now.Count(path)); };
  table->Add(
      {"server", fmt::format("connections {}  in flight {}  waiting for workers {}  CPU {}  memory {}",
                             count("server.connections.open"), bytes("server.inflight_bytes"),
                             count("server.worker_queue"), HumanPercent(change.PerSecond("server.process.cpu_seconds")),
                             bytes("server.process.resident_bytes"))});
  table->Add({"storage",
              fmt::format("keys {}  live {}  stale {}  log {}  free {}", count("keys_estimate"), bytes("live_bytes"),
                          bytes("stale_bytes"), bytes("log_bytes"), bytes("disk_free_bytes"))});
  const std::string pressure = "pressure " + HumanPercent(now.Number("pressure"));
  table->Add({"compaction",
              fmt::format("{}  pending {}  written {}  flushes {}  compactions {}",
                          now.Number("pressure") >= 0.5 ? Red(pressure) : pressure, bytes("pending_compaction_bytes"),
                          ByteRate(change.PerSecond("storage_bytes_written")), Rate(change.PerSecond("flushes.count")),
                          Rate(change.PerSecond("compactions.count")))});
  table->Add({"amplified",
              fmt::format("write {:.1f}  read {:.0f}  space {:.2f}  tombstones {}",
                          now.Number("write_amplification.value"), now.Number("read_amplification.value"),
                          now.Number("space_amplification.value"), HumanPercent(now.Number("tombstone_ratio.value")))});
  table->Add({"found", fmt::format("hot values {}  data blocks {}  views {}  log sync p99 {}",
                                   change.Share("hot_values.hits", "hot_values.misses"),
                                   change.Share("read_path.data_blocks.hits", "read_path.data_blocks.misses"),
                                   count("open_views"), Latency(now.Number("commit_path.log_sync_seconds.p99")))});
}

std::string HotTable(std::string_view title, const std::vector<HotLine>& lines, size_t at_most, size_t longest) {
  if (lines.empty()) return "";
  const bool spaces = std::ranges::any_of(lines, [](const HotLine& line) { return !line.name_space.empty(); });
  Table table({kLeft, kRight, kRight, kRight, kLeft});
  table.Add({std::string(title), "reads", "writes", "bytes", spaces ? "namespace" : ""});
  for (const HotLine& line : lines) {
    if (at_most-- == 0) break;
    std::string key = Shown(line.key);
    if (line.cut || Columns(key) > longest) key = Fitted(key, longest - 1) + "…";
    table.Add({key, Rate(line.reads), Rate(line.writes), ByteRate(line.bytes), Shown(line.name_space)});
  }
  return table.ToString() + "\n";
}

Result<HotLine> ParseHotLine(JsonReader& json) {
  HotLine line;
  json.Object([&](std::string_view name) {
    if (name == "key" || name == "name") {
      line.key = json.Text();
    } else if (name == "namespace") {
      line.name_space = json.Text();
    } else if (name == "key_base64") {
      line.key = json.Base64();
    } else if (name == "cut") {
      line.cut = json.Bool();
    } else if (name == "reads_per_second") {
      line.reads = json.Double();
    } else if (name == "writes_per_second") {
      line.writes = json.Double();
    } else if (name == "bytes_per_second") {
      line.bytes = json.Double();
    }
  });
  return line;
}

// Visits every figure and text of a JSON value with its way from the top.
template <class OnNumber, class OnText>
void Walk(JsonReader& json, const std::string& path, const OnNumber& on_number, const OnText& on_text) {
  const auto below = [&](std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  };
  switch (json.Peek()) {
    case JsonKind::kObject:
      return json.Object([&](std::string_view name) { Walk(json, below(name), on_number, on_text); });
    case JsonKind::kArray:
      return json.Array([&](size_t index) { Walk(json, below(std::to_string(index)), on_number, on_text); });
    case JsonKind::kNumber:
      return on_number(path, json.Double());
    case JsonKind::kBool:
      return on_number(path, json.Bool() ? 1 : 0);
    case JsonKind::kText:
      return on_text(path, json.Text());
    default:
      json.Skip();
  }
}

}  // namespace

Result<HotSnapshot> ParseHot(std::string_view text) {
  HotSnapshot hot;
  JsonReader json(text);
  const auto lines = [&](std::vector<HotLine>* to) {
    json.Array([&] {
      if (Result<HotLine> line = ParseHotLine(json); line.has_value()) to->push_back(*std::move(line));
    });
  };
  json.Object([&](std::string_view name) {
    if (name == "keys") {
      lines(&hot.keys);
    } else if (name == "prefixes") {
      lines(&hot.prefixes);
    } else if (name == "namespaces") {
      lines(&hot.namespaces);
    } else if (name == "reads_per_second") {
      hot.reads = json.Double();
    } else if (name == "writes_per_second") {
      hot.writes = json.Double();
    }
  });
  KVARTS_CHECK_OK(json.Finish());
  return hot;
}

Result<HotSnapshot> FetchHot(const Fetch& fetch, std::string_view by) {
  if (!by.empty()) {
    KVARTS_TRY(const std::string text, fetch(fmt::format("/hotkeys?by={}", by)));
    return ParseHot(text);
  }
  KVARTS_TRY(HotSnapshot hot, FetchHot(fetch, "reads"));
  KVARTS_TRY(const HotSnapshot written, FetchHot(fetch, "writes"));
  const auto merge = [](std::vector<HotLine>* lines, const std::vector<HotLine>& others) {
    for (const HotLine& other : others) {
      if (std::ranges::find(*lines, other.key, &HotLine::key) == lines->end()) lines->push_back(other);
    }
    std::ranges::stable_sort(*lines, std::greater(), [](const HotLine& line) { return line.reads + line.writes; });
  };
  merge(&hot.keys, written.keys);
  merge(&hot.prefixes, written.prefixes);
  merge(&hot.namespaces, written.namespaces);
  return hot;
}

Result<StatsSnapshot> StatsSnapshot::Parse(std::string_view stats_json) {
  StatsSnapshot snapshot;
  JsonReader json(stats_json);
  Walk(
      json, "", [&](const std::string& path, double number) { snapshot.numbers_[path] = number; },
      [&](const std::string& path, std::string_view text) { snapshot.texts_[path] = text; });
  KVARTS_CHECK_OK(json.Finish());
  return snapshot;
}

double StatsSnapshot::Number(std::string_view path) const {
  const auto found = numbers_.find(path);
  return found == numbers_.end() ? 0 : found->second;
}

uint64_t StatsSnapshot::Count(std::string_view path) const {
  return static_cast<uint64_t>(std::clamp(Number(path), 0.0, 1e18));
}

std::string StatsSnapshot::Text(std::string_view path) const {
  const auto found = texts_.find(path);
  return found == texts_.end() ? "" : found->second;
}

std::optional<double> QuantileBetween(const StatsSnapshot& now, const StatsSnapshot& before, std::string_view operation,
                                      double q) {
  const auto gained = [&](const std::string& path) { return std::max(0.0, now.Number(path) - before.Number(path)); };
  const std::string latency = fmt::format("server.requests.latency.{}", operation);
  const double count = gained(latency + ".count");
  if (count == 0) return std::nullopt;
  const double rank = q * count;
  double below = 0;
  double lower = 0;
  for (size_t i = 0;; ++i) {
    const double boundary = now.Number(fmt::format("server.requests.boundaries.{}", i));
    if (boundary == 0) return lower;  // beyond the last
    const double at_most = gained(fmt::format("{}.at_most.{}", latency, i));
    if (at_most >= rank && at_most > below) return lower + (boundary - lower) * (rank - below) / (at_most - below);
    below = at_most;
    lower = boundary;
  }
}

std::string RenderLive(const StatsSnapshot& now, const StatsSnapshot& before, size_t columns) {
  const Change change(now, before);
  Table figures({kLeft, kLeft});
  AddTraffic(change, &figures);
  AddResources(change, &figures);
  const std::string text = Title(now) + Requests(change) + figures.ToString() + "\n" +
                           HotTable("hot keys", now.hot.keys, kHotLines, kLongestKey) +
                           HotTable("hot prefixes", now.hot.prefixes, kHotLines, kLongestKey) +
                           HotTable("hot namespaces", now.hot.namespaces, kHotLines, kLongestKey);
  return Fitted(text, columns);
}

std::string RenderHot(const HotSnapshot& hot, size_t columns) {
  const size_t longest = std::max<size_t>(kLongestKey, columns > 50 ? columns - 50 : 0);
  const std::string all = fmt::format("{} reads and {} writes are seen\n\n", Rate(hot.reads), Rate(hot.writes));
  if (hot.keys.empty() && hot.prefixes.empty()) return "Nothing is read or written.\n";
  return Fitted(all + HotTable("namespaces", hot.namespaces, SIZE_MAX, longest) +
                    HotTable("keys", hot.keys, SIZE_MAX, longest) +
                    HotTable("prefixes", hot.prefixes, SIZE_MAX, longest),
                columns);
}

}  // namespace kvarts::cli
