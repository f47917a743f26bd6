// Range erases that reclaim: files go without compaction, but only when nobody can see what was in them, and nothing
// that was erased or replaced ever comes back.
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

class ReclaimTest : public FaultTest, public ::testing::WithParamInterface<Profile> {
 protected:
  static constexpr int kKeys = 5000;

  void SetUp() override {
    options.blob_min_bytes = 1 << 20;
    options.limits.max_view_age = Duration::Seconds(1000);
    Open();
    ASSERT_TRUE(engine().AssignProfile(KeyRange::Prefix("k"), GetParam()));
  }

  static std::string Key(int i) { return fmt::format("k{:05}", i); }
  static std::string Noise(uint64_t seed, size_t size) {
    std::mt19937_64 random(seed);
    std::string noise(size, '\0');
    for (char& c : noise) c = static_cast<char>('a' + random() % 26);
    return noise;
  }
  // Puts [from, to) in commits of a hundred keys, a kilobyte each.
  void PutKeys(int from, int to, uint64_t seed) {
    for (int i = from; i < to;) {
      std::vector<Mutation> mutations;
      for (const int end = std::min(to, i + 100); i < end; ++i) {
        values_[Key(i)] = Noise(seed + static_cast<uint64_t>(i), 1000);
        mutations.push_back(Mutation::Put(Key(i), values_[Key(i)]));
      }
      const auto outcome = Commit(std::move(mutations), Durability::kNone);
      ASSERT_TRUE(outcome) << outcome.error();
    }
  }
  void EraseKeys(int from, int to, bool reclaim) {
    Mutation erase = Mutation::EraseRange(Key(from), Key(to));
    erase.reclaim = reclaim;
    const auto outcome = Commit({std::move(erase)});
    ASSERT_TRUE(outcome) << outcome.error();
    values_.erase(values_.lower_bound(Key(from)), values_.lower_bound(Key(to)));
  }
  void Compact(int from = 0, int to = 100'000) { ASSERT_TRUE(engine().Compact({Key(from), Key(to)})); }
  // Everything that is there is what was written last.
  void ExpectExact() {
    const auto view = engine().OpenView();
    ASSERT_TRUE(view) << view.error();
    ScanRequest request;
    request.range = KeyRange::Prefix("k");
    request.options.expired_too = true;
    const auto entries = ScanAll(**view, request);
    ASSERT_TRUE(entries) << entries.error();
    std::map<std::string, std::string> found;
    for (const Found& entry : *entries) found[entry.key] = entry.value;
    for (const auto& [key, value] : found) ASSERT_TRUE(values_.contains(key)) << key << " came back";
    for (const auto& [key, value] : values_) ASSERT_EQ(found[key], value) << key;
  }
  size_t DataFiles() const { return FilesOf(FileKind::kTable).size(); }
  uint64_t DataBytes() {
    const auto stats = engine().Stats();
    EXPECT_TRUE(stats) << stats.error();
    uint64_t bytes = 0;
    for (const LevelStats& level : stats->levels) bytes += level.bytes;
    return bytes;
  }

  std::map<std::string, std::string> values_;
};

TEST_P(ReclaimTest, FilesGoWithoutCompaction) {
  PutKeys(0, kKeys, 1);
  Compact();
  const size_t files_before = DataFiles();
  const uint64_t bytes = DataBytes();
  ASSERT_GT(files_before, 3u);
  EraseKeys(0, kKeys, true);
  WaitUntil([&] { return DataFiles() <= files_before - 2; });
  EXPECT_LT(DataBytes(), bytes);
  ExpectExact();
  Open();
  ExpectExact();
}

TEST_P(ReclaimTest, AllRangesOfACommitAreRememberedAcrossAReopen) {
  options.keeper_interval = Duration::Seconds(3600);
  Open();
  PutKeys(0, kKeys, 1);
  Compact();
  const uint64_t bytes = DataBytes();
  std::vector<Mutation> erases = {Mutation::EraseRange(Key(0), Key(kKeys / 2)), Mutation::EraseRange(Key(0), Key(1)),
                                  Mutation::EraseRange(Key(kKeys / 2), Key(kKeys))};
  for (Mutation& erase : erases) erase.reclaim = true;
  ASSERT_TRUE(Commit(std::move(erases)));
  values_.clear();
  options.keeper_interval = Duration::Millis(2);
  Open();
  // One range alone is half of it.
  WaitUntil([&] { return DataBytes() < bytes / 3; });
  ExpectExact();
}

TEST_P(ReclaimTest, FilesThatACompactionReadsGoBehindIt) {
  if (GetParam() == Profile::kIngest) GTEST_SKIP() << "files are rewritten by their number alone";
  // The keeper may be first, and there is nothing to compact any more: then once more.
  for (bool compacted = false; !compacted;) {
    ASSERT_TRUE(Commit({Mutation::Erase("other")}));  // the view does not see what the keeper has erased
    auto view = *engine().OpenView();
    PutKeys(0, kKeys, 1);
    Compact();
    const uint64_t bytes = DataBytes();
    const auto gone = [&] { return DataBytes() < bytes / 10; };
    const uint64_t tables = files().count(FileOp::kCreate, FileKind::kTable);
    files().Hold(FileOp::kCreate, FileKind::kTable);
    EraseKeys(0, kKeys, true);
    // Without the view nobody needs the sequence numbers of the bottommost files: RocksDB rewrites them without.
    view.reset();
    ASSERT_TRUE(Commit({Mutation::Erase("other")}));
    WaitUntil([&] {
      compacted = files().count(FileOp::kCreate, FileKind::kTable) > tables;
      return compacted || gone();
    });
    // The keeper looks around many times in this while.
    if (compacted) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    files().Release();
    WaitUntil(gone);
    ExpectExact();
  }
}

TEST_P(ReclaimTest, RangesSmallerThanAFileAreForgottenAtOnce) {
  PutKeys(0, kKeys, 1);
  Compact();
  // Each time that options are changed, which is what a drop costs, they are written to a file.
  const uint64_t changes = files().count(FileOp::kCreate, FileKind::kOther);
  std::vector<Mutation> erases;
  for (int i = 0; i < kKeys; i += 5) {
    erases.push_back(Mutation::EraseRange(Key(i), Key(i + 2)));
    erases.back().reclaim = true;
    values_.erase(values_.lower_bound(Key(i)), values_.lower_bound(Key(i + 2)));
  }
  ASSERT_TRUE(Commit(std::move(erases)));
  // The keeper looks around many times in this while; what it has begun, the end waits for.
  for (int i = 0; i < 20; ++i) Put("other", std::to_string(i));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(files().count(FileOp::kCreate, FileKind::kOther), changes);
  ExpectExact();
  Open();
  ExpectExact();
}

TEST_P(ReclaimTest, FilesStayWhileAViewSeesWhatIsInThem) {
  PutKeys(0, kKeys, 1);
  Compact();
  const auto before = values_;
  const size_t files_before = DataFiles();
  auto view = *engine().OpenView();
  EraseKeys(0, kKeys, true);
  // The keeper looks around many times in this while.
  for (int i = 0; i < 20; ++i) Put("other", std::to_string(i));
  EXPECT_GE(DataFiles(), files_before);
  ScanRequest request;
  request.range = KeyRange::Prefix("k");
  const auto entries = ScanAll(*view, request);
  ASSERT_TRUE(entries) << entries.error();
  EXPECT_EQ(entries->size(), before.size());
  for (const Found& entry : *entries) EXPECT_EQ(entry.value, before.at(entry.key));
  view.reset();
  WaitUntil([&] { return DataFiles() <= files_before - 2; });
  ExpectExact();
}

TEST_P(ReclaimTest, FilesStayForAViewOfWhatWasWrittenAndErasedAgain) {
  PutKeys(0, kKeys, 1);
  Compact();
  auto before = *engine().OpenView();
  EraseKeys(0, kKeys, true);  // not yet: a view sees what was there
  PutKeys(0, kKeys, 50'000);
  Compact();
  const auto written = values_;
  auto between = *engine().OpenView();
  EraseKeys(0, kKeys, false);
  before.reset();
  // Now the first erase is due, and the range is empty. The keeper looks around many times in this while.
  for (int i = 0; i < 50; ++i) Put("other", std::to_string(i));
  ScanRequest request;
  request.range = KeyRange::Prefix("k");
  const auto entries = ScanAll(*between, request);
  ASSERT_TRUE(entries) << entries.error();
  ASSERT_EQ(entries->size(), written.size());
  for (const Found& entry : *entries) EXPECT_EQ(entry.value, written.at(entry.key));
  const size_t files_before = DataFiles();
  between.reset();
  WaitUntil([&] { return DataFiles() <= files_before - 2; });
  ExpectExact();
}

TEST_P(ReclaimTest, AViewThatIsTooOldDoesNotKeepFiles) {
  PutKeys(0, kKeys, 1);
  Compact();
  const size_t files_before = DataFiles();
  const auto leaked = *engine().OpenView();
  EraseKeys(0, kKeys, true);
  clock().Advance(Duration::Seconds(1001));
  WaitUntil([&] { return DataFiles() <= files_before - 2; });
  EXPECT_EQ(CodeOf(leaked->GetOne(Key(0))), "unavailable");
}

TEST_P(ReclaimTest, WhatIsWrittenIntoTheRangeAfterwardsStays) {
  PutKeys(0, kKeys, 1);
  Compact();
  const auto hold = engine().OpenView();  // so that the files are still there
  EraseKeys(0, kKeys, true);
  PutKeys(1000, 1100, 2);
  Put("other", "value");
  ExpectExact();
  hold->get()->version();
}

TEST_P(ReclaimTest, WhatIsWrittenIntoTheRangeAfterwardsSurvivesCompactionAndReopening) {
  PutKeys(0, kKeys, 1);
  Compact();
  EraseKeys(0, kKeys, true);
  PutKeys(1000, 1100, 2);
  ExpectExact();
  Compact();
  ExpectExact();
  EraseKeys(1050, 3000, true);
  PutKeys(1060, 1070, 3);
  Open();
  ExpectExact();
  Compact();
  ExpectExact();
}

// Older values of keys at the edges lie in files that reach beyond the range and stay; what hid them goes.
TEST_P(ReclaimTest, NothingThatWasReplacedComesBackAtTheEdges) {
  PutKeys(0, kKeys, 1);
  Compact();
  const size_t files_before = DataFiles();
  // Several layers of newer values and erasures over parts of it, each in files of its own.
  for (int layer = 1; layer < 6; ++layer) {
    PutKeys(700 + 100 * layer, 4000 - 100 * layer, static_cast<uint64_t>(layer) * 10'000);
    EraseKeys(1500 + 50 * layer, 1600 + 50 * layer, false);
    Open();  // puts the write buffer into a file
  }
  ExpectExact();
  EraseKeys(750, 4250, true);
  WaitUntil([&] { return DataFiles() < files_before + 5; });
  ExpectExact();
  Compact(900, 1100);
  ExpectExact();
  Open();
  ExpectExact();
  Compact();
  ExpectExact();
}

TEST_P(ReclaimTest, AReclaimThatWasCutOffIsDoneAfterReopening) {
  PutKeys(0, kKeys, 1);
  Compact();
  const size_t files_before = DataFiles();
  {
    const auto view = *engine().OpenView();  // keeps the files until the power fails
    EraseKeys(0, kKeys, true);
    files().PowerOff();
  }
  LosePower();
  Open();
  WaitUntil([&] { return DataFiles() <= files_before - 2; });
  ExpectExact();
}

TEST_P(ReclaimTest, ACompactionAtTheSameTimeBringsNothingBack) {
  std::atomic<bool> done{false};
  std::thread compacting([&] {
    while (!done) IgnoreError(engine().Compact(KeyRange::Prefix("k")));
  });
  for (int round = 0; round < 10; ++round) {
    const uint64_t seed = static_cast<uint64_t>(round) * 100'000;
    PutKeys(0, 2000, seed);
    PutKeys(500, 1500, seed + 50'000);
    EraseKeys(400, 1600, true);
    ExpectExact();
  }
  done = true;
  compacting.join();
  ExpectExact();
  Compact();
  ExpectExact();
}

TEST_P(ReclaimTest, RandomLayersNeverBringAnythingBack) {
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()) + 11);
  const auto some = [&](int below) { return static_cast<int>(random() % static_cast<uint64_t>(below)); };
  PutKeys(0, kKeys, 1);
  for (int round = 1; round <= 60; ++round) {
    const int from = some(kKeys - 10);
    const int to = from + 1 + some(std::min(kKeys - from, 1500));
    switch (some(8)) {
      case 0:
      case 1:
      case 2:
        PutKeys(from, to, static_cast<uint64_t>(round) * 100'000);
        break;
      case 3:
      case 4:
        EraseKeys(from, to, true);
        break;
      case 5:
        EraseKeys(from, to, false);
        break;
      case 6:
        Compact(from, to);
        break;
      default:
        Open();
    }
    if (round % 4 == 0) ExpectExact();
    if (HasFatalFailure()) return;
  }
  Compact();
  ExpectExact();
  EXPECT_TRUE(engine().VerifyFiles().empty());
}

INSTANTIATE_TEST_SUITE_P(In, ReclaimTest, ::testing::Values(Profile::kLookup, Profile::kIngest, Profile::kWindow),
                         [](const auto& profile) { return std::string(ProfileName(profile.param)); });

}  // namespace
}  // namespace kvarts::test
