// kvarts serve: the server in the foreground, until it is told to stop.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"
#include "base/log_sinks.h"
#include "cli/command.h"
#include "cli/server_config.h"
#include "server/notify.h"
#include "server/server.h"

namespace kvarts::cli {
namespace {

// What closing the store may take, beyond what drain_timeout says.
constexpr Duration kClosing = Duration::Seconds(30);

// SIGTERM and SIGINT stop, at once if one of them comes again; SIGHUP reads certificates again. Blocked in all threads,
// taken one by one by this one.
sigset_t TakenSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

std::string Addresses(const Server& server) { return fmt::format("{}", fmt::join(server.addresses(), ", ")); }

std::string ServingStatus(const Server& server) { return "serving " + Addresses(server); }

void Reload(Server& server, const ServerOptions& options) {
  if (options.tls.certificate.empty()) return;
  NotifyReloading();
  const Status reloaded = server.ReloadTls();
  if (reloaded.has_value()) {
    Log(LogLevel::kInfo, "the certificates were read again", {{"file", options.tls.certificate}});
  } else {
    Log(LogLevel::kError, "the certificates stay as they were", reloaded.error());
  }
  NotifyReady(ServingStatus(server));
}

bool AsksForTheEnd(int number) { return number == SIGTERM || number == SIGINT; }

// Whether somebody who has asked for the end is out of patience.
bool ToldAgain(const sigset_t& signals) {
  const timespec now{};
  if (!AsksForTheEnd(sigtimedwait(&signals, nullptr, &now))) return false;
  Log(LogLevel::kWarning, "told to stop again: ending at once");
  return true;
}

// Returns when a signal asks for the end.
void ServeUntilStopped(Server& server, const ServerOptions& options, const sigset_t& signals) {
  const std::optional<Duration> watchdog = WatchdogInterval();
  while (true) {
    int number = 0;
    if (watchdog) {
      const timespec wait{watchdog->micros / 1'000'000, watchdog->micros % 1'000'000 * 1000};
      number = sigtimedwait(&signals, nullptr, &wait);
      if (number < 0) {
        // Without a sign of life systemd starts the server anew.
        if (server.LoopsTurn()) {
          NotifyAlive();
        } else {
          Log(LogLevel::kError, "an event loop hangs");
        }
        continue;
      }
    } else if (sigwait(&signals, &number) != 0) {
      continue;
    }
    if (!AsksForTheEnd(number)) {
      Reload(server, options);
      continue;
    }
    Log(LogLevel::kInfo, "stopping", {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
    return;
  }
}

LogField WhereDataAre(const ServerOptions& options) {
  if (options.engine == EngineKind::kPostgres) return {"shards", options.shards};
  if (options.engine == EngineKind::kMemory) return {"data", "in memory, for as long as it serves"};
  return {"data", options.data};
}

}  // namespace

const Syntax& ServeSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = ServerSyntaxOptions(),
      .description =
          "Serves a database, which it makes if there is none, until it is stopped by Ctrl-C\n"
          "or SIGTERM: then it finishes what is under way, or ends at once if it is told again.\n"
          "Every option can also stand in a file or in the environment: `kvarts config`\n"
          "shows them all.\n\n"
          "  kvarts serve\n"
          "  curl -X PUT localhost:7700/keys/user:1 -d '{\"value\": \"Ada\"}'\n"
          "  curl localhost:7700/keys/user:1\n"};
  return kSyntax;
}

Result<int> RunServe(const Arguments& arguments) {
  KVARTS_TRY(const LoadedConfig config, LoadConfig(arguments, environ));
  const ServerOptions& options = config.options;
  const sigset_t signals = TakenSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const Logging logging(options.log_level, MakeLogSink(options.log_format));
  for (const std::string& note : config.notes) Log(LogLevel::kWarning, "the environment", {{"note", note}});
  KVARTS_TRY(const std::unique_ptr<Server> server, Server::Start(options));
  Log(LogLevel::kInfo, "serving",
      {{"addresses", Addresses(*server)}, WhereDataAre(options), {"version", KVARTS_VERSION}});
  NotifyReady(ServingStatus(*server));
  ServeUntilStopped(*server, options, signals);
  NotifyStopping("finishing what is under way");
  NotifyExtendTimeout(Duration::Micros(options.drain_timeout.micros + kClosing.micros));
  server->Drain([&signals] { return ToldAgain(signals); });
  return kExitOk;
}

}  // namespace kvarts::cli
