// The write-ahead log after a crash: a torn end is cut off, damage before it is refused, and nothing that was promised
// to be on disk is ever skipped.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "engine/rocksdb/meta.h"
#include "fault_test_base.h"

namespace kvarts::test {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLogBlock = 32 << 10;

class LogTest : public FaultTest {
 protected:
  static std::string Key(int i) { return fmt::format("k{:04}", i); }
  static std::string ValueOf(int i) { return fmt::format("{}:", i) + std::string(500, 'v'); }

  // Commits from, …, to - 1, each a key of its own of about half a kilobyte.
  void PutMany(int from, int to, Durability durability) {
    for (int i = from; i < to; ++i) Put(Key(i), ValueOf(i), durability);
  }
  // How many of the commits are there; fails the test unless they are the first ones.
  int Prefix() {
    const auto view = engine().OpenView();
    ScanRequest request;
    request.range = KeyRange::Prefix("k");
    const auto entries = ScanAll(**view, request);
    EXPECT_TRUE(entries) << entries.error();
    for (size_t i = 0; i < entries->size(); ++i) {
      EXPECT_EQ((*entries)[i].key, Key(static_cast<int>(i))) << "a commit before this one is missing";
      EXPECT_EQ((*entries)[i].value, ValueOf(static_cast<int>(i)));
    }
    return static_cast<int>(entries->size());
  }
  // The log that holds the commits.
  std::string Log() const {
    std::string largest;
    for (const std::string& path : FilesOf(FileKind::kLog)) {
      if (largest.empty() || std::filesystem::file_size(path) > std::filesystem::file_size(largest)) largest = path;
    }
    return largest;
  }
  // Closes the store, and leaves it as if its process had been killed just after everything was synced.
  void CloseAsIfKilled() {
    Close();
    std::string stamp = ReadBytes(dir() + "/KVARTS");
    const size_t line = stamp.find("closed ");
    ASSERT_NE(line, std::string::npos);
    stamp.erase(line, stamp.find('\n', line) + 1 - line);
    WriteBytes(dir() + "/KVARTS", stamp);
  }
  // Ends the store as a crash of the machine does that comes after everything was written back.
  void Crash() { LosePower({.tail = PowerLoss::Tail::kKept}); }
  void ExpectRefused(const std::string& why = "the log is damaged in a part that had been written to disk") {
    // Nothing is changed by looking.
    for (int i = 0; i < 2; ++i) {
      std::string text;
      EXPECT_EQ(OpenCode(&text), "corruption") << text;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    }
  }
};

TEST_F(LogTest, ATornEndIsCutOff) {
  Open();
  PutMany(0, 200, Durability::kSync);
  CloseAsIfKilled();
  Keep();
  const std::string log = Log();
  const size_t size = std::filesystem::file_size(log);
  for (size_t cut = 1; cut < 3000; cut += 597) {
    SCOPED_TRACE(cut);
    Restore();
    CutTo(log, size - cut);
    Open();
    const int left = Prefix();
    EXPECT_GE(left, 193);
    Put("after", "the cut");
    Open();
    EXPECT_EQ(Prefix(), left);
    EXPECT_EQ(Value("after"), "the cut");
  }
}

TEST_F(LogTest, AFlippedByteInWhatWasSyncedIsRefused) {
  Open();
  PutMany(0, 150, Durability::kSync);
  CloseAsIfKilled();
  const std::string log = Log();
  const size_t size = std::filesystem::file_size(log);
  ASSERT_GT(size, 2 * kLogBlock);
  for (size_t at = 0; at + 600 < size; at += 2501) {
    SCOPED_TRACE(at);
    FlipBytes(log, at);
    ExpectRefused();
    FlipBytes(log, at);
  }
  Open();
  EXPECT_EQ(Prefix(), 150);
}

TEST_F(LogTest, AFlippedByteInASmallLogIsRefused) {
  Open();
  PutMany(0, 4, Durability::kSync);
  CloseAsIfKilled();
  const std::string log = Log();
  const size_t size = std::filesystem::file_size(log);
  ASSERT_LT(size, kPage);
  // All but the record of the clean close, behind which there is nothing.
  for (size_t at = 0; at + 150 < size; at += 61) {
    SCOPED_TRACE(at);
    FlipBytes(log, at);
    ExpectRefused();
    FlipBytes(log, at);
  }
  Open();
  EXPECT_EQ(Prefix(), 4);
}

TEST_F(LogTest, AZeroedPageInWhatWasSyncedIsRefused) {
  Open();
  PutMany(0, 150, Durability::kSync);
  CloseAsIfKilled();
  const std::string log = Log();
  const std::string whole = ReadBytes(log);
  for (size_t at = 0; at + kPage < whole.size(); at += kPage) {
    SCOPED_TRACE(at);
    std::string damaged = whole;
    std::fill_n(damaged.begin() + static_cast<ptrdiff_t>(at), kPage, '\0');
    WriteBytes(log, damaged);
    ExpectRefused();
  }
  WriteBytes(log, whole);
  Open();
  EXPECT_EQ(Prefix(), 150);
}

TEST_F(LogTest, AnEndCutOffALogThatIsNotTheNewestIsDamageOnceItWasSynced) {
  Open();
  PutMany(0, 20, Durability::kSync);
  // A new log, while the old one is still needed for what is not in data files.
  ASSERT_TRUE(Commit({Mutation::Put("other", "profile")}));
  ASSERT_TRUE(engine().Compact(KeyRange::Prefix("other")));
  PutMany(20, 40, Durability::kSync);
  CloseAsIfKilled();
  const auto logs = FilesOf(FileKind::kLog);
  ASSERT_EQ(logs.size(), 2u);
  CutTo(logs[0], std::filesystem::file_size(logs[0]) - 700);
  ExpectRefused("in MANIFEST is");
}

TEST_F(LogTest, AfterACleanCloseNothingOfTheLogMayBeMissing) {
  Open();
  PutMany(0, 4, Durability::kNone);
  Keep();
  const std::string log = Log();
  const size_t size = std::filesystem::file_size(log);
  for (size_t left = 0; left < size; left += 1 + left / 3) {
    SCOPED_TRACE(left);
    CutTo(log, left);
    ExpectRefused("the log is not as long as it was when the store was closed");
    Restore();
  }
  WriteBytes(log, ReadBytes(log) + "more");
  ExpectRefused("the log is not as long as it was when the store was closed");
  Restore();
  for (size_t at = 0; at < size; at += 61) {
    SCOPED_TRACE(at);
    FlipBytes(log, at);
    ExpectRefused();
    FlipBytes(log, at);
  }
  std::filesystem::remove(log);
  ExpectRefused("the log is gone");
  Restore();
  Open();
  EXPECT_EQ(Prefix(), 4);
}

TEST_F(LogTest, WhatTheCleanCloseSaidIsVoidAfterTheNextOpen) {
  Open();
  PutMany(0, 4, Durability::kSync);
  Open();
  PutMany(4, 8, Durability::kSync);
  Crash();
  CutTo(Log(), std::filesystem::file_size(Log()) - 100);
  Open();
  EXPECT_EQ(Prefix(), 7);
}

TEST_F(LogTest, TheLogOfACleanCloseIsStillHeldToItWhenTheNextOpenWasCutShort) {
  Open();
  PutMany(0, 4, Durability::kSync);
  Close();
  const std::string log = Log();
  // All that the next open got to was to begin a new log.
  WriteBytes(data() + "/000099.log", "");
  CutTo(log, std::filesystem::file_size(log) - 100);
  ExpectRefused("the log is not as long as it was when the store was closed");
}

TEST_F(LogTest, AStoreThatCouldNotBeClosedCleanlyDoesNotSayThatItWas) {
  Open();
  PutMany(0, 4, Durability::kSync);
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog, .times = UINT64_MAX});
  Close();
  files().ClearFaults();
  EXPECT_EQ(ReadBytes(dir() + "/KVARTS").find("closed"), std::string::npos);
  CutTo(Log(), std::filesystem::file_size(Log()) - 50);
  Open();
  EXPECT_GE(Prefix(), 3);
}

