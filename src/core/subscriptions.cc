#include "core/subscriptions.h"

#include <algorithm>

namespace kvarts {
namespace {

bool Concerns(const Mutation& mutation, const KeyRange& range) {
  if (mutation.op != Mutation::Op::kEraseRange) return range.Contains(BytesView(mutation.key));
  return range.Intersects({mutation.key, mutation.end});
}

}  // namespace

bool Subscriptions::Touches(const Commit& commit, const KeyRange& range) {
  return std::ranges::any_of(commit.mutations, [&](const Mutation& mutation) { return Concerns(mutation, range); });
}

Subscriptions::Id Subscriptions::Watch(KeyRange range, WatchCallback callback) {
  const Id id = NextTicket();
  std::lock_guard lock(mutex_);
  watchers_.emplace(id, Watcher{std::move(range), std::move(callback)});
  watching_.store(watchers_.size(), std::memory_order_release);
  return id;
}

void Subscriptions::Wait(Id ticket, KeyRange range, WakeCallback wake) {
  std::lock_guard lock(mutex_);
  waiters_.insert_or_assign(ticket, Waiter{std::move(range), std::move(wake)});
  waiting_.store(waiters_.size(), std::memory_order_release);
}

void Subscriptions::Cancel(Id id) {
  std::lock_guard lock(mutex_);
  watchers_.erase(id);
  waiters_.erase(id);
  watching_.store(watchers_.size(), std::memory_order_release);
  waiting_.store(waiters_.size(), std::memory_order_release);
}

void Subscriptions::Decided(const Commit& commit, Version, std::vector<std::unique_ptr<Submission>>* next) {
  if (waiting_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard lock(mutex_);
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    if (!Touches(commit, it->second.range)) {
      ++it;
      continue;
    }
    next->push_back(it->second.wake());
    it = waiters_.erase(it);
  }
  waiting_.store(waiters_.size(), std::memory_order_release);
}

void Subscriptions::Visible(const Commit& commit, Version version) {
  if (watching_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard lock(mutex_);
  for (const Mutation& mutation : commit.mutations) {
    for (const auto& [id, watcher] : watchers_) {
      if (Concerns(mutation, watcher.range)) watcher.callback(mutation, version);
    }
  }
}

}  // namespace kvarts
