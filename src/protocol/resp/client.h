// Client: a connection as others reach it: with messages that it is to be told, and to look at it or end it.
//
// Push, CutOff and waiting are safe from any thread, the rest belongs to the connection's loop. A connection is told
// that messages wait by one letter to its loop, however many they are, and takes them when it is between two answers.
// What one thread pushes arrives in its order. What waits is bounded: a client beyond its limits (output_limits.h) is
// cut off; and if messages take more than half of what all connections may hold, the one for which most waits.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/loop.h"
#include "protocol/resp/message.h"
#include "protocol/resp/output_limits.h"

namespace kvarts::resp {

struct ClientFacts;
struct Service;

class Client : public std::enable_shared_from_this<Client> {
 public:
  // The connection. What is called here is called on its loop.
  class Owner {
   public:
    // There is something to be taken.
    virtual void MessagesWait() = 0;
    // It is no client any more: it ends at once; or, if it asked for that itself, behind the answer.
    virtual void Kill(bool behind_answer) = 0;
    virtual ClientFacts Facts() const = 0;
    // Who it is may be gone, or may not listen to all that it listens to: then it is killed, behind the answer of what
    // it may have asked for itself.
    virtual void RightsChanged() = 0;

   protected:
    ~Owner() = default;
  };

  // Until End.
  Client(Service& service, uint64_t id, net::Loop& loop, Owner& owner);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  uint64_t id() const { return id_; }
  net::Loop& loop() const { return loop_; }

  // Whether it listens to channels; from any thread.
  bool listens() const { return class_.load(std::memory_order_relaxed) == ClientClass::kPubSub; }
  // False when it has ended, be it for this.
  bool Push(std::shared_ptr<const Message> message);
  // It does not take what it is told.
  void CutOff();
  // How many messages wait, and how large they are; from any thread, too.
  std::pair<size_t, uint64_t> waiting() const;

  // On the loop, all of them.
  // Writes what waits, until `out` has so many bytes; true when more is left.
  bool TakeMessages(int version, size_t until, Bytes* out);
  void set_class(ClientClass of) { class_.store(of, std::memory_order_relaxed); }
  void End();
  // Null once it has ended.
  Owner* owner() const { return owner_; }

 private:
  using Steady = std::chrono::steady_clock;

  // What a message that waits takes here.
  static constexpr uint64_t kPlaceBytes = 32;
  bool IsTooMuch();
  void Post();
  void Drop();
  void Arrive();

  Service& service_;
  const uint64_t id_;
  net::Loop& loop_;
  Owner* owner_;
  std::atomic<ClientClass> class_{ClientClass::kNormal};

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Message>> messages_;
  uint64_t bytes_ = 0;  // of them
  Steady::time_point much_since_ = Steady::time_point::max();
  bool posted_ = false;  // a letter is on its way
  bool ended_ = false;
  bool cut_off_ = false;
};

}  // namespace kvarts::resp
