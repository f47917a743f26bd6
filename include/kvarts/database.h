// The embedded database: an ordered, versioned, expiring, transactional keyspace of bytes in a directory.
//
//   auto db = kvarts::Database::Open("data");
//   auto version = db->Put("user:1", "Ada");   // every result is to be looked at
//   auto user = db->Get("user:1");             // user->value() has value, version, expiry
//
// Calls are synchronous and safe from any thread. Everything that a Database gave out (snapshots, watches,
// transactions) must be gone before it is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kvarts/options.h"
#include "kvarts/result.h"
#include "kvarts/table.h"
#include "kvarts/time.h"
#include "kvarts/version.h"

namespace kvarts {

struct Value {
  std::string value;
  Version version;                  // of the commit that wrote it; grows with every change of the key
  std::optional<Timestamp> expiry;  // the instant at which it is gone
};

// Which keys: those from `start` up to but not including `end`. An empty `end` is no bound.
struct Range {
  std::string start;
  std::string end;

  static Range All() { return {}; }
  // Every key that begins with `prefix`.
  static Range Prefix(std::string_view prefix);
};

struct ScanOptions {
  size_t limit = 1000;         // entries on the page
  size_t max_bytes = 1 << 20;  // of keys and values on the page; one entry always fits
  bool reverse = false;
  bool keys_only = false;
  // The cursor of the page before, for the same range and direction.
  std::string cursor = {};
};

// What a scan found under a key. The texts are borrowed from the page.
struct Entry {
  std::string_view key;
  std::string_view value;
  Version version;
  std::optional<Timestamp> expiry;
};

struct Page {
  std::vector<Entry> entries;
  // For the next page; nothing when this was the last.
  std::optional<std::string> cursor;
  // Where the texts of the entries lie: a page of a thousand entries is a handful of allocations.
  std::shared_ptr<const void> memory;
};

// What is common to everything that can be read from.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<std::optional<Value>> Get(std::string_view key) = 0;
  virtual Result<std::vector<std::optional<Value>>> GetMany(std::span<const std::string_view> keys) = 0;
  virtual Result<Page> Scan(const Range& range, const ScanOptions& options = {}) = 0;
};

// A state of the database that does not change, for as long as Options::max_view_age. For one thread at a time.
class Snapshot : public Reader {
 public:
  virtual Version version() const = 0;
};

// Inside Database::Transact. It reads one state of the database with its own writes on top; all its writes become
// visible together or not at all.
class Transaction : public Reader {
 public:
  virtual Status Put(std::string_view key, std::string_view value, std::optional<Duration> ttl = {}) = 0;
  virtual Status Delete(std::string_view key) = 0;
  virtual Status DeleteRange(const Range& range) = 0;
  // Adds to a counter without reading it. Counters are read with GetCounter.
  virtual Status Add(std::string_view key, int64_t delta) = 0;
  virtual Result<int64_t> GetCounter(std::string_view key) = 0;
  // The time of the transaction.
  virtual Timestamp Now() = 0;
};

struct Change {
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange, kAdd };
  Kind kind = Kind::kPut;
  std::string key;    // or the start of the range
  std::string end;    // of a deleted range
  std::string value;  // of a put
  int64_t delta = 0;  // of an add
  Version version;
};

// Changes under a prefix, in commit order, from the moment of watching on.
class Watch {
 public:
  virtual ~Watch() = default;
  // The next change; nothing when none came in time. `overloaded` when the watch fell too far behind and lost changes:
  // watch anew, then read what is there.
  virtual Result<std::optional<Change>> Next(Duration patience) = 0;
};

class Database final : public Reader {
 public:
  // Errors say what is wrong with the directory: not_found (missing), unavailable (in use), invalid_argument (not
  // Kvarts', or of another format), corruption (damaged).
  static Result<Database> Open(const std::string& path, const Options& options = {});
  // Nothing outlives it; for tests and caches.
  static Result<Database> OpenInMemory(const Options& options = {});
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database() override;

  Result<std::optional<Value>> Get(std::string_view key) override;
  Result<std::vector<std::optional<Value>>> GetMany(std::span<const std::string_view> keys) override;
  Result<Page> Scan(const Range& range, const ScanOptions& options = {}) override;
  Result<int64_t> GetCounter(std::string_view key);

  // Each returns the version of its commit.
  Result<Version> Put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  // Only if there is nothing under the key: `already_exists` otherwise.
  Result<Version> Create(std::string_view key, std::string_view value, const WriteOptions& options = {});
  // Only if the value has this version: `precondition_failed` otherwise, with the current one in its field "version".
  Result<Version> Replace(std::string_view key, std::string_view value, Version expected,
                          const WriteOptions& options = {});
  Result<Version> Delete(std::string_view key, const WriteOptions& options = {});
  Result<Version> DeleteIf(std::string_view key, Version expected, const WriteOptions& options = {});
  Result<Version> DeleteRange(const Range& range, const WriteOptions& options = {});
  Result<Version> Add(std::string_view key, int64_t delta, const WriteOptions& options = {});

  // Runs `body(Transaction&)`, which returns a Result; an error writes nothing and is returned. The body may be run
  // again, on another thread, if what it read was changed meanwhile: it should do nothing but read, decide and write.
  // What it throws is thrown here, and nothing is written. `version`, if given, is that of the commit; of what was read
  // if nothing was written.
  template <class Body>
  std::invoke_result_t<Body, Transaction&> Transact(Body body, const WriteOptions& options = {},
                                                    Version* version = nullptr);

  Result<std::unique_ptr<Snapshot>> OpenSnapshot();
  Result<std::unique_ptr<Watch>> WatchPrefix(std::string_view prefix);

  // Tables: db.project("acme").dataset("metrics").table("events").Put(…). From the first call on, a thread of the
  // database works on what they leave for later.
  Project project(std::string_view name);
  Result<Names> ListProjects(std::string_view after = {}, size_t limit = 1000);
  // Returns when the job has ended: `unavailable` when it takes longer than patience.
  Result<Job> WaitForJob(std::string_view id, std::optional<Duration> patience = {});

  // Returns when everything acknowledged so far is on disk.
  Status Sync();
  // Time as the database sees it: expiry goes by this.
  Timestamp Now() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  Result<Version> RunTransaction(const std::function<Status(Transaction&)>& body, const WriteOptions& options);

  std::unique_ptr<Impl> impl_;
};

template <class Body>
std::invoke_result_t<Body, Transaction&> Database::Transact(Body body, const WriteOptions& options, Version* version) {
  using Outcome = typename std::invoke_result_t<Body, Transaction&>::value_type;
  if constexpr (std::is_void_v<Outcome>) {
    const auto ran = RunTransaction(std::ref(body), options);
    if (!ran.has_value()) return ran.error();
    if (version != nullptr) *version = *ran;
    return {};
  } else {
    std::optional<Outcome> outcome;
    const auto run = [&](Transaction& transaction) -> Status {
      auto result = body(transaction);
      if (!result.has_value()) return std::move(result).error();
      outcome = *std::move(result);
      return {};
    };
    const auto ran = RunTransaction(run, options);
    if (!ran.has_value()) return ran.error();
    if (version != nullptr) *version = *ran;
    return *std::move(outcome);
  }
}

}  // namespace kvarts
