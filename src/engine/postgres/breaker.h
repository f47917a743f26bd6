// A circuit breaker: after some failures in a row nobody tries any more, until somebody whose task it is has succeeded.
// Whoever shares one guards it.
#pragma once

namespace kvarts::postgres {

class Breaker {
 public:
  explicit Breaker(int max_failures) : max_failures_(max_failures) {}

  void Failure() {
    if (!open()) ++failures_;
  }
  void Success() { failures_ = 0; }

  bool open() const { return failures_ >= max_failures_; }
  // In a row.
  int failures() const { return failures_; }

 private:
  const int max_failures_;
  int failures_ = 0;
};

}  // namespace kvarts::postgres
