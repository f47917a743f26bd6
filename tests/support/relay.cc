#include "support/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace kvarts::test {
namespace {

constexpr int kBacklog = 512;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int StreamSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

void AtOnce(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

Relay::Relay(int server_port) : server_port_(server_port), listener_(StreamSocket()), wake_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, place, size) != 0 || listen(listener_, kBacklog) != 0 ||
      getsockname(listener_, place, &size) != 0 || wake_ < 0) {
    throw std::runtime_error("there is no relay to be had");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { Loop(); });
}

Relay::~Relay() {
  Tell(&ending_, true);
  thread_.join();
  close(listener_);
  close(wake_);
}

void Relay::Tell(bool* what, bool value) {
  const std::lock_guard lock(mutex_);
  *what = value;
  eventfd_write(wake_, 1);
}

void Relay::Reset() {
  const std::lock_guard lock(mutex_);
  cut_ = false;
  reset_ = true;
  eventfd_write(wake_, 1);
}

// The wake, and unless it is cut the listener and two for each pair.
std::vector<pollfd> Relay::Awaited() const {
  std::vector<pollfd> awaited{{.fd = wake_, .events = POLLIN, .revents = 0}};
  if (cut_) return awaited;
  awaited.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
  const auto await = [&](const Way& way) {
    awaited.push_back(way.kept.empty() ? pollfd{.fd = way.from, .events = POLLIN, .revents = 0}
                                       : pollfd{.fd = way.to, .events = POLLOUT, .revents = 0});
  };
  for (const Pair& pair : pairs_) {
    await(pair.out);
    await(pair.back);
  }
  return awaited;
}

void Relay::Loop() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::vector<pollfd> awaited = Awaited();
    lock.unlock();
    poll(awaited.data(), awaited.size(), -1);
    lock.lock();
    if (eventfd_t wakes = 0; awaited[0].revents != 0) eventfd_read(wake_, &wakes);
    if (reset_) {
      for (const Pair& pair : pairs_) End(pair, true);
      pairs_.clear();
      reset_ = false;
      continue;
    }
    if (cut_ || awaited.size() == 1) continue;
    size_t next = 2;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); next += 2) {
      const bool goes_on =
          (awaited[next].revents == 0 || Pass(pair->out)) && (awaited[next + 1].revents == 0 || Pass(pair->back));
      if (!goes_on) End(*pair, false);
      pair = goes_on ? std::next(pair) : pairs_.erase(pair);
    }
    if (awaited[1].revents != 0) Accept();
  }
  for (const Pair& pair : pairs_) End(pair, false);
}

void Relay::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = StreamSocket();
  const sockaddr_in address = Loopback(server_port_);
  const Pair pair{{client, server}, {server, client}};
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return End(pair, true);
  AtOnce(client);
  AtOnce(server);
  pairs_.push_back(pair);
}

bool Relay::Pass(Way& way) {
  if (way.kept.empty()) {
    way.kept.resize(kReadBytes);
    const ssize_t read = recv(way.from, way.kept.data(), way.kept.size(), MSG_DONTWAIT);
    way.kept.resize(read > 0 ? static_cast<size_t>(read) : 0);
    if (read == 0 || (read < 0 && errno != EAGAIN && errno != EINTR)) return false;
  }
  const ssize_t sent = send(way.to, way.kept.data(), way.kept.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  way.kept.erase(0, static_cast<size_t>(sent));
  return true;
}

void Relay::End(const Pair& pair, bool by_reset) {
  for (const int descriptor : {pair.out.from, pair.out.to}) {
    const linger none{.l_onoff = 1, .l_linger = 0};
    if (by_reset) setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(descriptor);
  }
}

}  // namespace kvarts::test