// A log record, as RocksDB writes it, whose mark claims that everything was synced.
std::string ForgedRecord(const std::string& path, uint64_t salt) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  EXPECT_TRUE(rocksdb::DB::Open(options, path, &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  const Version last{UINT64_MAX};
  rocksdb::WriteBatch batch;
  EXPECT_TRUE(batch.Put("k", "v").ok());
  EXPECT_TRUE(batch.PutLogData(LogMark{last, last, last, salt}.Encode()).ok());
  EXPECT_TRUE(db->Write({}, &batch).ok());
  rocksdb::VectorLogPtr logs;
  EXPECT_TRUE(db->GetSortedWalFiles(logs).ok());
  return ReadBytes(path + logs.back()->PathName());
}

TEST_F(LogTest, AValueThatLooksLikeALogIsNotTakenForOne) {
  options.sync_interval = Duration::Seconds(3600);
  for (const bool knows_the_salt : {false, true}) {
    SCOPED_TRACE(knows_the_salt);
    options.version_reserve = Duration::Seconds(3600);
    std::filesystem::remove_all(dir());
    std::filesystem::remove_all(dir() + ".forged");
    Open();
    PutMany(0, 5, Durability::kSync);
    const std::string stamp = ReadBytes(dir() + "/KVARTS");
    const uint64_t salt = std::stoull(stamp.substr(stamp.find("salt ") + 5));
    const std::string forged = ForgedRecord(dir() + ".forged", knows_the_salt ? salt : salt + 2);
    const size_t synced = std::filesystem::file_size(Log());
    Put("forged", forged, Durability::kNone);
    Crash();
    // Of that commit only the value has reached the disk.
    const size_t at = ReadBytes(Log()).find(forged);
    ASSERT_NE(at, std::string::npos);
    FlipBytes(Log(), synced, at - synced);
    options.version_reserve = Duration::Millis(1);
    if (knows_the_salt) {
      ExpectRefused();  // so the record was made well enough
      continue;
    }
    Open();
    EXPECT_EQ(Prefix(), 5);
    EXPECT_EQ(Value("forged"), "absent");
  }
}

TEST_F(LogTest, PagesThatWereNeverSyncedMayBeAnything) {
  for (const auto tail : {PowerLoss::Tail::kCut, PowerLoss::Tail::kZeros, PowerLoss::Tail::kGarbage}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(fmt::format("tail {}, seed {}", static_cast<int>(tail), seed));
      std::filesystem::remove_all(dir());
      options.version_reserve = Duration::Seconds(3600);  // or versions would be reserved, and the log synced with them
      options.sync_interval = Duration::Seconds(3600);
      Open();
      PutMany(0, 5, Durability::kSync);
      PutMany(5, 300, Durability::kNone);
      LosePower({.tail = tail, .seed = seed});
      options.version_reserve = Duration::Millis(1);
      Open();
      EXPECT_GE(Prefix(), 5);
      Close();
    }
  }
}

