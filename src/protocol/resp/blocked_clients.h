// BlockedClients: which clients are in a command that waits (blocking.h), so that others can end that.
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "protocol/common/waker.h"

namespace kvarts::resp {

class BlockedClients {
 public:
  // How a wait was ended by somebody else.
  enum class Ended : uint8_t { kNot, kAsIfTimeWereOver, kWithError };

  // A client waits as long as this is there.
  class Place {
   public:
    Place(BlockedClients& clients, uint64_t client, std::shared_ptr<Waker> waker);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    Ended ended() const { return ended_; }

   private:
    friend class BlockedClients;

    BlockedClients& clients_;
    const uint64_t client_;
    const std::shared_ptr<Waker> waker_;
    std::atomic<Ended> ended_{Ended::kNot};
  };

  // Ends the wait of a client: as if its time were over, or with an error. False when it does not wait.
  bool Unblock(uint64_t client, bool with_error);
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Place*> places_;
};

}  // namespace kvarts::resp
