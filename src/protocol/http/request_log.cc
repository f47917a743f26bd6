#include "protocol/http/request_log.h"

#include <array>

#include "base/log.h"
#include "protocol/http/routes.h"

namespace kvarts::http {
namespace {

std::string_view MethodText(Method method) {
  constexpr std::array<std::string_view, 8> kTexts = {"GET",    "HEAD",  "PUT",     "POST",
                                                      "DELETE", "PATCH", "OPTIONS", "other"};
  return kTexts[static_cast<size_t>(method)];
}

}  // namespace

void LogSlow(Service& service, LoopState& loop, const RequestInfo& info, int status, const Cost& cost, uint64_t now) {
  loop.metrics.slow_requests.Add();
  const auto not_logged = loop.slow_log.Pass(now);
  if (!not_logged) return;
  Log(LogLevel::kWarning, "a request was slow",
      {{"method", MethodText(info.method)},
       {"route", info.route == nullptr ? std::string_view() : info.route->path},
       {"namespace", info.place == NamespacePlaces::kNowhere ? std::string() : service.places.NameOf(info.place)},
       {"ms", (now - info.started_ns) / 1'000'000},
       {"status", status},
       {"trace", info.trace},
       {"keys_read", cost.read.keys},
       {"bytes_read", cost.read.bytes},
       {"skipped", cost.read.skipped},
       {"keys_written", cost.keys_written},
       {"bytes_written", cost.bytes_written},
       {"sync_us", cost.sync_wait_us},
       {"runs", cost.runs},
       {"not_logged", *not_logged}});
}

void LogTombstones(Service& service, LoopState& loop, const RequestInfo& info, const Cost& cost, uint64_t now) {
  loop.metrics.tombstone_warnings.Add();
  const auto not_logged = loop.tombstone_log.Pass(now);
  if (!not_logged) return;
  Log(LogLevel::kWarning, "a request stepped over many tombstones",
      {{"method", MethodText(info.method)},
       {"route", info.route == nullptr ? std::string_view() : info.route->path},
       {"namespace", info.place == NamespacePlaces::kNowhere ? std::string() : service.places.NameOf(info.place)},
       {"skipped", cost.read.skipped},
       {"keys_read", cost.read.keys},
       {"trace", info.trace},
       {"not_logged", *not_logged}});
}

}  // namespace kvarts::http
