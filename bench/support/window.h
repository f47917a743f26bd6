// A window of commits under way: a client that keeps a fixed number of them outstanding, as an event loop with many
// connections does. Whatever has been answered is replaced by new commits, submitted together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/store.h"
#include "engine/engine.h"

namespace kvarts::bench {

class Window {
 public:
  // The client waits until `batch` commits are answered before it submits as many again. One that `waits` does nothing
  // else, and lends its thread to the commits.
  Window(int outstanding, int batch, bool waits = false)
      : outstanding_(outstanding), batch_(batch), waits_(waits), free_(outstanding) {}

  // How many commits may be submitted now; waits until there are some.
  int Take();
  bool waits() const { return waits_; }
  // A commit was answered. From any thread.
  void Return();
  // Waits until all are answered.
  void Drain();

 private:
  // Without spinning first: the time of all threads is what is measured.
  void WaitFor(int wanted);

  const int outstanding_;
  const int batch_;
  const bool waits_;
  std::mutex mutex_;
  std::condition_variable enough_;
  std::atomic<int> free_;
  std::atomic<int> wanted_{0};  // what the client waits for; zero when it does not
};

// Submits commits number 0 to n - 1 to the engine, keeping the window full.
void SubmitAll(Engine& engine, Window& window, uint64_t n, const std::function<void(uint64_t, Commit*)>& make);
// The same with bodies that the store runs.
void RunAll(Store& store, Window& window, uint64_t n, const std::function<Store::Body(uint64_t)>& make);

}  // namespace kvarts::bench
