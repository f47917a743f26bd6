// Session: what a connection is, as its commands see and change it. It belongs to its loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/durability.h"
#include "protocol/resp/acl.h"
#include "protocol/resp/batch.h"
#include "protocol/resp/client.h"
#include "protocol/resp/subscriptions.h"
#include "protocol/resp/tracking.h"

namespace kvarts::resp {

struct Session {
  Session(uint64_t number, bool must_authenticate) : id(number), authenticated(!must_authenticate) {}

  // As a connection that has just been made, but for whether it may be evicted: as in Redis.
  void Reset(bool must_authenticate) {
    subscriptions->LeaveAll();
    Session fresh(id, must_authenticate);
    fresh.client = std::move(client);
    fresh.subscriptions = subscriptions;
    fresh.never_evicted = never_evicted;
    *this = std::move(fresh);
  }
  // Who it is known to be.
  std::string_view UserName() const { return caller.name; }
  void EndTracking(Service& service);
  void EndTransaction() {
    in_transaction = aborted = false;
    queue.Clear();
    watched.clear();
  }

  enum class Replies : uint8_t { kOn, kOff, kSkipNext };

  uint64_t id;
  bool authenticated;
  Caller caller = {};
  // As others reach it, and what it listens to; both for as long as the connection is there.
  std::shared_ptr<Client> client = {};
  Subscriptions* subscriptions = nullptr;
  std::string name = {};
  std::string library = {};
  std::string library_version = {};
  uint32_t database = 0;
  int version = 2;  // of the protocol
  Replies replies = Replies::kOn;
  bool ending = false;  // after what has been answered
  bool never_evicted = false;
  // Of its writes, where that was chosen for this connection.
  std::optional<Durability> durability = {};
  // Of a client that tracks, how.
  std::optional<TrackingOptions> tracking = {};
  bool caching = false;  // CLIENT CACHING was said, for what comes next
  // Between MULTI and EXEC.
  bool in_transaction = false;
  bool aborted = false;         // a command could not be queued
  uint32_t queue_database = 0;  // that of the next command to be queued
  Batch queue = {};
  std::vector<Watched> watched = {};
};

}  // namespace kvarts::resp
