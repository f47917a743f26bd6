#include "engine/rocksdb/log_check.h"

#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/bytes.h"
#include "engine/rocksdb/meta.h"

namespace kvarts {
namespace {

namespace fs = std::filesystem;

// RocksDB's log: blocks of 32 KiB, in them pieces with a header of checksum (4), size (2) and type (1).
constexpr size_t kBlock = 32 << 10;
constexpr size_t kHeader = 7;
enum PieceType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

std::array<uint32_t, 256> MakeCrcTable() {
  constexpr uint32_t kCastagnoli = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}

uint32_t MaskedCrc(BytesView bytes) {
  static const std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

// Finds a group's mark in a record, which is a write batch.
class MarkFinder final : public rocksdb::WriteBatch::Handler {
 public:
  void LogData(const rocksdb::Slice& blob) override {
    LogMark mark;
    if (LogMark::Decode(blob.ToStringView(), &mark)) found = mark;
  }
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override { return {}; }

  std::optional<LogMark> found;
};

std::optional<LogMark> MarkOf(const Bytes& record) {
  constexpr size_t kBatchHeader = 12;
  if (record.size() < kBatchHeader) return std::nullopt;
  MarkFinder finder;
  if (!rocksdb::WriteBatch(record).Iterate(&finder).ok()) return std::nullopt;
  return finder.found;
}

class LogWalker {
 public:
  explicit LogWalker(BytesView log) : log_(log) {}

  struct Piece {
    uint8_t type;
    BytesView payload;
  };

  // The next whole record; nothing when the bytes at hand are none. `start` is where the record began.
  std::optional<Bytes> NextRecord() {
    Bytes record;
    start = at_;
    for (bool first = true;; first = false) {
      const std::optional<Piece> piece = NextPiece();
      if (!piece) return std::nullopt;
      const bool begins = piece->type == kFull || piece->type == kFirst;
      if (begins != first || piece->type > kLast) return std::nullopt;
      record.append(piece->payload);
      if (piece->type == kFull || piece->type == kLast) return record;
    }
  }
  bool AtEnd() const { return at_ >= log_.size(); }
  void SkipToNextBlock() { at_ = (at_ / kBlock + 1) * kBlock; }

  size_t start = 0;

 private:
  std::optional<Piece> NextPiece() {
    if (kBlock - at_ % kBlock < kHeader) SkipToNextBlock();
    if (at_ + kHeader > log_.size()) return std::nullopt;
    const char* header = log_.data() + at_;
    const size_t size = LoadLittle<uint16_t>(header + 4);
    const auto type = static_cast<uint8_t>(header[6]);
    const bool fits = at_ % kBlock + kHeader + size <= kBlock && at_ + kHeader + size <= log_.size();
    if (type == 0 || !fits) return std::nullopt;
    if (MaskedCrc(log_.substr(at_ + 6, size + 1)) != LoadLittle<uint32_t>(header)) return std::nullopt;
    const Piece piece{type, log_.substr(at_ + kHeader, size)};
    at_ += kHeader + size;
    return piece;
  }

  BytesView log_;
  size_t at_ = 0;
};

Error Damage(const std::string& path, size_t offset) {
  return Error(ErrorCode::kCorruption, "the log is damaged in a part that had been written to disk",
               {{"file", path}, {"offset", std::to_string(offset)}});
}

// The newest log that holds anything.
std::optional<std::string> NewestLog(const std::string& data_path) {
  uint64_t newest = 0;
  std::optional<std::string> path;
  for (const auto& entry : fs::directory_iterator(data_path)) {
    if (entry.path().extension() != ".log" || fs::file_size(entry.path()) == 0) continue;
    const std::string stem = entry.path().stem();
    uint64_t number = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (number < newest) continue;
    newest = number;
    path = entry.path();
  }
  return path;
}

}  // namespace

Result<LogCheck> CheckLog(const std::string& data_path) {
  LogCheck check;
  const std::optional<std::string> path = NewestLog(data_path);
  if (!path) return check;
  check.path = *path;
  std::ifstream in(*path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string log = text.str();
  check.total_bytes = check.good_bytes = log.size();
  LogWalker walker(log);
  std::optional<Version> last_good;
  while (!walker.AtEnd()) {
    const std::optional<Bytes> record = walker.NextRecord();
    if (!record) break;
    if (const auto mark = MarkOf(*record)) last_good = mark->last;
  }
  if (walker.AtEnd()) return check;
  check.good_bytes = walker.start;
  check.torn = true;
  std::optional<Version> last_bad;
  for (walker.SkipToNextBlock(); !walker.AtEnd();) {
    const std::optional<Bytes> record = walker.NextRecord();
    if (!record) {
      walker.SkipToNextBlock();
      continue;
    }
    const auto mark = MarkOf(*record);
    if (!mark) continue;
    if (!last_bad) last_bad = mark->previous;
    const bool was_synced = last_good ? mark->synced > *last_good : mark->synced >= *last_bad;
    if (was_synced) return Damage(*path, check.good_bytes);
  }
  return check;
}

Status TrimLog(const LogCheck& check) {
  if (truncate(check.path.c_str(), static_cast<off_t>(check.good_bytes)) != 0) {
    return Error(ErrorCode::kUnavailable, "cannot cut off the torn end of the log",
                 {{"file", check.path}, {"cause", std::strerror(errno)}});
  }
  return {};
}

}  // namespace kvarts
