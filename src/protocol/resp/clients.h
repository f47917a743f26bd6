// Clients: all connections of Redis' protocol, by the numbers they have.
//
// Safe from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "protocol/resp/client.h"

namespace kvarts::resp {

class Clients {
 public:
  void Add(std::shared_ptr<Client> client);
  // Once or more often.
  void Remove(const Client& client);

  // Tells a client something. False when there is none of that number, or it has ended.
  bool Push(uint64_t id, std::shared_ptr<const Message> message) const;
  // Null when there is none.
  std::shared_ptr<Client> Find(uint64_t id) const;
  size_t size() const;

  // Cuts that client off for which most waits to be told, if that is much.
  void CutOffLargest() const;

  // Looks at each of these clients on its own loop, where it may be ended, too, and returns when all have been seen.
  // One after the other, in no order; not on a loop. After Stop, and at that moment, there are none.
  using Visitor = std::function<void(Client::Owner& client)>;
  void Visit(const std::vector<std::shared_ptr<Client>>& clients, Visitor visit);
  // All of them, without waiting for it.
  void VisitSoon(Visitor visit);
  // In the order in which they came.
  std::vector<std::shared_ptr<Client>> All() const;
  // The loops do not run any more.
  void Stop();

 private:
  struct Visits;

  // So many are visited at once, with other work of the loop in between.
  static constexpr size_t kAtOnce = 256;
  // Of this much nobody is slow.
  static constexpr uint64_t kLittle = 64 << 10;

  // Those of a loop from that one on.
  using Several = std::shared_ptr<const std::vector<std::shared_ptr<Client>>>;
  std::shared_ptr<Visits> Begin(const std::vector<std::shared_ptr<Client>>& clients, Visitor visit);
  void VisitSome(const std::shared_ptr<Visits>& visits, net::Loop& loop, Several clients, size_t from);

  mutable std::mutex mutex_;
  std::condition_variable visited_;  // with the mutex
  bool stopped_ = false;
  std::map<uint64_t, std::shared_ptr<Client>> clients_;
};

}  // namespace kvarts::resp
