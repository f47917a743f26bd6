// Users: all users of a store in memory, by their names.
//
// The table hears of every commit that changes a user before that commit is acknowledged, so a change holds for every
// command that arrives after it was answered. What other processes do to users it hears of soon after, and reads them
// all again. A record that is damaged is a user who can do nothing, and not one who is not there: then `default` would
// be what it is in a store without users.
//
// Safe from any thread. Whoever looks often keeps what was found, with the generation, which is one load to compare.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/refresher.h"
#include "core/store.h"
#include "model/access/user_record.h"

namespace kvarts {

class Users {
 public:
  // The store outlives it.
  static Result<std::unique_ptr<Users>> Open(Store& store);
  ~Users();
  Users(const Users&) = delete;
  Users& operator=(const Users&) = delete;
  // Before the engine goes: it is not asked any more.
  void Stop() {
    if (refresher_ != nullptr) refresher_->Stop();
  }

  // Null when there is none by this name.
  std::shared_ptr<const UserRecord> Find(BytesView name) const;
  // In the order of their names.
  std::vector<std::shared_ptr<const UserRecord>> All() const;
  // Grows with every change, once it is in the table. Never zero.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Called behind every change, on whichever thread made it; it must be quick, and of all this may call only what finds
  // users. Null: nobody is told any more, and nobody is being told when this returns.
  void TellOfChanges(std::function<void()> told);

 private:
  using Table = std::map<Bytes, std::shared_ptr<const UserRecord>, std::less<>>;
  struct Change {
    Mutation mutation;
    Version version;
  };

  explicit Users(Store& store) : store_(store) {}

  Status Load();
  Result<Table> Read() const;
  void Changed(const Mutation* mutation, Version version);
  // The rest is for whoever holds `changing_`.
  void Apply(const Mutation& mutation);
  void Tell();

  Store& store_;
  Subscriptions::Id watch_ = 0;
  std::atomic<uint64_t> generation_{1};

  mutable std::mutex mutex_;  // the last to be taken
  Table table_;

  std::mutex one_load_;  // at a time
  // Guards the following, and is held by whoever changes the table.
  std::mutex changing_;
  bool loaded_ = false;
  bool loading_ = true;
  std::vector<Change> early_;  // what changed while the table was being loaded
  std::function<void()> told_;

  std::unique_ptr<Refresher> refresher_;  // of an engine that others write to; ends first
};

}  // namespace kvarts
