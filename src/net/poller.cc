#include "net/poller.h"

#include <sys/epoll.h>

#include <array>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <cerrno>
#include <system_error>

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

Poller::Poller(Executor executor) : descriptor_(executor, ::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_ADD, mailbox_.descriptor(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

bool Poller::Add(int socket, Pollable* pollable) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = pollable;
  return ::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_ADD, socket, &event) == 0;
}

Task<> Poller::Run() {
  std::array<epoll_event, kEvents> events;
  while (true) {
    asio::error_code failed;
    co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, asio::redirect_error(kAwait, failed));
    if (failed) co_return;
    const int count = ::epoll_wait(descriptor_.native_handle(), events.data(), kEvents, 0);
    bool mail = false;
    for (int i = 0; i < count; ++i) {
      auto* const pollable = static_cast<Pollable*>(events[static_cast<size_t>(i)].data.ptr);
      if (pollable == nullptr) {
        mail = true;
      } else {
        pollable->Told(events[static_cast<size_t>(i)].events);
      }
    }
    // After the sockets: a letter may end a connection that there was something to tell.
    if (mail) mailbox_.Open();
  }
}

}  // namespace kvarts::net
