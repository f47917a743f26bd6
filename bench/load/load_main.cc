// kvarts_load: makes load over HTTP or Redis' protocol and says what came of it. `kvarts_load --help` lists what it
// takes.
//
// Exit codes: 0 all answers were good, 1 some were not, 2 the command line makes no sense.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "load/idle.h"
#include "load/options.h"
#include "load/report.h"
#include "load/socket.h"

int main(int argc, char** argv) {
  using namespace kvarts::load;
  const std::span<const char* const> words(argv + 1, static_cast<size_t>(argc - 1));
  if (std::ranges::any_of(words, [](std::string_view word) { return word == "--help"; })) {
    fmt::print("{}", kUsage);
    return 0;
  }
  LoadOptions options;
  if (const std::string wrong = ParseOptions(words, &options); !wrong.empty()) {
    fmt::print(stderr, "kvarts_load: {}\n`kvarts_load --help` lists the options.\n", wrong);
    return 2;
  }
  RaiseFileLimit();
  if (options.idle != 0) {
    const IdleConnections idle(options.settings, options.idle);
    fmt::print("{} connections are open\n", options.idle);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::duration<double>(options.settings.seconds));
    return 0;
  }
  const Report report = MakeLoad(options.settings);
  const bool allow_missing = options.settings.allow_missing;
  fmt::print("{}", options.json ? ReportJson(report, allow_missing) : ReportText(report, allow_missing));
  return report.Errors(allow_missing) == 0 ? 0 : 1;
}
