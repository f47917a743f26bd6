#include "protocol/resp/channels.h"

#include "base/held_wakeups.h"
#include "model/structure/glob.h"

namespace kvarts::resp {
namespace {

// What was published; shared by what is told of it to those who listen in different ways.
struct Published {
  Bytes channel;
  Bytes payload;
};

class ChannelMessage final : public Message {
 public:
  ChannelMessage(MessageBytes& counted, std::string_view kind, std::shared_ptr<const Published> what)
      : Message(counted, what->channel.size() + what->payload.size()), kind_(kind), what_(std::move(what)) {}

  void Write(ReplyWriter& reply) const override { reply.Push(3).Bulk(kind_).Bulk(what_->channel).Bulk(what_->payload); }

 private:
  const std::string_view kind_;
  const std::shared_ptr<const Published> what_;
};

class PatternMessage final : public Message {
 public:
  PatternMessage(MessageBytes& counted, BytesView pattern, std::shared_ptr<const Published> what)
      : Message(counted, pattern.size() + what->channel.size() + what->payload.size()),
        pattern_(pattern),
        what_(std::move(what)) {}

  void Write(ReplyWriter& reply) const override {
    reply.Push(4).Bulk("pmessage").Bulk(pattern_).Bulk(what_->channel).Bulk(what_->payload);
  }

 private:
  const Bytes pattern_;
  const std::shared_ptr<const Published> what_;
};

}  // namespace

Channels::Part& Channels::PartOf(Parts& parts, BytesView name) {
  return parts[structure::SecretHash()(name) % parts.size()];
}

void Channels::Insert(Groups& groups, BytesView name, std::shared_ptr<Client> client) {
  auto group = groups.find(name);
  if (group == groups.end()) group = groups.try_emplace(Bytes(name)).first;
  const uint64_t id = client->id();
  group->second.emplace(id, std::move(client));
}

void Channels::Erase(Groups& groups, BytesView name, const Client& client) {
  const auto group = groups.find(name);
  if (group == groups.end()) return;
  group->second.erase(client.id());
  if (group->second.empty()) groups.erase(group);
}

void Channels::Join(Listening to, BytesView name, std::shared_ptr<Client> client) {
  (to == Listening::kShard ? shard_listeners_ : listeners_).fetch_add(1);
  if (to == Listening::kPattern) {
    const std::lock_guard lock(patterns_mutex_);
    return Insert(patterns_, name, std::move(client));
  }
  Part& part = PartOf(to == Listening::kShard ? shard_channels_ : channels_, name);
  const std::lock_guard lock(part.mutex);
  Insert(part.groups, name, std::move(client));
}

void Channels::Leave(Listening to, BytesView name, const Client& client) {
  if (to == Listening::kPattern) {
    const std::lock_guard lock(patterns_mutex_);
    Erase(patterns_, name, client);
  } else {
    Part& part = PartOf(to == Listening::kShard ? shard_channels_ : channels_, name);
    const std::lock_guard lock(part.mutex);
    Erase(part.groups, name, client);
  }
  (to == Listening::kShard ? shard_listeners_ : listeners_).fetch_sub(1);
}

size_t Channels::Tell(const Group& group, const std::shared_ptr<const Message>& message) {
  size_t told = 0;
  for (const auto& [id, client] : group) told += client->Push(message) ? 1 : 0;
  return told;
}

size_t Channels::Publish(BytesView channel, BytesView payload) {
  if (!HasListeners()) return 0;
  std::shared_ptr<const Published> what;
  const auto published = [&] {
    if (!what) what = std::make_shared<const Published>(Bytes(channel), Bytes(payload));
    return what;
  };
  const HeldWakeups together;
  Part& part = PartOf(channels_, channel);
  // Until all have been told: so none is told of the next message first.
  const std::lock_guard lock(part.mutex);
  size_t told = 0;
  if (const auto group = part.groups.find(channel); group != part.groups.end()) {
    told += Tell(group->second, std::make_shared<ChannelMessage>(counted_, "message", published()));
  }
  const std::shared_lock patterns_lock(patterns_mutex_);
  for (const auto& [pattern, group] : patterns_) {
    if (!structure::GlobMatches(pattern, channel)) continue;
    told += Tell(group, std::make_shared<PatternMessage>(counted_, pattern, published()));
  }
  return told;
}

size_t Channels::PublishToShard(BytesView channel, BytesView payload) {
  if (shard_listeners_.load() == 0) return 0;
  const HeldWakeups together;
  Part& part = PartOf(shard_channels_, channel);
  const std::lock_guard lock(part.mutex);
  const auto group = part.groups.find(channel);
  if (group == part.groups.end()) return 0;
  auto what = std::make_shared<const Published>(Bytes(channel), Bytes(payload));
  return Tell(group->second, std::make_shared<ChannelMessage>(counted_, "smessage", std::move(what)));
}

std::vector<Bytes> Channels::Names(Listening to, BytesView matching) const {
  std::vector<Bytes> names;
  for (const Part& part : PartsOf(to)) {
    const std::lock_guard lock(part.mutex);
    for (const auto& [name, group] : part.groups) {
      if (structure::GlobMatches(matching, name)) names.push_back(name);
    }
  }
  return names;
}

size_t Channels::Listeners(Listening to, BytesView name) const {
  const Part& part = PartOf(PartsOf(to), name);
  const std::lock_guard lock(part.mutex);
  const auto group = part.groups.find(name);
  return group == part.groups.end() ? 0 : group->second.size();
}

size_t Channels::Count(Listening to) const {
  if (to == Listening::kPattern) {
    const std::shared_lock lock(patterns_mutex_);
    return patterns_.size();
  }
  size_t count = 0;
  for (const Part& part : PartsOf(to)) {
    const std::lock_guard lock(part.mutex);
    count += part.groups.size();
  }
  return count;
}

}  // namespace kvarts::resp
