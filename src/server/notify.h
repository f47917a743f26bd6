// What a server tells systemd about itself (Type=notify). Nothing at all happens when nobody asked, which is the case
// outside of a unit. Safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace kvarts {

// Requests are served. Units that wait for this one may start.
void NotifyReady(std::string_view status);
// The configuration is being read again; NotifyReady ends it.
void NotifyReloading();
// No new requests are taken, those under way are finished.
void NotifyStopping(std::string_view status);
// Stopping may take this much longer than the unit allows.
void NotifyExtendTimeout(Duration by);

// How often systemd wants to hear NotifyAlive, halved so that one may be late; nothing if it does not.
std::optional<Duration> WatchdogInterval();
void NotifyAlive();

}  // namespace kvarts
