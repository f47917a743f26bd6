// An engine that cannot be read for a while, as one whose primary is just away.
#pragma once

#include <atomic>

#include "support/forwarding_engine.h"

namespace kvarts::test {

class FailingReads final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  // The next so many views cannot be opened.
  void FailNext(int views) { failing_ = views; }
  // How many of them are still to come.
  int failing() const { return failing_; }

  using Engine::OpenView;
  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override {
    int left = failing_;
    while (left > 0 && !failing_.compare_exchange_weak(left, left - 1)) {
    }
    if (left > 0) return Error(ErrorCode::kUnavailable, "the primary is away");
    return inner().OpenView(freshness);
  }

 private:
  std::atomic<int> failing_ = 0;
};

}  // namespace kvarts::test
