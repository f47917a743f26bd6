#include "protocol/resp/pause.h"

#include <algorithm>

namespace kvarts::resp {
namespace {

using std::chrono::milliseconds;

// What is longer is for ever.
constexpr milliseconds kLongest(std::chrono::years(100));

}  // namespace

Pause::Place::Place(Pause& pause, std::shared_ptr<Waker> waker) : pause_(pause), waker_(std::move(waker)) {
  const std::lock_guard lock(pause_.mutex_);
  pause_.waiting_.insert(waker_);
}

Pause::Place::~Place() {
  const std::lock_guard lock(pause_.mutex_);
  pause_.waiting_.erase(waker_);
}

void Pause::Begin(milliseconds time, What what) {
  const std::lock_guard lock(mutex_);
  const Steady::time_point now = Steady::now();
  if (until_ <= now) what_ = What::kNothing;
  const bool another = what_ != What::kNothing;
  const Steady::time_point end = now + std::min(time, kLongest);
  until_ = another ? std::max(until_, end) : end;
  what_ = std::max(what_.load(), what);
}

void Pause::End() {
  const std::lock_guard lock(mutex_);
  what_ = What::kNothing;
  for (const auto& waker : waiting_) Waker::Wake(waker);
}

milliseconds Pause::Left(bool writes) {
  const std::lock_guard lock(mutex_);
  const Steady::time_point now = Steady::now();
  if (until_ <= now) what_ = What::kNothing;
  const bool held = what_ == What::kAll || (what_ == What::kWrites && writes);
  return held ? std::chrono::ceil<milliseconds>(until_ - now) : milliseconds();
}

size_t Pause::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace kvarts::resp
