// A window of commits under way: a client that keeps a fixed number of them outstanding, as an event loop with many
// connections does. Whatever has been answered is replaced by new commits, submitted together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/store.h"
#include "engine/engine.h"

namespace kvarts::bench {

class Window {
 public:
  // The client waits until `batch` commits are answered before it submits as many again.
  Window(int outstanding, int batch) : outstanding_(outstanding), batch_(batch), free_(outstanding) {}

  // How many commits may be submitted now; waits until there are some.
  int Take();
  // A commit was answered. From any thread.
  void Return();
  // Waits until all are answered.
  void Drain();

 private:
  const int outstanding_;
  const int batch_;
  std::atomic<int> free_;
  std::atomic<int> wanted_{0};  // what the client waits for; zero when it does not
};

// Submits commits number 0 to n - 1 to the engine, keeping the window full.
void SubmitAll(Engine& engine, Window& window, uint64_t n, const std::function<void(uint64_t, Commit*)>& make);
// The same with bodies that the store runs.
void RunAll(Store& store, Window& window, uint64_t n, const std::function<Store::Body(uint64_t)>& make);

}  // namespace kvarts::bench
