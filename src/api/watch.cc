#include "api/watch.h"

#include <chrono>

#include "core/keyspace.h"

namespace kvarts {
namespace {

Change ToChange(const Mutation& mutation, Version version) {
  static_assert(static_cast<int>(Mutation::Op::kPut) == static_cast<int>(Change::Kind::kPut));
  static_assert(static_cast<int>(Mutation::Op::kErase) == static_cast<int>(Change::Kind::kDelete));
  static_assert(static_cast<int>(Mutation::Op::kEraseRange) == static_cast<int>(Change::Kind::kDeleteRange));
  static_assert(static_cast<int>(Mutation::Op::kAdd) == static_cast<int>(Change::Kind::kAdd));
  Change change;
  change.kind = static_cast<Change::Kind>(mutation.op);
  change.key = UserKeyOf(mutation.key).value_or(BytesView());
  change.end = UserKeyOf(mutation.end).value_or(BytesView());
  change.value = mutation.value;
  change.delta = mutation.delta;
  change.version = version;
  return change;
}

}  // namespace

UserWatch::UserWatch(Subscriptions& subscriptions, KeyRange range, size_t max_backlog)
    : subscriptions_(subscriptions), max_backlog_(max_backlog) {
  id_ = subscriptions_.Watch(std::move(range),
                             [this](const Mutation& mutation, Version version) { Push(mutation, version); });
}

UserWatch::~UserWatch() { subscriptions_.Cancel(id_); }

void UserWatch::Push(const Mutation& mutation, Version version) {
  std::lock_guard lock(mutex_);
  if (changes_.size() >= max_backlog_) {
    // What is lost is said once, at the place where it is missing.
    fell_behind_ = true;
  } else if (!fell_behind_) {
    changes_.push_back(ToChange(mutation, version));
  }
  arrived_.notify_one();
}

Result<std::optional<Change>> UserWatch::Next(Duration patience) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::microseconds(patience.micros),
                    [this] { return !changes_.empty() || fell_behind_; });
  if (!changes_.empty()) {
    std::optional<Change> change = std::move(changes_.front());
    changes_.pop_front();
    return change;
  }
  if (fell_behind_) {
    return Error(ErrorCode::kOverloaded, "the watch fell behind and lost changes",
                 {{"limit", "max_watch_backlog"}, {"at_most", std::to_string(max_backlog_)}});
  }
  return std::optional<Change>();
}

}  // namespace kvarts
