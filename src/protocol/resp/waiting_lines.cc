#include "protocol/resp/waiting_lines.h"

#include <algorithm>

namespace kvarts::resp {

std::shared_ptr<Store::Line> WaitingLines::Find(Store& store, const Bytes& what) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Store::Line>& known = lines_[what];
  if (auto line = known.lock()) return line;
  auto line = store.NewLine();
  known = line;
  if (lines_.size() >= sweep_at_) {
    std::erase_if(lines_, [](const auto& one) { return one.second.expired(); });
    sweep_at_ = std::max(kSweepFrom, 2 * lines_.size());
  }
  return line;
}

}  // namespace kvarts::resp
