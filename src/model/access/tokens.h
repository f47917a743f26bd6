// Tokens: all tokens of a store in memory, to check the one that a request bears.
//
// The table hears of every commit that changes a token before that commit is acknowledged, so a revoked token stops
// working for every request that begins after its revocation was answered, and a new one works from its own answer on.
// A token that expires does so at its instant, by the engine's time. What other processes do to tokens it hears of soon
// after, and reads them all again.
//
// Whoever guesses learns nothing: an unknown id, a wrong secret, an expired or disabled token are one answer, and the
// presented secret is hashed and compared in each case. Safe from any thread. A check takes a lock of a byte in one of
// a few parts of the table, and a hash.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/spin_lock.h"
#include "core/refresher.h"
#include "core/store.h"
#include "model/access/token_record.h"

namespace kvarts {

// A token in force. It stays as it was when it was checked, for the request that bears it.
class Credential {
 public:
  const TokenInfo& token() const { return token_; }

  // See scope.h. The namespace is the one that the key or the whole range lies in; empty for none.
  bool Allows(Right right, BytesView key, std::string_view name_space = {}) const;
  bool Allows(Right right, const KeyRange& range, std::string_view name_space = {}) const;
  // Over a project, a dataset or a table; empty: over all of them.
  bool AllowsTables(Right right, std::string_view path) const;
  // Over anything at all.
  bool AllowsSome(Right right) const;
  bool AllowsAdmin() const;
  bool AllowsAdmin(std::string_view name_space) const;

  // See rate_limiter.h; a token without a limit is always admitted.
  Status Admit(Timestamp now) const;
  void Charge(const Cost& cost, Timestamp now) const;

 private:
  friend class Tokens;
  explicit Credential(TokenRecord record, std::shared_ptr<RateLimiter> limiter)
      : token_(std::move(record.info)), hash_(record.hash), limiter_(std::move(limiter)) {}

  bool Holds(Timestamp now) const { return !token_.disabled && now < token_.expiry; }

  const TokenInfo token_;
  const Digest hash_;
  // Of this token, however often its record is written; null when there is no limit.
  const std::shared_ptr<RateLimiter> limiter_;
};

class Tokens {
 public:
  // What a connection remembers of its last check, so that the same text need not be hashed again. It is forgotten with
  // any change of any token.
  class Last {
   private:
    friend class Tokens;
    std::string text_;
    std::shared_ptr<const Credential> credential_;
    uint64_t generation_ = 0;
  };

  // The store outlives it. `corruption` when a token is damaged: a store whose tokens cannot be read must not be
  // mistaken for one without.
  static Result<std::unique_ptr<Tokens>> Open(Store& store);
  ~Tokens();
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;
  // Before the engine goes: it is not asked any more.
  void Stop() {
    if (refresher_ != nullptr) refresher_->Stop();
  }

  // The token in force with this text. `unauthenticated` when there is none.
  Result<std::shared_ptr<const Credential>> Check(std::string_view text, Last* last = nullptr) const;
  // Whether what was checked earlier is still in force, and as far: for requests that last.
  bool StillHolds(const Credential& credential) const;
  // Whether tokens are in use: there is one, be it disabled, or there was one that has expired and was not revoked.
  bool any() const { return in_use_.load(std::memory_order_acquire); }
  // How many the table holds; some may have expired.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return std::hash<std::string_view>()(id); }
  };
  struct Part {
    mutable SpinLock lock;
    std::unordered_map<std::string, std::shared_ptr<const Credential>, Hash, std::equal_to<>> credentials;
    size_t prune_at = kPruneAt;
  };
  struct Change {
    Mutation mutation;
    Version version;
  };
  static constexpr size_t kParts = 16;
  static constexpr size_t kPruneAt = 64;

  explicit Tokens(Store& store) : store_(store) {}

  Status Load();
  void Changed(const Mutation* mutation, Version version);
  // The rest is for whoever holds `changing_`.
  void Apply(const Mutation& mutation, Timestamp now);
  void Keep(TokenRecord record, Timestamp now);
  void Drop(const std::string& id);
  template <class Which>
  void DropIf(Part* part, const Which& which);

  Part& PartOf(std::string_view id) { return parts_[Hash()(id) % kParts]; }
  const Part& PartOf(std::string_view id) const { return parts_[Hash()(id) % kParts]; }
  std::shared_ptr<const Credential> Find(std::string_view id) const;

  Store& store_;
  Subscriptions::Id watch_ = 0;
  Subscriptions::Id mark_watch_ = 0;
  std::array<Part, kParts> parts_;
  // Grows with every change, once it is in the table.
  std::atomic<uint64_t> generation_{1};
  std::atomic<bool> in_use_{false};
  std::atomic<size_t> size_{0};

  std::mutex one_load_;  // at a time
  // Guards the following, and is held by whoever changes the table.
  std::mutex changing_;
  bool loaded_ = false;
  bool loading_ = true;
  std::vector<Change> early_;  // what changed while the table was being loaded

  std::unique_ptr<Refresher> refresher_;  // of an engine that others write to; ends first
};

}  // namespace kvarts
