#include "net/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/redirect_error.hpp>
#include <cerrno>
#include <numeric>

namespace kvarts::net {
namespace {

constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// A socket that a process left behind when it died keeps its name from being taken; one that answers is in use.
bool Abandoned(const Address& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const auto endpoint = address.Endpoint();
  const auto size = static_cast<socklen_t>(endpoint.size());
  const bool refused = ::connect(probe, endpoint.data(), size) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

void SetNoDelay(int socket) {
  // Fails for Unix sockets, which do not delay.
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

Listener::Listener(std::span<const std::unique_ptr<Loop>> loops, std::vector<Protocol*> protocols,
                   ListenerOptions options)
    : loops_(loops), protocols_(std::move(protocols)), options_(options), max_connections_(options.max_connections) {}

Status Listener::Listen(const Address& address, Protocol* only) {
  Loop& loop = *loops_.front();
  const auto acceptor = std::make_shared<Acceptor>(loop.context());
  asio::error_code failed;
  const auto refused = [&](const char* text) {
    return Error(ErrorCode::kUnavailable, text, {{"address", address.ToString()}, {"cause", failed.message()}});
  };
  const auto endpoint = address.Endpoint();
  acceptor->open(endpoint.protocol(), failed);
  if (failed) return refused("the address cannot be listened on");
  if (address.kind == Address::Kind::kTcp) {
    acceptor->set_option(asio::socket_base::reuse_address(true), failed);
  } else if (Abandoned(address)) {
    ::unlink(address.path.c_str());
  }
  acceptor->bind(endpoint, failed);
  if (failed) return refused("the address cannot be listened on");
  acceptor->listen(asio::socket_base::max_listen_connections, failed);
  if (failed) return refused("the address cannot be listened on");
  acceptors_.push_back(acceptor);
  if (address.kind != Address::Kind::kTcp) paths_.push_back(address.path);
  loop.Spawn(Accept(acceptor, only));
  return {};
}

std::vector<std::string> Listener::addresses() const {
  std::vector<std::string> texts;
  for (const auto& acceptor : acceptors_) {
    asio::error_code ignored;
    texts.push_back(EndpointText(acceptor->local_endpoint(ignored)));
  }
  return texts;
}

void Listener::Stop() {
  // Here, and not on the loop: that may end before it gets to it.
  for (const std::string& path : std::exchange(paths_, {})) ::unlink(path.c_str());
  for (const auto& acceptor : acceptors_) {
    loops_.front()->Post([acceptor] {
      asio::error_code ignored;
      acceptor->close(ignored);
    });
  }
}

void Listener::SetTls(std::shared_ptr<const TlsContext> tls) { tls_.store(std::move(tls)); }

void Listener::Adopt(int socket) {
  Loop& loop = NextLoop();
  loop.Post([this, &loop, socket] { Take(loop, socket, nullptr); });
}

size_t Listener::connections() const {
  return std::accumulate(loops_.begin(), loops_.end(), size_t{0},
                         [](size_t sum, const auto& loop) { return sum + loop->connections(); });
}

Task<> Listener::Accept(std::shared_ptr<Acceptor> acceptor, Protocol* only) {
  Timer pause(loops_.front()->executor());
  while (acceptor->is_open()) {
    asio::error_code failed;
    co_await acceptor->async_wait(asio::socket_base::wait_read, asio::redirect_error(kAwait, failed));
    if (failed) continue;
    const int socket = ::accept4(acceptor->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      SetNoDelay(socket);
      Loop& loop = NextLoop();
      loop.Post([this, &loop, socket, only] { Take(loop, socket, only); });
    } else if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) {
      continue;
    } else if (acceptor->is_open()) {
      // Out of descriptors or memory: connections that end make room.
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(asio::redirect_error(kAwait, failed));
    }
  }
}

void Listener::Take(Loop& loop, int socket, Protocol* only) {
  counts_.accepted.fetch_add(1, std::memory_order_relaxed);
  const size_t open = connections();
  const size_t most = max_connections();
  const bool refuse = open >= most;
  if (refuse) counts_.refused.fetch_add(1, std::memory_order_relaxed);
  if (open >= most + kRefusedPolitely) {
    ::close(socket);
    return;
  }
  loop.Spawn(Serve(loop, socket, only, refuse));
}

Task<> Listener::Serve(Loop& loop, int socket, Protocol* only, bool refuse) {
  if (loop.draining()) {
    ::close(socket);
    co_return;
  }
  const std::shared_ptr<const TlsContext> tls = tls_.load();
  Stream stream(loop, socket, tls ? tls->Accept() : nullptr);
  stream.set_idle(true);
  stream.SetDeadline(options_.first_byte_timeout);
  Protocol* protocol = only;
  if (protocol == nullptr) protocol = co_await Sniff(stream);
  stream.set_idle(false);
  if (protocol == nullptr) co_return;
  co_await protocol->Serve(stream, refuse);
}

Task<Protocol*> Listener::Sniff(Stream& stream) {
  bool more = co_await stream.Read();
  while (more) {
    const std::string_view first = stream.input().substr(0, Protocol::kMaxSniffBytes);
    bool undecided = false;
    for (Protocol* protocol : protocols_) {
      const Protocol::Match match = protocol->Sniff(first);
      if (match == Protocol::Match::kYes) co_return protocol;
      undecided = undecided || match == Protocol::Match::kMaybe;
    }
    if (!undecided) {
      counts_.unknown.fetch_add(1, std::memory_order_relaxed);
      co_return nullptr;
    }
    more = co_await stream.Read();
  }
  co_return nullptr;
}

}  // namespace kvarts::net