TEST_F(LogTest, WhatIsLostFromOneLogIsNotJumpedOverInTheNext) {
  options.version_reserve = Duration::Seconds(3600);
  options.sync_interval = Duration::Seconds(3600);
  for (int kept = 0; kept < 40; kept += 7) {
    SCOPED_TRACE(kept);
    std::filesystem::remove_all(dir());
    Open();
    PutMany(0, 5, Durability::kSync);
    PutMany(5, 40, Durability::kNone);
    const std::string old_log = FilesOf(FileKind::kLog).back();
    // The next log begins before the old one is durable.
    files().Hold(FileOp::kSync, FileKind::kLog);
    std::thread flush([this] { IgnoreError(engine().Compact(KeyRange::All())); });
    WaitUntil([&] { return FilesOf(FileKind::kLog).size() == 2; });
    PutMany(40, 60, Durability::kNone);
    std::filesystem::remove_all(dir() + ".crashed");
    std::filesystem::copy(dir(), dir() + ".crashed", std::filesystem::copy_options::recursive);
    files().Release();
    flush.join();
    Close();
    std::filesystem::remove_all(dir());
    std::filesystem::rename(dir() + ".crashed", dir());
    // The machine crashed with the new log written back, and the old one not quite.
    const size_t cut = std::filesystem::file_size(old_log) - static_cast<size_t>(kept) * 300;
    CutTo(old_log, cut);
    options.version_reserve = Duration::Millis(1);
    Open();
    const int left = Prefix();
    EXPECT_EQ(left == 60, kept == 0) << left;
    options.version_reserve = Duration::Seconds(3600);
    Close();
  }
}

}  // namespace
}  // namespace kvarts::test
