#include "protocol/common/loop_reads.h"

#include <utility>

namespace kvarts {

void LoopReads::Read::Done(Status told) {
  outcome = std::move(told);
  net::Resume resume = *std::exchange(resume_, std::nullopt);
  // A coroutine cannot be resumed while it is still being suspended.
  if (loop_->IsHere() && !starting_) return std::move(resume)();
  loop_->Post(std::move(resume));
}

LoopReads::LoopReads(net::Loop& loop, Engine& engine)
    : loop_(loop),
      engine_(engine),
      watch_(loop.poller(),
             [this](net::Watch::Ready) {
               channel_->Ready();
               LeaveAtEndOfTurn();
             }),
      timer_(loop.executor()),
      channel_(engine.OpenReadChannel(*this)) {}

LoopReads::~LoopReads() = default;

net::Task<> LoopReads::Await(Read& read) {
  auto initiate = [this, &read](net::Resume resume) {
    read.loop_ = &loop_;
    read.resume_.emplace(std::move(resume));
    Start(read);
  };
  return asio::async_initiate<const asio::use_awaitable_t<net::Executor>&, void()>(std::move(initiate), net::kAwait);
}

void LoopReads::Start(Read& read) {
  read.starting_ = true;
  if (channel_ == nullptr) {
    engine_.GetLater(read);
  } else {
    channel_->Add(read);
    LeaveAtEndOfTurn();
  }
  // It is there: whoever is done with it by now has left a letter for this thread.
  read.starting_ = false;
}

void LoopReads::LeaveAtEndOfTurn() {
  if (std::exchange(leaving_, true)) return;
  loop_.AtEndOfTurn([this] {
    leaving_ = false;
    channel_->Leave();
  });
}

void LoopReads::LeaveWithin(std::chrono::microseconds time) {
  // One that runs already is from shortly before: should it be too early, the channel asks again.
  if (std::exchange(timed_, true)) return;
  timer_.expires_after(time);
  timer_.async_wait([this](asio::error_code failed) {
    if (failed) return;
    timed_ = false;
    channel_->Leave();
  });
}

void LoopReads::Tick() {
  if (channel_ == nullptr) return;
  channel_->Tick();
  LeaveAtEndOfTurn();
}

}  // namespace kvarts
