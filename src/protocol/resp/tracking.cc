#include "protocol/resp/tracking.h"

#include <algorithm>

#include "base/held_wakeups.h"
#include "model/structure/places.h"
#include "protocol/resp/arguments.h"

namespace kvarts::resp {
namespace {

constexpr std::string_view kChannel = "__redis__:invalidate";

// Keys that have changed; without any, all of them.
class Invalidation final : public Message {
 public:
  using Keys = std::vector<Bytes>;

  // `listens`: it goes to another client than the one that tracks, which listens to channels.
  Invalidation(MessageBytes& counted, std::shared_ptr<const Keys> keys, bool listens)
      : Message(counted, SizeOf(keys.get())), keys_(std::move(keys)), listens_(listens) {}

  void Write(ReplyWriter& reply) const override {
    if (reply.version() > 2) {
      reply.Push(2).Bulk("invalidate");
    } else if (listens_) {
      reply.Push(3).Bulk("message").Bulk(kChannel);
    } else {
      return;
    }
    if (keys_ == nullptr) {
      reply.Null();
      return;
    }
    reply.Array(keys_->size());
    for (const Bytes& key : *keys_) reply.Bulk(key);
  }

 private:
  static uint64_t SizeOf(const Keys* keys) {
    uint64_t size = kChannel.size();
    if (keys == nullptr) return size;
    for (const Bytes& key : *keys) size += key.size() + sizeof(Bytes);
    return size;
  }

  const std::shared_ptr<const Keys> keys_;
  const bool listens_;
};

// Nobody is there to whom invalidations are redirected.
class RedirectBroken final : public Message {
 public:
  RedirectBroken(MessageBytes& counted, uint64_t redirect) : Message(counted, 0), redirect_(redirect) {}

  void Write(ReplyWriter& reply) const override {
    if (reply.version() > 2) reply.Push(2).Bulk("tracking-redir-broken").Int(static_cast<int64_t>(redirect_));
  }

