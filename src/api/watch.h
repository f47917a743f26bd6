// A watch of the public interface: a bounded queue between the commit thread and whoever calls Next.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "core/subscriptions.h"
#include "kvarts/database.h"

namespace kvarts {

class UserWatch final : public Watch {
 public:
  UserWatch(Subscriptions& subscriptions, KeyRange range, const Options& options);
  ~UserWatch() override;

  Result<std::optional<Change>> Next(Duration patience) override;

 private:
  void Push(const Mutation& mutation, Version version);

  Subscriptions& subscriptions_;
  const size_t max_backlog_;
  const size_t max_backlog_bytes_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Change> changes_;
  size_t bytes_ = 0;              // of them
  std::string_view fell_behind_;  // the limit behind which changes were lost, once they were
  Subscriptions::Id id_;
};

}  // namespace kvarts
