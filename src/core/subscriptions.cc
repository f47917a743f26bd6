#include "core/subscriptions.h"

#include <algorithm>

namespace kvarts {
namespace {

// In the order of their numbers, each once.
void Order(std::vector<uint64_t>* ids) {
  std::ranges::sort(*ids);
  ids->erase(std::ranges::unique(*ids).begin(), ids->end());
}

}  // namespace

template <class Callback>
void Subscriptions::Group<Callback>::Add(Id id, KeyRange range, Callback callback) {
  Remove(id);
  ranges_.Add(id, range);
  members_.emplace(id, Member{std::move(range), std::make_shared<const Callback>(std::move(callback))});
  size_.store(members_.size(), std::memory_order_release);
}

template <class Callback>
void Subscriptions::Group<Callback>::Remove(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  ranges_.Remove(id, found->second.range);
  members_.erase(found);
  size_.store(members_.size(), std::memory_order_release);
}

template <class Callback>
void Subscriptions::Group<Callback>::Find(const Mutation& mutation, std::vector<Id>* found) const {
  if (mutation.op == Mutation::Op::kEraseRange) return ranges_.FindMeeting({mutation.key, mutation.end}, found);
  ranges_.FindHolding(mutation.key, found);
}

template <class Callback>
std::shared_ptr<const Callback> Subscriptions::Group<Callback>::CallbackOf(Id id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : found->second.callback;
}

Subscriptions::Id Subscriptions::Watch(KeyRange range, WatchCallback callback) {
  const Id id = NextTicket();
  std::lock_guard lock(mutex_);
  watchers_.Add(id, std::move(range), std::move(callback));
  return id;
}

void Subscriptions::Wait(Id ticket, KeyRange range, WakeCallback wake) {
  std::lock_guard lock(mutex_);
  waiters_.Add(ticket, std::move(range), std::move(wake));
}

void Subscriptions::Cancel(Id id) {
  std::lock_guard lock(mutex_);
  watchers_.Remove(id);
  waiters_.Remove(id);
}

void Subscriptions::Decided(const Commit& commit, Version, std::vector<std::unique_ptr<Submission>>* next) {
  if (waiters_.empty()) return;
  std::lock_guard lock(mutex_);
  std::vector<Id> woken;
  for (const Mutation& mutation : commit.mutations) waiters_.Find(mutation, &woken);
  Order(&woken);
  for (const Id id : woken) {
    next->push_back((*waiters_.CallbackOf(id))());
    waiters_.Remove(id);
  }
}

void Subscriptions::Visible(const Commit& commit, Version version) {
  if (watchers_.empty()) return;
  std::lock_guard lock(mutex_);
  std::vector<Id> told;
  for (const Mutation& mutation : commit.mutations) {
    told.clear();
    watchers_.Find(mutation, &told);
    Order(&told);
    for (const Id id : told) {
      if (const auto callback = watchers_.CallbackOf(id)) (*callback)(mutation, version);
    }
  }
}

}  // namespace kvarts
