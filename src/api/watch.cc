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

size_t BytesOf(const Change& change) { return change.key.size() + change.end.size() + change.value.size(); }

}  // namespace

UserWatch::UserWatch(Subscriptions& subscriptions, KeyRange range, const Options& options)
    : subscriptions_(subscriptions),
      max_backlog_(options.max_watch_backlog),
      max_backlog_bytes_(options.max_watch_backlog_bytes) {
  id_ = subscriptions_.Watch(std::move(range),
                             [this](const Mutation* mutation, Version version) { Push(*mutation, version); });
}

UserWatch::~UserWatch() { subscriptions_.Cancel(id_); }

void UserWatch::Push(const Mutation& mutation, Version version) {
  std::lock_guard lock(mutex_);
  const size_t bytes = mutation.key.size() + mutation.end.size() + mutation.value.size();
  // What is lost is said once, at the place where it is missing.
  if (fell_behind_.empty() && changes_.size() >= max_backlog_) fell_behind_ = "max_watch_backlog";
  if (fell_behind_.empty() && bytes_ + bytes > max_backlog_bytes_) fell_behind_ = "max_watch_backlog_bytes";
  if (fell_behind_.empty()) {
    changes_.push_back(ToChange(mutation, version));
    bytes_ += BytesOf(changes_.back());
  }
  arrived_.notify_one();
}

Result<std::optional<Change>> UserWatch::Next(Duration patience) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::microseconds(patience.micros),
                    [this] { return !changes_.empty() || !fell_behind_.empty(); });
  if (!changes_.empty()) {
    std::optional<Change> change = std::move(changes_.front());
    changes_.pop_front();
    bytes_ -= BytesOf(*change);
    return change;
  }
  if (!fell_behind_.empty()) {
    return Error(ErrorCode::kOverloaded, "the watch fell behind and lost changes",
                 {{"limit", std::string(fell_behind_)}});
  }
  return std::optional<Change>();
}

}  // namespace kvarts
