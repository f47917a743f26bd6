// HeldWakeups: many threads' errands to one thread, and one wake-up for all of them.
//
// Who has answers for several waiters makes one on its stack. What would wake a thread while it is there notes that
// it has to, and does so when the last of them on this thread goes: a waiter that is woken by the first answer would
// otherwise go to sleep again before the second.
#pragma once

#include <vector>

namespace kvarts {

// What is woken.
class Wakeable {
 public:
  virtual void Wake() = 0;

 protected:
  ~Wakeable() = default;
};

class HeldWakeups {
 public:
  HeldWakeups();
  // Wakes all that have something, each once.
  ~HeldWakeups();
  HeldWakeups(const HeldWakeups&) = delete;
  HeldWakeups& operator=(const HeldWakeups&) = delete;

  // Wakes it: now, or when those on this thread are let go. It is there until then.
  static void Wake(Wakeable& woken);

 private:
  HeldWakeups* const outer_;
  std::vector<Wakeable*> held_;  // of the outermost
};

}  // namespace kvarts
