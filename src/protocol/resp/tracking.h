// Tracking: clients that keep what they have read, and are told when it changes (CLIENT TRACKING).
//
// Nothing is missed. What a client is about to read is remembered before it is read, and every change is told of once
// it is visible. So a change is either seen by the read, which comes behind it, or finds the key remembered: no
// versions need be compared, on no engine. Changes are found in the store (Subscriptions::WatchLive over where keys
// lie), be they made by commands, by POST /commit, by jobs or by other processes: every change of what a key holds
// writes its record anew. The watch is there while anybody tracks. Where other processes write it begins a little
// later, and may lose news: then those who have read meanwhile are told that everything has changed.
//
// An invalidation comes behind the answers that it is about: while a client's commands are carried out (Begin, End)
// what it is to be told waits. With that its own changes are told behind its answer, as Redis does it, or not at
// all with NOLOOP: they are known by the version of its commit.
//
// Safe from any thread. A client that does not track pays for nothing.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/store.h"
#include "protocol/resp/clients.h"
#include "protocol/resp/settings.h"
#include "protocol/resp/tracking_table.h"

namespace kvarts::resp {

struct TrackingOptions {
  uint64_t redirect = 0;  // to which client; zero: to none
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
};

class Tracking {
 public:
  // What the prefixes of one client may take.
  static constexpr uint64_t kMaxPrefixBytes = 1 << 20;
  // Where everything is counted that a prefix takes beside its bytes.
  static constexpr uint64_t kPerPrefix = 64;

  // All of them outlive it. `counted`: what messages take (Service::message_bytes).
  Tracking(Store& store, Clients& clients, const Settings& settings, MessageBytes& counted);
  ~Tracking();
  Tracking(const Tracking&) = delete;
  Tracking& operator=(const Tracking&) = delete;

  // From now on the client tracks, in this way. Prefixes are added to those that it has. Refused as Redis refuses it.
  Status On(uint64_t client, const TrackingOptions& options, std::span<const std::string_view> prefixes);
  void Off(uint64_t client);

  struct Info {
    TrackingOptions options;
    bool broken = false;  // nobody is where it is redirected to
    std::vector<Bytes> prefixes;
  };
  // Nothing when it does not track.
  std::optional<Info> Of(uint64_t client) const;

  // On the client's loop, before it reads these keys, or does anything else; and when its answers are written.
  void Begin(uint64_t client, std::span<const std::string_view> keys);
  // Whether it is told anything itself.
  bool End(uint64_t client);
  // Between both: a commit of its own.
  void NoteOwn(uint64_t client, Version version);
  // Whatever the client keeps is to be thought stale.
  void InvalidateAll(uint64_t client);

  struct Counts {
    size_t clients = 0;
    size_t keys = 0;
    size_t items = 0;
    size_t prefixes = 0;
  };
  Counts counts() const;

 private:
  using Keys = std::vector<Bytes>;

  // A client that does not take its answers in time is told that everything has changed, beyond so much.
  static constexpr size_t kMaxPending = 10'000;
  // Of how many of its own commits a client is to be told later than of their answers, at most.
  static constexpr size_t kOwnVersions = 1'024;
  // Keys that are forgotten at once, when there are too many.
  static constexpr size_t kForgottenAtOnce = 1'000;

  struct Pending {
    Bytes key;
    Version version;
  };
  struct Tracked {
    TrackingOptions options;
    std::set<Bytes> prefixes;
    uint64_t prefix_bytes = 0;
    bool broken = false;
    bool busy = false;     // between Begin and End
    bool at_risk = false;  // it has read what nobody watched
    bool all_pending = false;
    std::vector<Pending> pending;
    std::deque<Version> own;

    bool IsOwn(Version version) const;
  };
  // Which is sent when nothing is locked. Without keys: all of them.
  struct Outgoing {
    uint64_t client;
    uint64_t redirect;
    std::shared_ptr<const Keys> keys;
  };
  using Sending = std::vector<Outgoing>;

  // Where keys lie, and which databases there are.
  static constexpr int kWatched = 2;

  void StartWatching();
  void StopIfNobodyTracks();
  void Heard(const kvarts::Subscriptions::News& news, bool of_keys);
  void Changed(const Mutation& mutation, Version version);
  void EverythingChanged(bool only_at_risk);

  Status AddPrefixes(Tracked& client, uint64_t id, std::span<const std::string_view> prefixes);
  Tracked* Find(uint64_t client);
  void Tell(uint64_t id, Tracked& client, BytesView key, Version version, Sending* sending);
  void TellAll(uint64_t id, Tracked& client, Sending* sending);
  void SendPending(uint64_t id, Tracked& client, const std::vector<Pending>& pending, Sending* sending);
  void ForgetExcess(Sending* sending);
  void Send(const Sending& sending);

  Store& store_;
  Clients& clients_;
  const Settings& settings_;
  MessageBytes& counted_;
  // Taken before that of the subscriptions, and that before the other.
  std::mutex watching_;
  std::vector<kvarts::Subscriptions::Id> watches_;
  std::atomic<int> begun_{0};  // of them
  mutable std::mutex mutex_;
  std::map<uint64_t, Tracked> tracked_;
  TrackingTable table_;
};

}  // namespace kvarts::resp
