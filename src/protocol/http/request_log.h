// What is logged of requests that were slow, or had to step over much: at most a few a second of each loop, and never a
// key, since logs go to more eyes than values do.
#pragma once

#include "protocol/http/call.h"

namespace kvarts::http {

// `now` as RequestInfo::started_ns counts.
void LogSlow(Service& service, LoopState& loop, const RequestInfo& info, int status, const Cost& cost, uint64_t now);
void LogTombstones(Service& service, LoopState& loop, const RequestInfo& info, const Cost& cost, uint64_t now);

}  // namespace kvarts::http
