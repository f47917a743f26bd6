// Connections to one server, opened when they are needed and kept for the next who needs one. Safe from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/postgres/connection.h"

namespace kvarts::postgres {

class Pool {
 public:
  // A connection for a while. It goes back by itself, or is closed if it is no longer usable or the pool has been
  // emptied since.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { GiveBack(); }

    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }
    explicit operator bool() const { return connection_ != nullptr; }
    // Whether the pool has not been emptied since: what is known of the server has not changed.
    bool current() const { return generation_ == pool_->generation_.load(std::memory_order_acquire); }

   private:
    friend class Pool;
    Lease(Pool* pool, std::unique_ptr<Connection> connection, uint64_t generation)
        : pool_(pool), connection_(std::move(connection)), generation_(generation) {}
    void GiveBack();

    Pool* pool_ = nullptr;
    std::unique_ptr<Connection> connection_;
    uint64_t generation_ = 0;
  };

  struct Options {
    size_t max_connections = 0;
    const char* limit = "";  // what that is called
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds longest{0};  // statement; 0: any
    // Called when a connection turns out to be broken, or not to be the right server's any more; no lock is held.
    std::function<void()> on_broken = {};
  };
  enum class WhenFull : uint8_t { kWait, kRefuse };

  Pool(std::string target, Options options) : target_(std::move(target)), options_(std::move(options)) {}

  // `overloaded` when all are out until the deadline; `unavailable` when the server is not to be reached, or the pool
  // is emptied meanwhile.
  Result<Lease> Take(Deadline deadline, WhenFull when_full = WhenFull::kWait);

  // What is idle, to be closed where closing may take its time. What is out does not come back, and who waits is told.
  std::vector<std::unique_ptr<Connection>> Empty();

  const std::string& target() const { return target_; }
  size_t open() const;

 private:
  const std::string target_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  size_t open_ = 0;                       // idle ones and those that are out
  std::atomic<uint64_t> generation_ = 0;  // changed under the lock
};

}  // namespace kvarts::postgres
