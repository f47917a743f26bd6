#include "engine/rocksdb/log_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "engine/rocksdb/masked_crc.h"
#include "engine/rocksdb/meta.h"
#include "engine/rocksdb/rocks_store.h"

namespace kvarts {
namespace {

namespace fs = std::filesystem;

// RocksDB's log: blocks of 32 KiB, in them pieces with a header of checksum (4), size (2) and type (1).
constexpr size_t kBlock = 32 << 10;
constexpr size_t kHeader = 7;
enum PieceType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// Finds a group's mark in a record. One with another store's salt is none: it may be part of a value, which can be
// anything, even a piece of a log.
class MarkFinder final : public rocksdb::WriteBatch::Handler {
 public:
  explicit MarkFinder(uint64_t salt) : salt_(salt) {}
  void LogData(const rocksdb::Slice& blob) override {
    LogMark mark;
    if (LogMark::Decode(blob.ToStringView(), &mark) && mark.salt == salt_) found = mark;
  }
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }

  std::optional<LogMark> found;

 private:
  const uint64_t salt_;
};

// A record is a write batch: the sequence number of its first operation (8 bytes), how many there are (4), and they.
struct LogRecord {
  Bytes batch;

  bool Whole() const { return batch.size() >= 12; }
  uint64_t sequence() const { return LoadLittle<uint64_t>(batch.data()); }
  uint64_t next_sequence() const { return sequence() + LoadLittle<uint32_t>(batch.data() + 8); }
  std::optional<LogMark> Mark(uint64_t salt) const {
    MarkFinder finder(salt);
    if (!rocksdb::WriteBatch(batch).Iterate(&finder).ok()) return std::nullopt;
    return finder.found;
  }
};

class LogWalker {
 public:
  explicit LogWalker(BytesView log) : log_(log) {}

  // The next whole record; nothing when the bytes at hand are none, or there are no more.
  std::optional<LogRecord> Next() {
    LogRecord record;
    for (bool first = true;; first = false) {
      const size_t before = at_;
      const std::optional<Piece> piece = NextPiece();
      if (!piece) return std::nullopt;
      const bool begins = piece->type == kFull || piece->type == kFirst;
      if (begins && !first) at_ = before;
      if (begins != first) return std::nullopt;
      record.batch.append(piece->payload);
      if (piece->type != kFull && piece->type != kLast) continue;
      if (!record.Whole()) return std::nullopt;
      return record;
    }
  }
  // The next whole record, wherever it begins: what is bad may have any length.
  std::optional<LogRecord> FindNext() {
    while (!AtEnd()) {
      const size_t before = at_;
      if (auto record = Next()) return record;
      if (at_ == before) ++at_;
    }
    return std::nullopt;
  }
  bool AtEnd() const { return at_ >= log_.size(); }
  size_t at() const { return at_; }
  void MoveTo(size_t at) { at_ = at; }

 private:
  struct Piece {
    uint8_t type;
    BytesView payload;
  };

  std::optional<Piece> NextPiece() {
    if (kBlock - at_ % kBlock < kHeader) at_ = (at_ / kBlock + 1) * kBlock;
    if (at_ + kHeader > log_.size()) return std::nullopt;
    const char* header = log_.data() + at_;
    const size_t size = LoadLittle<uint16_t>(header + 4);
    const auto type = static_cast<uint8_t>(header[6]);
    const bool fits = at_ % kBlock + kHeader + size <= kBlock && at_ + kHeader + size <= log_.size();
    if (type == 0 || type > kLast || !fits) return std::nullopt;
    if (MaskedCrc(log_.substr(at_ + 6, size + 1)) != LoadLittle<uint32_t>(header)) return std::nullopt;
    const Piece piece{type, log_.substr(at_ + kHeader, size)};
    at_ += kHeader + size;
    return piece;
  }

