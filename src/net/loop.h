// Loop: the event loop of one thread, and what its connections share.
//
// Everything that belongs to a loop is touched on its thread alone; other threads reach it by Post. Time limits are
// coarse: once per kTick every connection is held against its deadline, which costs a request nothing but the writing
// of a number.
#pragma once

#include <asio/co_spawn.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "net/poller.h"
#include "net/task.h"

namespace kvarts::net {

class Stream;

using SteadyTime = std::chrono::steady_clock::time_point;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

class Loop {
 public:
  static constexpr auto kTick = std::chrono::milliseconds(250);
  static constexpr size_t kScratchBytes = 64 << 10;

  explicit Loop(size_t number);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  size_t number() const { return number_; }
  asio::io_context& context() { return context_; }
  Executor executor() { return context_.get_executor(); }

  // Runs on the calling thread until Stop; connections that are still open then are dropped.
  void Run();
  // From any thread.
  void Stop();
  void Post(Mailbox::Letter letter) { poller_.mailbox().Put(std::move(letter)); }
  // Starts a coroutine on the loop, from any thread.
  void Spawn(Task<> task);

  // Whether it is called on the loop's thread, while that runs.
  bool IsHere() const { return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  Poller& poller() { return poller_; }
  // Calls it once, when all that is ready now has been dealt with: for what is better done for many together.
  void AtEndOfTurn(std::function<void()> callback) { poller_.AtEndOfTurn(std::move(callback)); }
  // Where whoever is running may read into. It is somebody else's as soon as this one waits.
  std::span<char> scratch() { return {scratch_.get(), kScratchBytes}; }
  // The time of the last tick.
  SteadyTime now() const { return now_; }

  // Cuts all connections off, once the loop does not run any more: work for them need not be done.
  void AbortAll();
  // No request may begin any more: idle connections are closed, the others after what they are doing. Those that sleep
  // are woken, to see for themselves.
  void Drain();
  bool draining() const { return draining_; }
  // Connections on this loop; from any thread.
  size_t connections() const { return connections_.load(std::memory_order_relaxed); }
  // Whether it has ticked since this was asked last; from any thread.
  bool TakeTurned() { return turned_.exchange(false, std::memory_order_relaxed); }
  // Called at every tick.
  void OnTick(std::function<void()> callback) { on_tick_ = std::move(callback); }

 private:
  friend class Stream;

  void Add(Stream* stream);
  void Remove(Stream* stream);
  Task<> Tick();

  const size_t number_;
  std::atomic<std::thread::id> thread_{};
  std::unique_ptr<char[]> scratch_;
  SteadyTime now_ = std::chrono::steady_clock::now();
  Stream* streams_ = nullptr;  // all of them, linked
  std::atomic<size_t> connections_{0};
  std::atomic<bool> turned_{true};
  std::function<void()> on_tick_;
  bool draining_ = false;
  // Takes the coroutines that are left with it, which use what stands above.
  asio::io_context context_{1};
  asio::executor_work_guard<Executor> work_;
  Timer timer_;
  Poller poller_;
};

}  // namespace kvarts::net
