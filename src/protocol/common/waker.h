// Waking a coroutine that sleeps on its stream, from other threads: once for any number of reasons, until it has
// looked.
#pragma once

#include <atomic>
#include <memory>

#include "net/loop.h"
#include "net/stream.h"

namespace kvarts {

class Waker {
 public:
  Waker(net::Loop& loop, net::Stream& stream) : loop_(loop), stream_(&stream) {}

  static void Wake(const std::shared_ptr<Waker>& waker) {
    if (waker->posted_.exchange(true)) return;
    waker->loop_.Post([waker] {
      if (waker->stream_ != nullptr) waker->stream_->Wake();
    });
  }
  // On the loop, before looking.
  void Looking() { posted_ = false; }
  // On the loop: the stream is about to go.
  void End() { stream_ = nullptr; }

 private:
  net::Loop& loop_;
  net::Stream* stream_;
  std::atomic<bool> posted_{false};
};

// The stream may be woken as long as this is there.
struct Waking {
  explicit Waking(net::Stream& stream) : waker(std::make_shared<Waker>(stream.loop(), stream)) {}
  ~Waking() { waker->End(); }
  Waking(const Waking&) = delete;
  Waking& operator=(const Waking&) = delete;

  const std::shared_ptr<Waker> waker;
};

}  // namespace kvarts
