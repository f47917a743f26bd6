#include "protocol/resp/latency_events.h"

#include <algorithm>

namespace kvarts::resp {

void LatencyEvents::Add(std::string_view kind, int64_t at_seconds, int64_t millis) {
  std::lock_guard lock(mutex_);
  auto found = events_.find(kind);
  if (found == events_.end()) {
    if (events_.size() == kMaxKinds) return;
    found = events_.try_emplace(std::string(kind)).first;
  }
  Event& event = found->second;
  event.longest = std::max(event.longest, millis);
  if (!event.times.empty() && event.times.back().at_seconds == at_seconds) {
    event.times.back().millis = std::max(event.times.back().millis, millis);
    return;
  }
  event.times.push_back({at_seconds, millis});
  if (event.times.size() > kMaxTimes) event.times.pop_front();
}

std::map<std::string, LatencyEvents::Event, std::less<>> LatencyEvents::All() const {
  std::lock_guard lock(mutex_);
  return events_;
}

bool LatencyEvents::Forget(std::string_view kind) {
  std::lock_guard lock(mutex_);
  const auto found = events_.find(kind);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

size_t LatencyEvents::ForgetAll() {
  std::lock_guard lock(mutex_);
  const size_t count = events_.size();
  events_.clear();
  return count;
}

}  // namespace kvarts::resp
