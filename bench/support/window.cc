#include "support/window.h"

#include <algorithm>

#include "support/contenders.h"

namespace kvarts::bench {
namespace {

class WindowSubmission final : public Submission {
 public:
  explicit WindowSubmission(Window& window) : window_(window) {}
  void Done(Result<Committed> outcome) override {
    Must(std::move(outcome));
    window_.Return();
  }

 private:
  Window& window_;
};

}  // namespace

int Window::Take() {
  WaitFor(batch_);
  return free_.exchange(0);
}

void Window::Return() {
  // The last one out holds the lock: with its answer the window may go.
  std::unique_lock lock(mutex_, std::defer_lock);
  if (free_.load() + 1 == outstanding_) lock.lock();
  const int now = free_.fetch_add(1) + 1;
  const int wanted = wanted_.load();
  if (wanted == 0 || now < wanted) return;
  if (!lock.owns_lock()) lock.lock();
  if (wanted_.exchange(0) != 0) enough_.notify_one();
}

void Window::Drain() { WaitFor(outstanding_); }

void Window::WaitFor(int wanted) {
  if (wanted < outstanding_ && free_.load() >= wanted) return;
  std::unique_lock lock(mutex_);
  wanted_.store(wanted);
  enough_.wait(lock, [&] { return free_.load() >= wanted; });
  wanted_.store(0);
}

void SubmitAll(Engine& engine, Window& window, uint64_t n, const std::function<void(uint64_t, Commit*)>& make) {
  std::vector<std::unique_ptr<Submission>> submissions;
  for (uint64_t i = 0; i < n;) {
    const auto room = static_cast<uint64_t>(window.Take());
    submissions.clear();
    for (uint64_t end = std::min(n, i + room); i < end; ++i) {
      submissions.push_back(std::make_unique<WindowSubmission>(window));
      submissions.back()->caller_waits = window.waits();
      make(i, &submissions.back()->commit);
    }
    for (uint64_t unused = submissions.size(); unused < room; ++unused) window.Return();
    engine.Submit(submissions);
  }
  window.Drain();
}

void RunAll(Store& store, Window& window, uint64_t n, const std::function<Store::Body(uint64_t)>& make) {
  RunOptions options;
  options.durability = Durability::kNone;
  options.caller_waits = window.waits();
  for (uint64_t i = 0; i < n;) {
    const auto room = static_cast<uint64_t>(window.Take());
    std::vector<Store::Request> requests;
    requests.reserve(room);
    for (uint64_t end = std::min(n, i + room); i < end; ++i) {
      requests.push_back({make(i), options, [&window](Result<RunReport> report) {
                            Must(std::move(report));
                            window.Return();
                          }});
    }
    for (uint64_t unused = requests.size(); unused < room; ++unused) window.Return();
    store.RunAsync(std::move(requests));
  }
  window.Drain();
}

}  // namespace kvarts::bench
