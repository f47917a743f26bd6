// A path through the network to a server on this machine, which a test may cut: what is sent through it goes nowhere
// from then on, and nobody is told. One thread passes everything on. Safe from any thread.
#pragma once

#include <poll.h>

#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kvarts::test {

class Relay {
 public:
  // To that port of the loopback. Throws when there is no path to be had.
  explicit Relay(int server_port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Where those connect who want to go to the server.
  int port() const { return port_; }

  // Nothing passes any more, either way, when it returns; who connects is left without an answer.
  void Cut() { Tell(&cut_, true); }
  // It passes again. What had been sent arrives now, late.
  void Resume() { Tell(&cut_, false); }
  // It passes again, for new connections: those that there were are reset, and what was on its way is lost.
  void Reset();

 private:
  // One direction of a connection.
  struct Way {
    int from;
    int to;
    std::string kept = {};  // was read, and is to be written
  };
  struct Pair {
    Way out;   // from the client
    Way back;  // from the server
  };
  static constexpr size_t kReadBytes = 64 << 10;

  void Tell(bool* what, bool value);
  void Loop();
  std::vector<pollfd> Awaited() const;
  void Accept();
  // False when the connection has ended.
  static bool Pass(Way& way);
  static void End(const Pair& pair, bool by_reset);

  const int server_port_;
  int port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  std::mutex mutex_;
  bool cut_ = false;
  bool reset_ = false;
  bool ending_ = false;
  std::list<Pair> pairs_;  // the thread's alone
  std::jthread thread_;
};

}  // namespace kvarts::test
