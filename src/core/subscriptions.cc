#include "core/subscriptions.h"

#include <algorithm>
#include <set>

namespace kvarts {
namespace {

// In the order of their numbers, each once.
void Order(std::vector<uint64_t>* ids) {
  std::ranges::sort(*ids);
  ids->erase(std::ranges::unique(*ids).begin(), ids->end());
}

std::vector<KeyRange> Only(KeyRange range) {
  std::vector<KeyRange> ranges;
  ranges.push_back(std::move(range));
  return ranges;
}

}  // namespace

template <class Callback>
void Subscriptions::Group<Callback>::Add(Id id, std::vector<KeyRange> ranges, Callback callback, bool stays) {
  Remove(id);
  for (const KeyRange& range : ranges) ranges_.Add(id, range);
  members_.emplace(id, Member{std::move(ranges), std::make_shared<const Callback>(std::move(callback)), stays});
  size_.store(members_.size(), std::memory_order_release);
}

template <class Callback>
void Subscriptions::Group<Callback>::Remove(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  for (const KeyRange& range : found->second.ranges) ranges_.Remove(id, range);
  members_.erase(found);
  size_.store(members_.size(), std::memory_order_release);
}

template <class Callback>
auto Subscriptions::Group<Callback>::Take(std::span<const KeyRange> ranges) -> std::map<Id, Member> {
  std::set<std::pair<BytesView, BytesView>> bounds;
  for (const KeyRange& range : ranges) bounds.emplace(range.start, range.end);
  std::map<Id, Member> taken;
  for (const auto& [id, member] : members_) {
    const KeyRange& range = member.ranges[0];
    if (member.ranges.size() == 1 && bounds.contains({range.start, range.end})) taken.emplace(id, member);
  }
  for (const auto& [id, member] : taken) Remove(id);
  return taken;
}

template <class Callback>
void Subscriptions::Group<Callback>::Find(const Mutation& mutation, std::vector<Id>* found) const {
  if (mutation.op == Mutation::Op::kEraseRange) return ranges_.FindMeeting({mutation.key, mutation.end}, found);
  ranges_.FindHolding(mutation.key, found);
}

template <class Callback>
void Subscriptions::Group<Callback>::AddRanges(std::vector<KeyRange>* ranges) const {
  for (const auto& [id, member] : members_) ranges->insert(ranges->end(), member.ranges.begin(), member.ranges.end());
}

template <class Callback>
std::shared_ptr<const Callback> Subscriptions::Group<Callback>::CallbackOf(Id id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : found->second.callback;
}

Subscriptions::Id Subscriptions::Watch(KeyRange range, WatchCallback callback) {
  const Id id = NextTicket();
  std::lock_guard lock(mutex_);
  watchers_.Add(id, Only(std::move(range)), std::move(callback));
  return id;
}

Subscriptions::Id Subscriptions::WatchLive(KeyRange range, LiveCallback callback) {
  using Kind = News::Kind;
  if (shared_ != nullptr) {
    const Id id = NextTicket();
    {
      const std::lock_guard lock(mutex_);
      beginning_.Add(id, Only(std::move(range)), std::move(callback));
    }
    shared_->FollowNow();
    return id;
  }
  callback({Kind::kBegins});
  return Watch(std::move(range), [callback = std::move(callback)](const Mutation* mutation, Version version) {
    callback({Kind::kChange, mutation, version});
  });
}

Subscriptions::Id Subscriptions::WatchSettled(KeyRange range, WatchCallback callback) {
  if (shared_ == nullptr) return Watch(std::move(range), std::move(callback));
  const Id id = NextTicket();
  std::lock_guard lock(mutex_);
  settled_.Add(id, Only(std::move(range)), std::move(callback));
  return id;
}

void Subscriptions::Wait(Id ticket, std::vector<KeyRange> ranges, WakeCallback wake, bool stays) {
  std::lock_guard lock(mutex_);
  waiters_.Add(ticket, std::move(ranges), std::move(wake), stays);
}

void Subscriptions::Cancel(Id id) {
  std::lock_guard lock(mutex_);
  watchers_.Remove(id);
  waiters_.Remove(id);
  settled_.Remove(id);
  beginning_.Remove(id);
  live_.Remove(id);
}

bool Subscriptions::MayFollow(const Commit& commit) {
  if (waiters_.empty()) return false;
  std::lock_guard lock(mutex_);
  std::vector<Id> woken;
  for (const Mutation& mutation : commit.mutations) waiters_.Find(mutation, &woken);
  return !woken.empty();
}

void Subscriptions::Decided(const Commit& commit, Version, std::vector<std::unique_ptr<Submission>>* next) {
  // One thread at a time adds to it.
  heard_.store(heard() + 1, std::memory_order_relaxed);
  if (waiters_.empty()) return;
  std::lock_guard lock(mutex_);
  std::vector<Id> woken;
  for (const Mutation& mutation : commit.mutations) waiters_.Find(mutation, &woken);
  Wake(std::move(woken), next);
}

void Subscriptions::Wake(std::vector<Id> woken, std::vector<std::unique_ptr<Submission>>* next) {
  Order(&woken);
  for (const Id id : woken) {
    next->push_back((*waiters_.CallbackOf(id))());
    if (!waiters_.Stays(id)) waiters_.Remove(id);
  }
}

void Subscriptions::Followed(FollowedRanges* ranges) {
  std::lock_guard lock(mutex_);
  watchers_.AddRanges(&ranges->touched);
  waiters_.AddRanges(&ranges->touched);
  settled_.AddRanges(&ranges->touched);
  live_.AddRanges(&ranges->told);
  beginning_.AddRanges(&ranges->told);
  beginning_.AddRanges(&ranges->beginning);
}

void Subscriptions::Elsewhere(const KeyRange& range, std::vector<std::unique_ptr<Submission>>* next) {
  std::lock_guard lock(mutex_);
  std::vector<Id> concerned;
  waiters_.Find(range, &concerned);
  Wake(std::move(concerned), next);
  concerned = {};
  watchers_.Find(range, &concerned);
  Order(&concerned);
  for (const Id id : concerned) {
    if (const auto callback = watchers_.CallbackOf(id)) (*callback)(nullptr, kNoVersion);
  }
}

void Subscriptions::Settled(const KeyRange& range) {
  std::lock_guard lock(mutex_);
  std::vector<Id> concerned;
  settled_.Find(range, &concerned);
  Order(&concerned);
  for (const Id id : concerned) {
    if (const auto callback = settled_.CallbackOf(id)) (*callback)(nullptr, kNoVersion);
  }
}

void Subscriptions::Begin(std::span<const KeyRange> ranges) {
  std::lock_guard lock(mutex_);
  std::vector<Id> begun;
  for (auto& [id, member] : beginning_.Take(ranges)) {
    live_.Add(id, std::move(member.ranges), *member.callback);
    begun.push_back(id);
  }
  TellLive(std::move(begun), {News::Kind::kBegins});
}

void Subscriptions::Changed(const Mutation& mutation, Version version) {
  std::lock_guard lock(mutex_);
  std::vector<Id> told;
  live_.Find(mutation, &told);
  TellLive(std::move(told), {News::Kind::kChange, &mutation, version});
}

void Subscriptions::Lost() {
  std::lock_guard lock(mutex_);
  std::vector<Id> told;
  live_.Find(KeyRange::All(), &told);
  TellLive(std::move(told), {News::Kind::kLost});
}

void Subscriptions::TellLive(std::vector<Id> told, const News& news) {
  Order(&told);
  for (const Id id : told) {
    if (const auto callback = live_.CallbackOf(id)) (*callback)(news);
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
      if (const auto callback = watchers_.CallbackOf(id)) (*callback)(&mutation, version);
    }
  }
}

}  // namespace kvarts
