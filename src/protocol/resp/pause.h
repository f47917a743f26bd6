// Pause: for a while, commands of all clients are held back, or those that write (CLIENT PAUSE).
//
// Safe from any thread. To find out that there is no pause takes a look at a number.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>

#include "protocol/common/waker.h"

namespace kvarts::resp {

class Pause {
 public:
  // The more comes later.
  enum class What : uint8_t { kNothing, kWrites, kAll };

  // A client waits as long as this is there.
  class Place {
   public:
    Place(Pause& pause, std::shared_ptr<Waker> waker);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Pause& pause_;
    const std::shared_ptr<Waker> waker_;
  };

  // With one that there is, until the later of their ends, and of the more of their commands.
  void Begin(std::chrono::milliseconds time, What what);
  void End();

  // Nothing, or what may be over by now.
  What what() const { return what_.load(std::memory_order_relaxed); }
  // For how long a command is held back; zero: it is not.
  std::chrono::milliseconds Left(bool writes);
  // How many wait.
  size_t size() const;

 private:
  using Steady = std::chrono::steady_clock;

  std::atomic<What> what_{What::kNothing};
  mutable std::mutex mutex_;
  Steady::time_point until_{};
  std::set<std::shared_ptr<Waker>> waiting_;
};

}  // namespace kvarts::resp
