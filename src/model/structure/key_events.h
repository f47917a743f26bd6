// What happens to keys, for those who want to be told: an event is a name that Redis has for it, with the key and the
// number of its database.
//
// KeyEvents says which classes of events anybody wants, and hands them on. EventNotes gathers those of one transaction,
// in the order in which they happened: they are told once, after the commit is visible, from the run that committed.
// Where nobody wants any, a transaction pays for one load. KeyEvents is safe from any thread; notes belong to a
// transaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/txn.h"

namespace kvarts::structure {

// One bit for each class. Those of streams, modules and evictions can be asked for, and never happen.
enum EventClass : uint32_t {
  kGenericEvents = 1 << 0,
  kStringEvents = 1 << 1,
  kListEvents = 1 << 2,
  kSetEvents = 1 << 3,
  kHashEvents = 1 << 4,
  kSortedSetEvents = 1 << 5,
  kExpiredEvents = 1 << 6,
  kEvictedEvents = 1 << 7,
  kStreamEvents = 1 << 8,
  kModuleEvents = 1 << 9,
  kNewEvents = 1 << 10,
  kMissEvents = 1 << 11,
};

struct KeyEvent {
  std::string_view name;  // it lives as long as the process
  uint32_t database;
  Bytes key;
};

class KeyEvents {
 public:
  // Called where effects of commits are (core/txn.h): it must be quick.
  using Listener = std::function<void(std::span<const KeyEvent>)>;

  uint32_t wanted() const { return wanted_.load(std::memory_order_acquire); }
  void SetWanted(uint32_t classes) { wanted_.store(classes, std::memory_order_release); }
  // Before anything is wanted.
  void SetListener(Listener listener) { listener_ = std::move(listener); }
  void Tell(std::span<const KeyEvent> events) const {
    if (listener_) listener_(events);
  }

 private:
  std::atomic<uint32_t> wanted_{0};
  Listener listener_;
};

class EventNotes {
 public:
  EventNotes(Txn& txn, const KeyEvents& events) : txn_(txn), events_(events), wanted_(events.wanted()) {}

  bool any() const { return wanted_ != 0; }
  bool Wants(EventClass one) const { return (wanted_ & one) != 0; }
  void Add(EventClass of, std::string_view name, uint32_t database, BytesView key) {
    if (!Wants(of)) return;
    if (noted_ == nullptr) Begin();
    noted_->push_back({name, database, Bytes(key)});
  }

 private:
  void Begin() {
    noted_ = std::make_shared<std::vector<KeyEvent>>();
    txn_.AfterCommit([noted = noted_, &events = events_](Version) { events.Tell(*noted); });
  }

  Txn& txn_;
  const KeyEvents& events_;
  const uint32_t wanted_;
  std::shared_ptr<std::vector<KeyEvent>> noted_;
};

}  // namespace kvarts::structure
