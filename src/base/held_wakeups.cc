#include "base/held_wakeups.h"

#include <algorithm>

namespace kvarts {
namespace {

thread_local HeldWakeups* outermost = nullptr;

}  // namespace

HeldWakeups::HeldWakeups() : outer_(outermost) {
  if (outer_ == nullptr) outermost = this;
}

HeldWakeups::~HeldWakeups() {
  if (outer_ != nullptr) return;
  outermost = nullptr;
  for (Wakeable* const woken : held_) woken->Wake();
}

void HeldWakeups::Wake(Wakeable& woken) {
  if (outermost == nullptr) return woken.Wake();
  std::vector<Wakeable*>& held = outermost->held_;
  if (std::ranges::find(held, &woken) == held.end()) held.push_back(&woken);
}

}  // namespace kvarts
