// The contenders: Kvarts, at its public interface and below it, and RocksDB itself with the very options and the whole
// memory that Kvarts gives it.
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/rocksdb/rocks_engine.h"
#include "kvarts/database.h"

namespace kvarts::bench {

struct Arguments {
  bool full = false;  // the sizes of the targets, where they take long
  int rounds = 0;     // zero: what suits the program
  std::string only;   // what the lines to measure begin with; empty: all
  std::string dir;    // where data goes; it is removed at the end

  // --quick, --full, --rounds=N, --only=ID, --dir=DIR. Exits with a message when it is none of these.
  static Arguments Parse(int argc, char** argv);
  bool Wants(std::string_view id) const { return id.starts_with(only); }
  int RoundsOr(int usual) const { return rounds > 0 ? rounds : usual; }
};

// A folder that is gone when this is.
class Scratch {
 public:
  explicit Scratch(const Arguments& arguments);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string Sub(const std::string& name) const { return (path_ / name).string(); }
  static void Remove(const std::string& path);

 private:
  std::filesystem::path path_;
};

// RocksDB with the options of Kvarts' lookup profile. What Kvarts gives to the hot-value cache is added to its block
// cache, so that both have the same memory.
class RawDb {
 public:
  RawDb(const std::string& path, const RocksOptions& options);
  ~RawDb();
  rocksdb::DB& operator*() const { return *db_; }
  rocksdb::DB* operator->() const { return db_.get(); }
  // As Kvarts does it.
  void Compact();
  // What was opened at level 0 keeps its index and filter pinned wherever it is moved; a store that was opened anew has
  // nothing of the kind.
  void Reopen();

 private:
  void Open();
  void Close();

  const std::string path_;
  const RocksOptions options_;
  std::unique_ptr<rocksdb::DB> db_;
};

// Stops the program when something failed: a benchmark has nobody to tell.
void Check(const rocksdb::Status& status);
void Check(bool good, const std::string& what);
template <class T>
T Must(Result<T> result) {
  if (!result.has_value()) Check(false, result.error().ToString());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// RocksDB counts for every call unless the thread says otherwise; Kvarts says so on its threads.
void CountNothing();

// Fills keys [0, n) in key order with values of `value_bytes`, and compacts. The raw store is opened anew.
void FillRaw(RawDb& raw, uint64_t n, size_t value_bytes);
void FillEngine(Engine& engine, uint64_t n, size_t value_bytes);

}  // namespace kvarts::bench
