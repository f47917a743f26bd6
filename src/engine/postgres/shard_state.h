// What is known of the servers of a shard, and what follows from it: who is the primary, who may be read from, who was
// replaced. It only thinks: others ask the servers, and guard it.
//
// - The servers are of one cluster: that of all which answer when everybody was asked for the first time. One that says
//   otherwise, then or later, is refused.
// - The primary is the one that is not in recovery and has the highest timeline that was ever seen, on whatever server.
// One
//   that is not in recovery on an earlier timeline was replaced: it is to be fenced. Two on the highest one are a copy
//   that somebody started: neither is used, since nothing tells which is right.
// - A process that begins when only a replaced primary can be reached, before anybody has fenced it, cannot know. What
//   it writes there is lost, as is what anybody wrote there since the promotion.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "base/durability.h"
#include "engine/postgres/breaker.h"
#include "engine/postgres/server_probe.h"

namespace kvarts::postgres {

enum class ServerRole : uint8_t { kUnknown, kPrimary, kReplica, kReplaced, kRefused };
std::string_view ServerRoleName(ServerRole role);

class ShardState {
 public:
  struct Server {
    std::string name;
    Breaker breaker;
    bool asked = false;                                 // at least once, whatever came of it
    std::optional<Observation> seen = {};               // its last answer
    std::optional<Error> failure = {};                  // of the last try, if that failed
    std::optional<Error> refusal = {};                  // why it is never used
    std::optional<std::chrono::milliseconds> lag = {};  // of a replica, at its last answer; nothing: not known
    ServerRole role = ServerRole::kUnknown;
    // Grows when connections made before should not be used any more: another role, a restart, too many failures.
    uint64_t generation = 0;
  };
  // What is to be written to a server.
  struct Duty {
    uint32_t fence_with = 0;  // a timeline; 0: no
    bool lift_fence = false;
    bool note_timeline = false;
    explicit operator bool() const { return fence_with != 0 || lift_fence || note_timeline; }
  };

  ShardState(const std::vector<std::string>& names, int max_failures, std::chrono::milliseconds probe_interval);

  void Answered(size_t server, Observation seen);
  // A try to reach it or to be answered.
  void Failed(size_t server, const Error& why);

  size_t size() const { return servers_.size(); }
  const Server& operator[](size_t server) const { return servers_[server]; }
  // One that can be tried.
  std::optional<size_t> primary() const;
  bool AllAsked() const;
  bool AllAnswer() const;
  bool AnyRefused() const;
  // Why one of those that answer is none of this shard, if there is such a one.
  std::optional<Error> Stranger() const;
  // Whether it answers, is a replica with our data, and lags no more than that.
  bool MayRead(size_t server, std::optional<std::chrono::milliseconds> max_lag) const;
  Duty DutyOf(size_t server) const;
  uint32_t highest_timeline() const { return highest_timeline_; }
  // What the primary can promise now.
  Durability strongest() const;
  // Why there is no primary: each server with what is wrong.
  Error NoPrimary() const;
  // Every server, with what it is or what is wrong with it.
  std::string Described() const;

 private:
  // The primary had written so much at that time.
  struct Sample {
    Deadline at;
    WalPosition position;
  };
  static constexpr size_t kMaxSamples = 600;

  void Judge();
  void FindCluster();
  std::optional<Error> RefusalOf(const Server& server) const;
  ServerRole RoleOf(const Server& server) const;
  void RefuseCopies();
  std::optional<std::chrono::milliseconds> LagOf(const Observation& replica) const;
  static std::string Describe(const Server& server);

  std::vector<Server> servers_;
  const std::chrono::milliseconds probe_interval_;
  std::string system_id_;  // empty: not known yet
  uint32_t highest_timeline_ = 0;
  std::deque<Sample> samples_;  // the oldest first
};

}  // namespace kvarts::postgres
