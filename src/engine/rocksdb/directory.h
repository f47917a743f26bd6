// The data directory: its lock, its stamp, and the rules by which it is opened.
//
//   DIR/LOCK    locked by the process that has the store open
//   DIR/KVARTS  the stamp: format version, engine, identity; FORMAT.md has its lines
//   DIR/data/   RocksDB's own files
//
// Nothing is written into a directory that is not ours, in use, or of a format that this program does not know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/uuid.h"

namespace kvarts {

// The format that this program writes. Each step from one to the next is in upgrade.cc.
constexpr int kFormatVersion = 2;

// The newest log, as long as it was when everything was on disk and the store was closed.
struct ClosedLog {
  uint64_t number = 0;
  uint64_t bytes = 0;
};

struct Stamp {
  int format = kFormatVersion;
  std::string engine = "rocksdb";
  Uuid id;
  // The store was being made and was never used: what stands in data/ may be thrown away.
  bool unfinished = false;
  // In every mark in the log, and told to nobody: what users store cannot be taken for a mark. Zero in stores of before
  // there were any.
  uint64_t salt = 0;
  // Since the last clean close.
  std::optional<ClosedLog> closed;

  std::string Encode() const;
  static Result<Stamp> Decode(std::string_view text);
};

// What the stamp of a directory says, without opening it. Nothing when it has none, or is not there; what cannot be
// looked at is an error.
Result<std::optional<Stamp>> ReadStamp(const std::string& dir);

class DataDirectory {
 public:
  // Locks `dir` and reads its stamp; makes both when `create` is set and there is nothing there. What is made is for
  // its owner alone (0700); a directory that is there keeps its mode.
  static Result<DataDirectory> Open(const std::string& dir, bool create, Timestamp now);
  ~DataDirectory();
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;

  const std::string& path() const { return path_; }
  std::string data_path() const { return path_ + "/data"; }
  const Stamp& stamp() const { return stamp_; }
  // Replaces the stamp, durably.
  Status Restamp(const Stamp& stamp);

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
  Stamp stamp_;
};

}  // namespace kvarts
