// Listener: takes connections in and gives each to a loop, in turn; finds out which protocol it speaks, and has it
// served. Counts connections, and refuses those beyond the limit.
//
// Start and Stop belong to one thread; the rest happens on the loops.
#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/protocol.h"

namespace kvarts::net {

struct ListenerOptions {
  size_t max_connections = 20'000;
  // How long a new connection may take to say something.
  std::chrono::milliseconds first_byte_timeout{10'000};
};

struct ListenerCounts {
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};  // beyond max_connections
  std::atomic<uint64_t> unknown{0};  // spoke no protocol of ours
};

class Listener {
 public:
  Listener(std::span<const std::unique_ptr<Loop>> loops, std::vector<Protocol*> protocols, ListenerOptions options);

  // Begins to listen. `unavailable` when the address is taken or not ours.
  // With a protocol, that alone is served there.
  Status Listen(const Address& address, Protocol* only = nullptr);
  // As text, with the ports that were chosen.
  std::vector<std::string> addresses() const;
  // Takes no more connections.
  void Stop();
  // Lets go of the loops, which no longer run.
  void Close() { acceptors_.clear(); }

  // From now on for new connections; null: plain.
  void SetTls(std::shared_ptr<const TlsContext> tls);
  // Serves a socket that is connected already.
  void Adopt(int socket);

  size_t connections() const;
  size_t max_connections() const { return max_connections_.load(std::memory_order_relaxed); }
  // From now on, from any thread; those that are open stay.
  void SetMaxConnections(size_t most) { max_connections_ = most; }
  const ListenerCounts& counts() const { return counts_; }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, Executor>;

  // Beyond the limit, so many more get to hear why they are refused; the rest is closed without a word.
  static constexpr size_t kRefusedPolitely = 128;

  Loop& NextLoop() { return *loops_[next_loop_++ % loops_.size()]; }
  Task<> Accept(std::shared_ptr<Acceptor> acceptor, Protocol* only);
  void Take(Loop& loop, int socket, Protocol* only);
  Task<> Serve(Loop& loop, int socket, Protocol* only, bool refuse);
  Task<Protocol*> Sniff(Stream& stream);

  const std::span<const std::unique_ptr<Loop>> loops_;
  const std::vector<Protocol*> protocols_;
  const ListenerOptions options_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::vector<std::string> paths_;  // of those among them that are files
  std::atomic<std::shared_ptr<const TlsContext>> tls_;
  std::atomic<size_t> next_loop_{0};
  std::atomic<size_t> max_connections_;
  ListenerCounts counts_;
};

}  // namespace kvarts::net