 private:
  const uint64_t redirect_;
};

bool Overlap(BytesView one, BytesView other) { return one.starts_with(other) || other.starts_with(one); }

Error Overlaps(BytesView prefix, std::string_view with, BytesView other) {
  // As C shows a text.
  const auto shown = [](BytesView text) { return Bytes(text.substr(0, text.find('\0'))); };
  return WrongWith("Prefix '", shown(prefix) + "' overlaps with " + Bytes(with) + " prefix '" + shown(other) +
                                   "'. Prefixes for a single client must not overlap.");
}

}  // namespace

bool Tracking::Tracked::IsOwn(Version version) const {
  return version != kNoVersion && std::ranges::find(own, version) != own.end();
}

Tracking::Tracking(Store& store, Clients& clients, const Settings& settings, MessageBytes& counted)
    : store_(store), clients_(clients), settings_(settings), counted_(counted), table_([this](uint64_t client) {
        return tracked_.contains(client);
      }) {}

Tracking::~Tracking() {
  for (const kvarts::Subscriptions::Id watch : watches_) store_.subscriptions().Cancel(watch);
}

void Tracking::StartWatching() {
  if (!watches_.empty()) return;
  begun_ = 0;
  kvarts::Subscriptions& subscriptions = store_.subscriptions();
  watches_.push_back(subscriptions.WatchLive(SpaceRange(Space::kStructures),
                                             [this](const kvarts::Subscriptions::News& news) { Heard(news, true); }));
  watches_.push_back(subscriptions.WatchLive(KeyRange::Single(structure::DatabasesPlace()),
                                             [this](const kvarts::Subscriptions::News& news) { Heard(news, false); }));
}

void Tracking::StopIfNobodyTracks() {
  const std::lock_guard watching(watching_);
  {
    const std::lock_guard lock(mutex_);
    if (!tracked_.empty()) return;
    table_.Clear();
  }
  for (const kvarts::Subscriptions::Id watch : watches_) store_.subscriptions().Cancel(watch);
  watches_.clear();
}

void Tracking::Heard(const kvarts::Subscriptions::News& news, bool of_keys) {
  using Kind = kvarts::Subscriptions::News::Kind;
  if (news.kind == Kind::kBegins) {
    if (begun_.fetch_add(1) + 1 == kWatched) EverythingChanged(true);
  } else if (news.kind == Kind::kLost || !of_keys) {
    // A database that was flushed or swapped, or nobody knows what.
    EverythingChanged(false);
  } else {
    Changed(*news.mutation, news.version);
  }
}

void Tracking::Changed(const Mutation& mutation, Version version) {
  // What is erased by range was in databases that are gone.
  if (mutation.op == Mutation::Op::kEraseRange) return;
  const auto key = structure::KeyAt(mutation.key);
  if (!key) return;
  Sending sending;
  {
    const std::lock_guard lock(mutex_);
    // What may be its own, or is, may be read by it in the same breath.
    const auto stays = [&](uint64_t id) {
      const Tracked* client = Find(id);
      return client != nullptr && client->options.no_loop && (client->busy || client->IsOwn(version));
    };
    for (const uint64_t id : table_.Take(key->name, stays)) {
      Tracked* const client = Find(id);
      if (client != nullptr && !client->options.broadcast) Tell(id, *client, key->name, version, &sending);
    }
    std::vector<uint64_t> by_prefix;
    table_.FindByPrefix(key->name, &by_prefix);
    for (const uint64_t id : by_prefix) Tell(id, *Find(id), key->name, version, &sending);
  }
  Send(sending);
}

void Tracking::EverythingChanged(bool only_at_risk) {
  Sending sending;
  {
    const std::lock_guard lock(mutex_);
    if (!only_at_risk) table_.Clear();
    for (auto& [id, client] : tracked_) {
      if (!only_at_risk || client.at_risk) TellAll(id, client, &sending);
      client.at_risk = false;
    }
  }
  Send(sending);
}

void Tracking::InvalidateAll(uint64_t client) {
  Sending sending;
  {
    const std::lock_guard lock(mutex_);
    if (Tracked* const found = Find(client)) TellAll(client, *found, &sending);
  }
  Send(sending);
}

Tracking::Tracked* Tracking::Find(uint64_t client) {
  const auto found = tracked_.find(client);
  return found == tracked_.end() ? nullptr : &found->second;
}

void Tracking::Tell(uint64_t id, Tracked& client, BytesView key, Version version, Sending* sending) {
  if (client.busy) {
    if (client.all_pending) return;
    if (client.pending.size() == kMaxPending) return TellAll(id, client, sending);
    client.pending.push_back({Bytes(key), version});
  } else if (!client.options.no_loop || !client.IsOwn(version)) {
    sending->push_back({id, client.options.redirect, std::make_shared<const Keys>(1, Bytes(key))});
  }
}

void Tracking::TellAll(uint64_t id, Tracked& client, Sending* sending) {
  if (client.busy) {
    client.pending.clear();
    client.all_pending = true;
  } else {
    sending->push_back({id, client.options.redirect, nullptr});
  }
}

void Tracking::Begin(uint64_t client, std::span<const std::string_view> keys) {
  Sending sending;
  {
    const std::lock_guard lock(mutex_);
    Tracked* const found = Find(client);
    if (found == nullptr) return;
    found->busy = true;
    if (begun_.load() < kWatched) found->at_risk = true;
    for (const std::string_view key : keys) table_.Remember(key, client);
    if (!keys.empty()) ForgetExcess(&sending);
  }
  Send(sending);
}

void Tracking::ForgetExcess(Sending* sending) {
  const auto most = static_cast<size_t>(settings_[Number::kMaxTrackedKeys]);
  for (size_t i = 0; most != 0 && i < kForgottenAtOnce; ++i) {
    const auto excess = table_.TakeExcess(most);
    if (!excess) return;
    for (const uint64_t id : excess->clients) {
      Tracked* const client = Find(id);
      if (client != nullptr && !client->options.broadcast) Tell(id, *client, excess->key, kNoVersion, sending);
    }
  }
}

bool Tracking::End(uint64_t client) {
  Sending sending;
  {
    const std::lock_guard lock(mutex_);
    Tracked* const found = Find(client);
    if (found == nullptr) return false;
    found->busy = false;
    const std::vector<Pending> pending = std::exchange(found->pending, {});
    if (std::exchange(found->all_pending, false)) {
      TellAll(client, *found, &sending);
    } else {
      SendPending(client, *found, pending, &sending);
    }
  }
  Send(sending);
  return !sending.empty() && sending[0].redirect == 0;
}

// As Redis does it: one by one and in their order, or those that some prefix is for together, and in order of names.
void Tracking::SendPending(uint64_t id, Tracked& client, const std::vector<Pending>& pending, Sending* sending) {
  const TrackingOptions& options = client.options;
  std::set<Bytes> seen;
  for (const Pending& one : pending) {
    // Of its own the key stays remembered: it may have been read behind the change.
    if (options.no_loop && client.IsOwn(one.version)) continue;
    if (options.no_loop) table_.Forget(one.key, id);
    if (!seen.insert(one.key).second || options.broadcast) continue;
    sending->push_back({id, options.redirect, std::make_shared<const Keys>(1, one.key)});
  }
  if (!options.broadcast || seen.empty()) return;
  sending->push_back({id, options.redirect, std::make_shared<const Keys>(seen.begin(), seen.end())});
}

void Tracking::NoteOwn(uint64_t client, Version version) {
  const std::lock_guard lock(mutex_);
  Tracked* const found = Find(client);
  if (found == nullptr || !found->options.no_loop) return;
  found->own.push_back(version);
  if (found->own.size() > kOwnVersions) found->own.pop_front();
}

void Tracking::Send(const Sending& sending) {
  if (sending.empty()) return;
  const HeldWakeups together;
  for (const Outgoing& one : sending) {
    if (one.redirect == 0) {
      clients_.Push(one.client, std::make_shared<Invalidation>(counted_, one.keys, false));
      continue;
    }
    const std::shared_ptr<Client> to = clients_.Find(one.redirect);
    if (to != nullptr && to->Push(std::make_shared<Invalidation>(counted_, one.keys, to->listens()))) continue;
    {
      const std::lock_guard lock(mutex_);
      if (Tracked* const client = Find(one.client)) client->broken = true;
    }
    clients_.Push(one.client, std::make_shared<RedirectBroken>(counted_, one.redirect));
  }
}

Status Tracking::On(uint64_t client, const TrackingOptions& options, std::span<const std::string_view> prefixes) {
  const std::lock_guard watching(watching_);
  {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = tracked_.try_emplace(client);
    Tracked& tracked = at->second;
    const Status fits = options.broadcast ? AddPrefixes(tracked, client, prefixes) : Status();
    if (!fits.has_value()) {
      if (is_new) tracked_.erase(at);
      return fits;
    }
    tracked.options = options;
    tracked.broken = false;
  }
  StartWatching();
  return {};
}

Status Tracking::AddPrefixes(Tracked& client, uint64_t id, std::span<const std::string_view> prefixes) {
  uint64_t bytes = client.prefix_bytes;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    for (const Bytes& known : client.prefixes) {
      if (Overlap(known, prefixes[i])) return Overlaps(prefixes[i], "an existing", known);
    }
    for (size_t j = i + 1; j < prefixes.size(); ++j) {
      if (Overlap(prefixes[i], prefixes[j])) return Overlaps(prefixes[i], "another provided", prefixes[j]);
    }
    bytes += prefixes[i].size() + kPerPrefix;
  }
  if (bytes > kMaxPrefixBytes) return Wrong("too many prefixes for a single client");
  client.prefix_bytes = bytes;
  const auto add = [&](std::string_view prefix) {
    client.prefixes.emplace(prefix);
    table_.AddPrefix(prefix, id);
  };
  for (const std::string_view prefix : prefixes) add(prefix);
  if (prefixes.empty()) add({});
  return {};
}

void Tracking::Off(uint64_t client) {
  {
    const std::lock_guard lock(mutex_);
    Tracked* const found = Find(client);
    if (found == nullptr) return;
    for (const Bytes& prefix : found->prefixes) table_.RemovePrefix(prefix, client);
    tracked_.erase(client);
    if (!tracked_.empty()) return;
  }
  StopIfNobodyTracks();
}

std::optional<Tracking::Info> Tracking::Of(uint64_t client) const {
  const std::lock_guard lock(mutex_);
  const auto found = tracked_.find(client);
  if (found == tracked_.end()) return std::nullopt;
  const Tracked& tracked = found->second;
  return Info{tracked.options, tracked.broken, {tracked.prefixes.begin(), tracked.prefixes.end()}};
}

Tracking::Counts Tracking::counts() const {
  const std::lock_guard lock(mutex_);
  return {tracked_.size(), table_.keys(), table_.items(), table_.prefixes()};
}

}  // namespace kvarts::resp
