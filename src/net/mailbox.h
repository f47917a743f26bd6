// Mailbox: how other threads have something done on a loop.
//
// Asio's own queue wakes the loop while it is locked, and the loop's first step is to take that lock: on a busy core
// each hand-over costs two switches more. Here the lock is let go first, of many letters that arrive together only the
// first wakes, and who puts in several under HeldWakeups wakes behind the last.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "base/held_wakeups.h"

namespace kvarts::net {

class Mailbox final : private Wakeable {
 public:
  using Letter = std::move_only_function<void()>;

  Mailbox();
  // Letters that were never opened are dropped.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // From any thread.
  void Put(Letter letter);
  // Opens all there are, in order; on the loop, when the descriptor has become readable again.
  void Open();
  // Becomes readable anew whenever there is something in a box that was empty; it is never read.
  int descriptor() const { return descriptor_; }

 private:
  void Wake() override;

  const int descriptor_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace kvarts::net
