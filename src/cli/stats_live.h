// A server's figures over time: what /stats and /hotkeys said at one instant and at the one before, as a screen for a
// person. Everything here is a function of the two; who asks, sleeps and draws is `kvarts stats --watch`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"

namespace kvarts::cli {

struct HotLine {
  Bytes key;
  bool cut = false;  // the key is longer
  double reads = 0;  // a second, as all of them
  double writes = 0;
  double bytes = 0;
  std::string name_space = {};  // of the key, if there are namespaces
};

struct HotSnapshot {
  std::vector<HotLine> keys;
  std::vector<HotLine> prefixes;
  std::vector<HotLine> namespaces;  // their names as keys
  double reads = 0;                 // of everything
  double writes = 0;
};

// What `path` ("/stats") is answered with by a server.
using Fetch = std::function<Result<std::string>(const std::string& path)>;

// Of /hotkeys.
Result<HotSnapshot> ParseHot(std::string_view json);
// By "reads", "writes" or "bytes"; without any of these what is read or written most.
Result<HotSnapshot> FetchHot(const Fetch& fetch, std::string_view by);

// Of /stats. Figures are found by their way from the top, as in "server.requests.answers.2xx"; elements of arrays by
// their place. What a server does not tell is 0, so that one may be newer than the other.
class StatsSnapshot {
 public:
  static Result<StatsSnapshot> Parse(std::string_view stats_json);

  double Number(std::string_view path) const;
  uint64_t Count(std::string_view path) const;
  bool Is(std::string_view path) const { return Number(path) != 0; }
  std::string Text(std::string_view path) const;

  HotSnapshot hot;

 private:
  std::map<std::string, double, std::less<>> numbers_;  // true is 1
  std::map<std::string, std::string, std::less<>> texts_;
};

// Of what happened between two snapshots, as the server's histograms tell: nothing when nothing did.
std::optional<double> QuantileBetween(const StatsSnapshot& now, const StatsSnapshot& before, std::string_view operation,
                                      double q);

// Lines of at most so many columns. `before` may be the same as `now`: then there are no rates yet.
std::string RenderLive(const StatsSnapshot& now, const StatsSnapshot& before, size_t columns);
// The hottest keys, prefixes and namespaces as tables.
std::string RenderHot(const HotSnapshot& hot, size_t columns);

struct WatchOptions {
  Duration interval = Duration::Seconds(1);
  std::string by = {};  // what hot keys are ordered by; see FetchHot
  bool json = false;    // a line of JSON per interval, {"stats": …, "hotkeys": …}
  bool screen = false;  // a terminal that is drawn anew; else a block of text per interval
  size_t columns = 80;
};
// Asks and prints until `sleep` says false. A server that does not answer any more is an error.
Status WatchStats(const Fetch& fetch, const WatchOptions& options, const std::function<bool(Duration)>& sleep);

}  // namespace kvarts::cli
