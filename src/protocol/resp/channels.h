// Channels: who listens to what is published, by the name of the channel or by a pattern of names; and, apart from
// both, to shard channels, which one server has like any others.
//
// Safe from any thread. All who listen to a channel are told of its messages in one order, and of those of one thread
// in its own. Who has left is told nothing more. A message costs what is told of it, and a match with every
// pattern that anybody listens by; if nobody listens to anything, a look at a number.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "model/structure/secret_hash.h"
#include "protocol/resp/client.h"

namespace kvarts::resp {

// What is listened to.
enum class Listening : uint8_t { kChannel, kPattern, kShard };

class Channels {
 public:
  explicit Channels(MessageBytes& counted) : counted_(counted) {}

  // Once for each client and name.
  void Join(Listening to, BytesView name, std::shared_ptr<Client> client);
  void Leave(Listening to, BytesView name, const Client& client);

  // Tells it to all who listen to the channel, or by a pattern; how many they were. From any thread.
  size_t Publish(BytesView channel, BytesView payload);
  size_t PublishToShard(BytesView channel, BytesView payload);
  // Whether anybody listens to any channel, or by any pattern: else nothing need be published.
  bool HasListeners() const { return listeners_.load() != 0; }

  // A client has begun to listen to anything at all, or ended.
  void NoteClients(int64_t more) { clients_.fetch_add(more, std::memory_order_relaxed); }
  int64_t clients() const { return clients_.load(std::memory_order_relaxed); }

  // Not of patterns.
  std::vector<Bytes> Names(Listening to, BytesView matching) const;
  size_t Listeners(Listening to, BytesView name) const;
  // How many channels or patterns somebody listens to.
  size_t Count(Listening to) const;

 private:
  using Group = std::unordered_map<uint64_t, std::shared_ptr<Client>>;
  using Groups = std::unordered_map<Bytes, Group, structure::SecretHash, std::equal_to<>>;
  // Channels are apart from each other by their hashes, so that publishers to several seldom wait for each other.
  struct Part {
    mutable std::mutex mutex;
    Groups groups;
  };
  using Parts = std::array<Part, 16>;

  static Part& PartOf(Parts& parts, BytesView name);
  static const Part& PartOf(const Parts& parts, BytesView name) { return PartOf(const_cast<Parts&>(parts), name); }
  const Parts& PartsOf(Listening to) const { return to == Listening::kShard ? shard_channels_ : channels_; }
  static size_t Tell(const Group& group, const std::shared_ptr<const Message>& message);
  static void Insert(Groups& groups, BytesView name, std::shared_ptr<Client> client);
  static void Erase(Groups& groups, BytesView name, const Client& client);

  MessageBytes& counted_;
  std::atomic<size_t> listeners_{0};  // to channels and by patterns
  std::atomic<size_t> shard_listeners_{0};
  std::atomic<int64_t> clients_{0};
  Parts channels_;
  Parts shard_channels_;
  // Taken behind that of a part.
  mutable std::shared_mutex patterns_mutex_;
  Groups patterns_;
};

}  // namespace kvarts::resp
