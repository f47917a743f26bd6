#include "server/notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <string>

#include "base/shown.h"

namespace kvarts {
namespace {

// That nobody listens is no error, and one that cannot be told is nobody's concern.
void Notify(const std::string& state) { (void)sd_notify(0, state.c_str()); }

// The protocol is lines.
std::string StatusLine(std::string_view status) { return "STATUS=" + Shown(status); }

}  // namespace

void NotifyReady(std::string_view status) { Notify("READY=1\n" + StatusLine(status)); }

void NotifyReloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t micros = int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  Notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros));
}

void NotifyStopping(std::string_view status) { Notify("STOPPING=1\n" + StatusLine(status)); }

void NotifyExtendTimeout(Duration by) { Notify(fmt::format("EXTEND_TIMEOUT_USEC={}", by.micros)); }

std::optional<Duration> WatchdogInterval() {
  uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return std::nullopt;
  return Duration{static_cast<int64_t>(micros / 2)};
}

void NotifyAlive() { Notify("WATCHDOG=1"); }

}  // namespace kvarts
