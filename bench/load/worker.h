// One thread of the generator with its connections. What may be sent is a queue of slots: each stands for a request
// that its connection has room for. An answer gives its slot back.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "load/generator.h"

namespace kvarts::load {

// First in, first out, with room for a fixed number.
template <class T>
class Ring {
 public:
  explicit Ring(size_t room) : items_(room) {}
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return items_[first_]; }
  void push(const T& item) { items_[(first_ + size_++) % items_.size()] = item; }
  void pop() {
    if (++first_ == items_.size()) first_ = 0;
    --size_;
  }
  void clear() { first_ = size_ = 0; }

 private:
  std::vector<T> items_;
  size_t first_ = 0;
  size_t size_ = 0;
};

class Worker {
 public:
  Worker(const Settings& settings, const KeyChooser& chooser, uint32_t index);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // `began` is the same for all threads.
  Report Run(int64_t began);

 private:
  struct Request {
    OperationKind kind = OperationKind::kGet;
    int64_t since = 0;  // when it was sent or, in an open loop, due
  };
  struct Connection {
    Connection(uint32_t number, size_t pipeline) : index(number), requests(pipeline) {}
    const uint32_t index;
    int fd = -1;
    Ring<Request> requests;  // under way
    std::string out;         // of which the first `sent` bytes are gone
    size_t sent = 0;
    std::vector<char> in;  // of which `received` bytes are there
    size_t received = 0;
    size_t worth_a_look = 0;
    bool waits_to_send = false;
  };

  uint16_t PortOf(const Connection& connection) const;
  void Open(Connection& connection);
  // The connection is of no use any more; what was under way counts as broken.
  void Reopen(Connection& connection);
  // Sends on every connection that has room, as far as requests are due.
  void Pump(int64_t now);
  // When the next request is to be counted from; nothing if none is due yet.
  std::optional<int64_t> Due(int64_t now) const;
  void Flush(Connection& connection);
  void WatchFor(Connection& connection, bool sending);
  void Receive(Connection& connection);
  // Takes the whole answers that are there. False when the connection has to go.
  bool TakeAnswers(Connection& connection, int64_t now);
  void Count(const Request& request, const Answer& answer, std::string_view bytes, int64_t now);
  bool Wait();

  const Settings& settings_;
  Workload workload_;
  const std::unique_ptr<Protocol> protocol_;
  const int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Ring<uint32_t> slots_;
  std::vector<epoll_event> events_;

  int64_t measure_from_ = 0;
  int64_t end_ = 0;
  int64_t last_answer_ = 0;
  uint64_t under_way_ = 0;
  uint64_t left_ = 0;    // requests that may still be sent
  double interval_ = 0;  // between requests of an open loop, in nanoseconds
  int64_t last_sent_ = 0;
  int64_t began_ = 0;
  Report report_;
};

}  // namespace kvarts::load
