// The write-ahead log after a crash: a torn end is cut off, damage before it is refused, and nothing that was promised
// to be on disk is ever skipped.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

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
  void ExpectRefused() {
    std::string text;
    EXPECT_EQ(OpenCode(&text), "corruption") << text;
    // Nothing was changed by looking.
    EXPECT_EQ(OpenCode(&text), "corruption") << text;
  }
};

TEST_F(LogTest, ATornEndIsCutOff) {
  Open();
  PutMany(0, 200, Durability::kSync);
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
  Keep();
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
  Keep();
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
  Keep();
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
  Close();
  const auto logs = FilesOf(FileKind::kLog);
  ASSERT_EQ(logs.size(), 2u);
  CutTo(logs[0], std::filesystem::file_size(logs[0]) - 700);
  ExpectRefused();
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
