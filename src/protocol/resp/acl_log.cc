#include "protocol/resp/acl_log.h"

#include <algorithm>
#include <cstdlib>

namespace kvarts::resp {

void AclLog::Add(Entry entry, size_t most) {
  if (entry.object.size() > kMaxTextBytes) entry.object.resize(kMaxTextBytes);
  if (entry.user.size() > kMaxTextBytes) entry.user.resize(kMaxTextBytes);
  const std::lock_guard lock(mutex_);
  const auto alike = [&](const Entry& one) {
    return one.reason == entry.reason && one.context == entry.context &&
           std::abs(one.at_millis - entry.at_millis) <= kAlikeMillis && one.object == entry.object &&
           one.user == entry.user;
  };
  const auto end = entries_.begin() + static_cast<ptrdiff_t>(std::min(entries_.size(), kAlikeAmong));
  const auto found = std::find_if(entries_.begin(), end, alike);
  const bool counted = found != end;
  if (counted) {
    entry.count += found->count;
    entries_.erase(found);
  }
  entries_.push_front(std::move(entry));
  if (!counted && entries_.size() > most) entries_.resize(most);
}

std::vector<AclLog::Entry> AclLog::Latest(size_t count) const {
  const std::lock_guard lock(mutex_);
  const size_t taken = std::min(count, entries_.size());
  return {entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(taken)};
}

void AclLog::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace kvarts::resp
