// A disk that is really full: a small file system in memory of its own for each test.
#include <fmt/format.h>

#include <random>

#include "fault_test_base.h"
#include "support/small_disk.h"

namespace kvarts::test {
namespace {

constexpr size_t kMiB = 1 << 20;

class DiskFullTest : public FaultTest {
 protected:
  void SetUp() override {
    if (!disk_.mounted())
      GTEST_SKIP() << "SKIPPED: cannot mount a small file system here, so a full disk is not tested";
    disk_.LeaveOnly(32 * kMiB);
    options.file_system = nullptr;
    options.hot_cache_bytes = 1 << 20;
  }
  void TearDown() override { engine_.reset(); }

  void OpenOnIt() {
    engine_.reset();
    auto opened = OpenRocksEngine(disk_ / "store", options);
    if (!opened) throw std::runtime_error(opened.error().ToString());
    engine_ = *std::move(opened);
  }
  Engine& store() { return *engine_; }

  static std::string Key(size_t i) { return fmt::format("k{:05}", i); }
  // A value that cannot be compressed.
  static std::string ValueOf(size_t i) {
    std::mt19937_64 random(i);
    std::string value(64 << 10, '\0');
    for (char& c : value) c = static_cast<char>(random());
    return value;
  }
  Result<Committed> PutNext() {
    auto outcome = CommitAndWait(store(), MakeCommit({Mutation::Put(Key(written_), ValueOf(written_))}));
    if (outcome) ++written_;
    return outcome;
  }
  // Writes until the store refuses.
  Error Fill() {
    while (true) {
      const auto outcome = PutNext();
      if (!outcome) return outcome.error();
    }
  }
  void ExpectAllThere() {
    for (size_t i = 0; i < written_; ++i) {
      const auto record = GetOne(store(), Key(i));
      ASSERT_TRUE(record) << record.error();
      ASSERT_TRUE(*record && (*record)->value == ValueOf(i)) << Key(i);
    }
  }

  const SmallDisk disk_{48 * kMiB};
  size_t written_ = 0;
  std::unique_ptr<Engine> engine_;
};

TEST_F(DiskFullTest, WritesFailWithAReasonReadsGoOnAndRoomEndsIt) {
  OpenOnIt();
  const Error error = Fill();
  EXPECT_TRUE(error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kUnknownOutcome) << error;
  EXPECT_GT(written_, 10u);
  // It tries again now and then, while there seems to be room, and then a commit may find that there is none.
  Error refused = error;
  WaitUntil([&] { return (refused = Fill()).code() == ErrorCode::kUnavailable; });
  EXPECT_EQ(refused.text(), "the disk is full");
  WaitUntil([this] { return !store().health().writable; });
  EXPECT_EQ(store().health().reason, "the disk is full");
  ExpectAllThere();
  disk_.GiveBack();
  WaitUntil([this] { return store().health().writable; });
  for (int i = 0; i < 20; ++i) {
    const auto outcome = PutNext();
    ASSERT_TRUE(outcome) << outcome.error();
  }
  ExpectAllThere();
  OpenOnIt();
  ExpectAllThere();
  EXPECT_TRUE(store().VerifyFiles().empty());
}

TEST_F(DiskFullTest, ItCanBeOpenedAgainWhileTheDiskIsFull) {
  OpenOnIt();
  Fill();
  engine_.reset();
  const auto opened = OpenRocksEngine(disk_ / "store", options);
  // Recovery needs some room, so it may be refused; but never as damage.
  EXPECT_TRUE(opened || opened.error().code() == ErrorCode::kUnavailable) << opened.error();
}

TEST_F(DiskFullTest, AStoreThatWasFullOpensWithAllThatWasAcknowledged) {
  OpenOnIt();
  Fill();
  engine_.reset();
  disk_.GiveBack();
  OpenOnIt();
  ExpectAllThere();
  const auto outcome = PutNext();
  EXPECT_TRUE(outcome) << outcome.error();
}

TEST_F(DiskFullTest, WritesAreRefusedBeforeTheDiskIsFull) {
  options.min_free_disk_bytes = 12 * kMiB;
  OpenOnIt();
  const Error error = Fill();
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error;
  EXPECT_EQ(error.text(), "the disk is almost full");
  EXPECT_EQ(store().health().reason, "the disk is almost full");
  EXPECT_GT(disk_.Free(), 0u);
  ExpectAllThere();
  disk_.GiveBack();
  WaitUntil([this] { return store().health().writable; });
  const auto outcome = PutNext();
  EXPECT_TRUE(outcome) << outcome.error();
  ExpectAllThere();
}

}  // namespace
}  // namespace kvarts::test
