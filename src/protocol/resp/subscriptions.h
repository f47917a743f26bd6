// Subscriptions: what one connection listens to. It belongs to the connection's loop.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/common/held_bytes.h"
#include "protocol/resp/channels.h"

namespace kvarts::resp {

class Subscriptions {
 public:
  // What it takes counts as held, and beyond that nothing new is listened to.
  Subscriptions(Channels& channels, std::atomic<uint64_t>& held, uint64_t at_most)
      : channels_(channels), held_(held, at_most) {}
  ~Subscriptions() { LeaveAll(); }
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  // Whose they are; before anything else.
  void SetClient(std::shared_ptr<Client> client) { client_ = std::move(client); }

  // `overloaded` when all connections hold too much then: it does not listen to it.
  Status Join(Listening to, BytesView name);
  // False when it did not listen to that.
  bool Leave(Listening to, BytesView name);
  void LeaveAll();

  bool any() const { return count_ != 0; }
  size_t Count(Listening to) const { return names_[static_cast<size_t>(to)].size(); }
  std::vector<Bytes> Names(Listening to) const;

 private:
  using Names_ = std::set<Bytes, std::less<>>;

  // What one takes here and where it is found by its name.
  static uint64_t BytesOf(BytesView name) { return 2 * name.size() + kAround; }
  static constexpr uint64_t kAround = 256;

  void Counted(size_t now);

  Channels& channels_;
  std::shared_ptr<Client> client_;
  std::array<Names_, 3> names_;
  size_t count_ = 0;  // of all of them
  HeldBytes held_;
};

}  // namespace kvarts::resp