  BytesView log_;
  size_t at_ = 0;
};

Error CannotRead(const std::string& path, const std::error_code& problem) {
  return Error(ErrorCode::kUnavailable, "cannot read the log", {{"file", path}, {"cause", problem.message()}});
}

// A log, its bytes mapped into memory.
class LogFile {
 public:
  LogFile(uint64_t log_number, std::string log_path) : number(log_number), path(std::move(log_path)) {}
  LogFile(LogFile&& other) noexcept
      : number(other.number), path(std::move(other.path)), bytes_(std::exchange(other.bytes_, {})) {}
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  Status Map() {
    std::error_code problem;
    const size_t size = fs::file_size(path, problem);
    if (problem) return CannotRead(path, problem);
    if (size == 0) return {};
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void* at = fd < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int cause = errno;
    if (fd >= 0) close(fd);
    if (at != MAP_FAILED) {
      bytes_ = {static_cast<const char*>(at), size};
      return {};
    }
    return CannotRead(path, std::error_code(cause, std::generic_category()));
  }
  BytesView bytes() const { return bytes_; }

  const uint64_t number;
  const std::string path;

 private:
  BytesView bytes_;
};

// By number, oldest first.
using LogPaths = std::map<uint64_t, std::string>;

Result<LogPaths> FindLogs(const std::string& data_path) {
  LogPaths paths;
  std::error_code problem;
  for (fs::directory_iterator it(data_path, problem), end; !problem && it != end; it.increment(problem)) {
    if (it->path().extension() != ".log") continue;
    const std::string stem = it->path().stem();
    uint64_t number = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), number);
    paths[number] = it->path();
  }
  if (problem) return CannotRead(data_path, problem);
  return paths;
}

// The logs that count.
Result<std::vector<LogFile>> OpenLogs(const std::string& data_path, uint64_t oldest) {
  KVARTS_TRY(const LogPaths paths, FindLogs(data_path));
  std::vector<LogFile> logs;
  for (auto it = paths.lower_bound(oldest); it != paths.end(); ++it) {
    logs.emplace_back(it->first, it->second);
    KVARTS_CHECK_OK(logs.back().Map());
  }
  return logs;
}

// Where the log stops being what was written.
struct BadSpot {
  size_t log;                   // which one
  size_t offset;                // in it
  bool hole;                    // what stands there is good, but something before it is missing
  std::optional<Version> last;  // of the last group before it, if there is one
};

std::optional<BadSpot> FindBadSpot(const std::vector<LogFile>& logs, uint64_t salt) {
  std::optional<Version> last;
  std::optional<uint64_t> expected;
  for (size_t i = 0; i < logs.size(); ++i) {
    LogWalker walker(logs[i].bytes());
    size_t end = 0;
    for (; !walker.AtEnd(); end = walker.at()) {
      const std::optional<LogRecord> record = walker.Next();
      if (!record) return BadSpot{i, end, false, last};
      // Numbers start again where a write failed and was given up. More must not be missing.
      if (expected && record->sequence() > *expected) return BadSpot{i, end, true, last};
      expected = record->next_sequence();
      if (const auto mark = record->Mark(salt)) last = mark->last;
    }
  }
  return std::nullopt;
}

// Whether a good record behind the bad spot says that something at it had been synced.
bool WasSynced(const std::vector<LogFile>& logs, uint64_t salt, const BadSpot& bad) {
  for (size_t i = bad.log; i < logs.size(); ++i) {
    LogWalker walker(logs[i].bytes());
    if (i == bad.log) walker.MoveTo(bad.offset);
    while (const std::optional<LogRecord> record = walker.FindNext()) {
      const auto mark = record->Mark(salt);
      if (!mark) continue;
      // Nothing before the bad spot: then what counts is what the log began with, which only its own marks know.
      const Version floor = bad.last ? *bad.last : i == bad.log ? mark->log_start : kNoVersion;
      if (mark->synced > floor) return true;
    }
  }
  return false;
}

// Takes note of the logs' numbers and replays nothing.
class LogNumbers final : public rocksdb::WalFilter {
 public:
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& by_family,
                                const std::map<std::string, uint32_t>&) override {
    for (const auto& [family, number] : by_family) flushed = std::max(flushed, number);
  }
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&, const rocksdb::WriteBatch&,
                                     rocksdb::WriteBatch*, bool*) override {
    return WalProcessingOption::kStopReplay;
  }
  const char* Name() const override { return "kvarts.log_numbers"; }

  uint64_t flushed = 0;
};

