#include "net/poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <cerrno>
#include <span>
#include <system_error>
#include <typeinfo>
#include <utility>

namespace kvarts::net {

Task<> Pollable::Await(bool* ready) {
  if (*ready) co_return;
  auto suspend = [this, ready](Resume resume) {
    waiting_.emplace(std::move(resume));
    awaited_ = ready;
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>&, void()>(suspend, kAwait);
}

void Pollable::Told(uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ended_ = true;
  if (ended_ || (events & EPOLLIN) != 0) readable_ = true;
  if (ended_ || (events & EPOLLOUT) != 0) writable_ = true;
  if (ended_ && told_of_end_ != nullptr) told_of_end_->request_stop();
  if (!waiting_ || !*awaited_) return;
  // The coroutine may end, and this with it.
  Resume resume = *std::move(waiting_);
  waiting_.reset();
  std::move(resume)();
}

void Pollable::Interrupt(Executor executor) {
  readable_ = writable_ = true;
  if (!waiting_) return;
  asio::post(executor, *std::move(waiting_));
  waiting_.reset();
}

void Pollable::InterruptReading(Executor executor) {
  if (!waiting_ || awaited_ != &readable_) return;
  asio::post(executor, *std::move(waiting_));
  waiting_.reset();
}

bool Watch::Control(int operation) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (write_ ? EPOLLOUT : 0u);
  event.data.ptr = static_cast<PollTarget*>(this);
  return ::epoll_ctl(poller_.descriptor_.native_handle(), operation, descriptor_, &event) == 0;
}

bool Watch::Start(int descriptor) {
  Stop();
  descriptor_ = descriptor;
  if (!Control(EPOLL_CTL_ADD)) descriptor_ = -1;
  return descriptor_ >= 0;
}

void Watch::Stop() {
  write_ = false;
  if (descriptor_ < 0) return;
  Control(EPOLL_CTL_DEL);
  descriptor_ = -1;
}

void Watch::WantWrite(bool wanted) {
  if (std::exchange(write_, wanted) != wanted && descriptor_ >= 0) Control(EPOLL_CTL_MOD);
}

void Watch::Told(uint32_t events) {
  // It may have been stopped by somebody who was told before it.
  if (descriptor_ < 0) return;
  constexpr uint32_t kEnded = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  callback_({.readable = (events & (EPOLLIN | kEnded)) != 0, .writable = (events & (EPOLLOUT | kEnded)) != 0});
}

Poller::Poller(Executor executor) : descriptor_(executor, ::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_ADD, mailbox_.descriptor(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

bool Poller::Add(int socket, Pollable* pollable) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = static_cast<PollTarget*>(pollable);
  return ::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_ADD, socket, &event) == 0;
}

Task<> Poller::Run() {
  while (true) {
    asio::error_code failed;
    co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, asio::redirect_error(kAwait, failed));
    if (failed) co_return;
    in_turn_ = true;
    TellReady();
    in_turn_ = false;
    EndTurn();
  }
}

void Poller::TellReady() {
  std::array<epoll_event, kEvents> events;
  const int count = ::epoll_wait(descriptor_.native_handle(), events.data(), kEvents, 0);
  // After the sockets: who watches for others, or a letter, may end a connection that there was something to tell.
  std::array<const epoll_event*, kEvents> watched;
  size_t watches = 0;
  bool mail = false;
  for (const epoll_event& event : std::span(events).first(static_cast<size_t>(std::max(count, 0)))) {
    auto* const target = static_cast<PollTarget*>(event.data.ptr);
    if (target == nullptr) {
      mail = true;
    } else if (typeid(*target) == typeid(Watch)) {
      watched[watches++] = &event;
    } else {
      target->Told(event.events);
    }
  }
  for (const epoll_event* const event : std::span(watched).first(watches)) {
    static_cast<PollTarget*>(event->data.ptr)->Told(event->events);
  }
  if (mail) mailbox_.Open();
}

void Poller::AtEndOfTurn(std::function<void()> callback) {
  // Outside a turn, as behind a timer: whatever else can run now is one.
  if (at_end_.empty() && !in_turn_) asio::post(descriptor_.get_executor(), [this] { EndTurn(); });
  at_end_.push_back(std::move(callback));
}

void Poller::EndTurn() {
  ending_.swap(at_end_);
  for (const auto& callback : ending_) callback();
  ending_.clear();
}

}  // namespace kvarts::net
