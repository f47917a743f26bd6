// Drawing a server's figures again and again.
#include <fmt/format.h>

#include <cstdio>

#include "cli/stats_live.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

// A screen of its own while it lives, so that what was on the terminal before is there afterwards.
class Screen {
 public:
  explicit Screen(bool used) : used_(used) {
    if (used_) Print("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    if (used_) Print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Draw(std::string_view text) const {
    if (!used_) {
      Print(text);
    } else {
      // Over what was there, line by line: a screen that is cleared first flickers.
      std::string drawn = "\x1b[H";
      for (const char c : text) drawn.append(c == '\n' ? "\x1b[K\r\n" : std::string(1, c));
      Print(drawn + Dim("Ctrl-C ends") + "\x1b[K\x1b[J");
    }
    std::fflush(stdout);
  }

 private:
  const bool used_;
};

}  // namespace

Status WatchStats(const Fetch& fetch, const WatchOptions& options, const std::function<bool(Duration)>& sleep) {
  const Screen screen(options.screen && !options.json);
  std::optional<StatsSnapshot> before;
  do {
    KVARTS_TRY(const std::string stats, fetch("/stats"));
    if (options.json) {
      // A server may have hot keys switched off.
      const Result<std::string> hot = fetch(fmt::format("/hotkeys?by={}", options.by.empty() ? "reads" : options.by));
      Print(fmt::format("{{\"stats\":{},\"hotkeys\":{}}}\n", stats, hot.has_value() ? *hot : "null"));
      std::fflush(stdout);
      continue;
    }
    KVARTS_TRY(StatsSnapshot now, StatsSnapshot::Parse(stats));
    if (Result<HotSnapshot> hot = FetchHot(fetch, options.by); hot.has_value()) now.hot = *std::move(hot);
    screen.Draw(RenderLive(now, before ? *before : now, options.columns) + (options.screen ? "" : "\n"));
    before = std::move(now);
  } while (sleep(options.interval));
  return {};
}

}  // namespace kvarts::cli