class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// Whether the log that was the newest at a clean close is all there. Nothing is ever added to it.
Status CheckClosed(const std::string& data_path, const std::vector<LogFile>& logs, const ClosedLog& closed) {
  const auto found = std::ranges::find(logs, closed.number, &LogFile::number);
  const bool there = found != logs.end();
  const uint64_t bytes = there ? found->bytes().size() : 0;
  if (there && bytes == closed.bytes) return {};
  return Error(ErrorCode::kCorruption,
               there ? "the log is not as long as it was when the store was closed" : "the log is gone",
               {{"file", fmt::format("{}/{:06}.log", data_path, closed.number)},
                {"bytes", std::to_string(bytes)},
                {"expected", std::to_string(closed.bytes)}});
}

}  // namespace

Result<LiveLogs> FindLiveLogs(const std::string& data_path, rocksdb::Env* env) {
  LogNumbers numbers;
  rocksdb::DBOptions options;
  options.env = env;
  options.info_log = std::make_shared<NoLogger>();
  options.max_open_files = 16;
  options.max_file_opening_threads = 1;
  options.track_and_verify_wals_in_manifest = true;  // as the real open
  options.wal_filter = &numbers;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;  // they are looked at below
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : {"default", "ingest", "window", "meta"}) families.emplace_back(name, rocksdb::Options());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, data_path, families, &handles, &opened);
  if (!status.ok()) return FromRocks(status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  LiveLogs live;
  live.flushed = numbers.flushed;
  const bool known = db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &live.oldest);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  if (!known) return Error(ErrorCode::kInternal, "RocksDB does not say which logs count");
  return live;
}

Result<ClosedLog> NewestLog(const std::string& data_path) {
  KVARTS_TRY(const LogPaths paths, FindLogs(data_path));
  if (paths.empty()) return Error(ErrorCode::kInternal, "RocksDB has no log");
  std::error_code problem;
  const ClosedLog newest{paths.rbegin()->first, fs::file_size(paths.rbegin()->second, problem)};
  if (problem) return CannotRead(paths.rbegin()->second, problem);
  return newest;
}

Result<LogCheck> CheckLogs(const std::string& data_path, const LiveLogs& live, const Stamp& stamp) {
  const std::optional<ClosedLog>& closed = stamp.closed;
  KVARTS_TRY(const std::vector<LogFile> logs, OpenLogs(data_path, live.oldest));
  const std::optional<BadSpot> bad = FindBadSpot(logs, stamp.salt);
  LogCheck check;
  const bool counts = closed && live.oldest <= closed->number;
  if (counts) KVARTS_CHECK_OK(CheckClosed(data_path, logs, *closed));
  const bool was_closed = counts && logs.back().number == closed->number;  // and not opened since
  if (!bad) return check;
  // What is missing before the first record of a log is missing from the one before.
  const size_t missing_from = bad->hole && bad->offset == 0 && bad->log > 0 ? bad->log - 1 : bad->log;
  if (was_closed || logs[missing_from].number < live.flushed || WasSynced(logs, stamp.salt, *bad)) {
    return Error(ErrorCode::kCorruption, "the log is damaged in a part that had been written to disk",
                 {{"file", logs[bad->log].path}, {"offset", std::to_string(bad->offset)}});
  }
  check.torn = true;
  check.path = logs[bad->log].path;
  check.good_bytes = bad->offset;
  for (size_t i = bad->log + 1; i < logs.size(); ++i) check.behind.push_back(logs[i].path);
  return check;
}

Status TrimLogs(const LogCheck& check) {
  const auto cut = [](const std::string& path, uint64_t size) -> Status {
    if (truncate(path.c_str(), static_cast<off_t>(size)) == 0) return {};
    return Error(ErrorCode::kUnavailable, "cannot cut off the torn end of the log",
                 {{"file", path}, {"cause", std::strerror(errno)}});
  };
  for (const std::string& path : check.behind) KVARTS_CHECK_OK(cut(path, 0));
  return cut(check.path, check.good_bytes);
}

}  // namespace kvarts
