// kvarts stats: the state of a server or of a data directory, in a form that a person understands.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/place.h"
#include "cli/stats_live.h"
#include "cli/stats_text.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "engine/stats_json.h"

namespace kvarts::cli {
namespace {

constexpr size_t kDefaultColumns = 100;

size_t ScreenColumns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultColumns;
  return size.ws_col;
}

Status CheckStats(const Arguments& arguments) {
  const bool of_server = arguments.size() == 0;
  if (!of_server && (arguments.Has("server") || arguments.Has("data") || arguments.Has("shards"))) {
    return Error(ErrorCode::kInvalidArgument, "figures are of one directory or of one server");
  }
  for (const char* option : {"watch", "hot", "by", "interval"}) {
    if (!of_server && arguments.Has(option)) {
      return Error(ErrorCode::kInvalidArgument, "only a server can tell that",
                   {{"option", fmt::format("--{}", option)}});
    }
  }
  if (arguments.Has("watch") && arguments.Has("hot")) {
    return Error(ErrorCode::kInvalidArgument, "--watch shows what is hot already");
  }
  if (arguments.Has("interval") && !arguments.Has("watch")) {
    return Error(ErrorCode::kInvalidArgument, "--interval is of --watch");
  }
  return {};
}

Fetch FetchBy(Client& client) {
  return [&client](const std::string& path) -> Result<std::string> {
    KVARTS_TRY(Reply reply, client.Call({.path = path}));
    return std::move(reply.body);
  };
}

Result<int> Watch(const Arguments& arguments, const Fetch& fetch) {
  WatchOptions options;
  if (const auto interval = arguments.Number("interval")) {
    options.interval = Duration::Micros(static_cast<int64_t>(*interval));
  }
  options.by = arguments.Text("by").value_or("");
  options.json = arguments.Has("json");
  options.screen = OutputIsTerminal();
  options.columns = ScreenColumns();
  const Interruptible interruptible;
  const Status watched = WatchStats(fetch, options, &Interruptible::Sleep);
  // A request that Ctrl-C met on its way is no failure.
  if (!watched.has_value() && !Interruptible::Happened()) return watched.error();
  return kExitOk;
}

// Rates are between two looks.
Result<int> OneLook(const Fetch& fetch, const std::string& first) {
  KVARTS_TRY(const StatsSnapshot before, StatsSnapshot::Parse(first));
  sleep(1);
  KVARTS_TRY(const std::string second, fetch("/stats"));
  KVARTS_TRY(StatsSnapshot now, StatsSnapshot::Parse(second));
  // A server may have hot keys switched off.
  if (Result<HotSnapshot> hot = FetchHot(fetch, {}); hot.has_value()) now.hot = *std::move(hot);
  Print(RenderLive(now, before, ScreenColumns()));
  return kExitOk;
}

Result<int> StatsOfServer(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const Fetch fetch = FetchBy(*client);
  if (arguments.Has("watch")) return Watch(arguments, fetch);
  if (!arguments.Has("hot")) {
    KVARTS_TRY(const std::string stats, fetch("/stats"));
    if (arguments.Has("json")) {
      Print(stats + "\n");
      return kExitOk;
    }
    return OneLook(fetch, stats);
  }
  const std::string by = arguments.Text("by").value_or("");
  if (arguments.Has("json")) {
    KVARTS_TRY(const std::string hot, fetch(fmt::format("/hotkeys?by={}", by.empty() ? "reads" : by)));
    Print(hot + "\n");
    return kExitOk;
  }
  KVARTS_TRY(const HotSnapshot hot, FetchHot(fetch, by));
  Print(RenderHot(hot, ScreenColumns()));
  return kExitOk;
}

Syntax MakeSyntax() {
  Syntax syntax = OverApi(
      {.arguments = {{"DIR", true}},
       .options = {{"watch", OptionKind::kFlag, {}, "a live view: rates and latencies, again and again, until Ctrl-C"},
                   {"interval", OptionKind::kDuration, "TIME", "between two looks of --watch; else 1 s", {}, 100'000},
                   {"hot", OptionKind::kFlag, {}, "the keys, prefixes and namespaces used most right now"},
                   {"by", OptionKind::kChoice, "WHAT", "what is hot", {"reads", "writes", "bytes"}},
                   {"json", OptionKind::kFlag, {}, "JSON instead of tables; of --watch a line each time"}},
       .description =
           "Prints the figures of a running server, or the level table of a data directory, its write, read\n"
           "and space amplification with what each means and when to worry, the share of tombstones,\n"
           "live and stale bytes, the log, and memory. Caches, and what writing and reading met, begin\n"
           "empty in every process, so of a directory these figures mean little.\n\n"
           "  kvarts stats --watch\n"
           "  kvarts stats --hot --by writes\n"
           "  kvarts stats ./data\n",
       .check = CheckStats});
  syntax.over_api = false;  // a directory that is missing ends as it does for every command over a directory
  return syntax;
}

}  // namespace

const Syntax& StatsSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunStats(const Arguments& arguments) {
  if (arguments.size() == 0) return StatsOfServer(arguments);
  const std::string& dir = arguments.at(0);
  KVARTS_TRY(const std::unique_ptr<Engine> engine, OpenPlace({.data = dir, .shards = {}}));
  KVARTS_TRY(const EngineStats stats, engine->Stats());
  if (arguments.Has("json")) {
    Print(StatsJson(stats) + "\n");
  } else {
    Print(fmt::format("Data directory {}, format {}\n\n{}", dir, kFormatVersion, StatsText(stats)));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
