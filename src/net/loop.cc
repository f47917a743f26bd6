#include "net/loop.h"

#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>

#include "net/stream.h"

namespace kvarts::net {

Loop::Loop(size_t number)
    : number_(number),
      scratch_(std::make_unique_for_overwrite<char[]>(kScratchBytes)),
      work_(asio::make_work_guard(context_)),
      timer_(context_.get_executor()),
      poller_(context_.get_executor()) {}

Loop::~Loop() {
  // A coroutine that waits for a socket is held by nobody but itself. Aborted, it is on the context's queue, and goes
  // with the context.
  AbortAll();
}

void Loop::AbortAll() {
  for (Stream* stream = streams_; stream != nullptr; stream = stream->next_) stream->Abort();
}

void Loop::Run() {
  thread_ = std::this_thread::get_id();
  Spawn(Tick());
  Spawn(poller_.Run());
  context_.run();
  thread_ = std::thread::id();
}

void Loop::Stop() { context_.stop(); }

void Loop::Spawn(Task<> task) { asio::co_spawn(context_.get_executor(), std::move(task), asio::detached); }

void Loop::Add(Stream* stream) {
  stream->next_ = streams_;
  if (streams_ != nullptr) streams_->previous_ = stream;
  streams_ = stream;
  connections_.fetch_add(1, std::memory_order_relaxed);
}

void Loop::Remove(Stream* stream) {
  if (stream->next_ != nullptr) stream->next_->previous_ = stream->previous_;
  (stream->previous_ != nullptr ? stream->previous_->next_ : streams_) = stream->next_;
  connections_.fetch_sub(1, std::memory_order_relaxed);
}

void Loop::Drain() {
  draining_ = true;
  for (Stream* stream = streams_; stream != nullptr; stream = stream->next_) {
    if (stream->idle()) {
      stream->Abort();
    } else {
      stream->Wake();
    }
  }
}

Task<> Loop::Tick() {
  while (true) {
    timer_.expires_after(kTick);
    asio::error_code failed;
    co_await timer_.async_wait(asio::redirect_error(kAwait, failed));
    if (failed) co_return;
    now_ = std::chrono::steady_clock::now();
    turned_.store(true, std::memory_order_relaxed);
    // Aborting only closes: the connection's coroutine ends, and takes it off the list, when it is next resumed.
    for (Stream* stream = streams_; stream != nullptr; stream = stream->next_) {
      if (stream->deadline_ < now_) stream->Abort();
      if (stream->gone_.stop_possible() && stream->PeerGone()) stream->gone_.request_stop();
    }
    if (on_tick_) on_tick_();
  }
}

}  // namespace kvarts::net
