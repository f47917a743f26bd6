// The verifier of the crash tests is shown to find what it is for: what is held against it here is what a store really
// did, with one fault planted into it.
#include "verifier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "op_writer.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using What = Finding::What;

class VerifierTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = OpenRocksEngine(temp_ / "store", CrashOptions());
    ASSERT_TRUE(opened) << opened.error();
    engine_ = *std::move(opened);
    ASSERT_TRUE(AssignProfiles(*engine_));
    for (uint32_t i = 0; i < kWriters; ++i) writers_.emplace_back(*engine_, log_, i, 1, 7, &acked_);
  }

  void StepAll() {
    for (OpWriter& writer : writers_) writer.Step();
  }
  std::vector<AckRecord> Records() const { return AckLog::Read(temp_ / "acks"); }
  StoredState State() {
    auto state = StoredState::Read(*engine_);
    EXPECT_TRUE(state) << state.error();
    return *std::move(state);
  }

  // Writes until what comes after `before_` holds a `sync` commit, or for a while without one.
  void WriteUntilSync() {
    before_ = State();
    for (size_t from = Records().size(); !HasSync(from);) StepAll();
  }
  void WriteWithoutSync() {
    size_t from = 0;
    do {
      from = Records().size();
      before_ = State();
      for (int i = 0; i < 12; ++i) StepAll();
    } while (HasSync(from));
  }
  bool HasSync(size_t from) const {
    const auto records = Records();
    return std::any_of(records.begin() + static_cast<ptrdiff_t>(from), records.end(), [](const AckRecord& record) {
      return record.kind == AckRecord::Kind::kAcked && record.op.durability() == Durability::kSync &&
             record.op.kind() != OpKind::kErase && record.op.kind() != OpKind::kTrim &&
             record.op.kind() != OpKind::kEraseRange;
    });
  }

  // What a verifier that knows nothing yet finds.
  static std::set<What> Found(CrashKind crash, const std::vector<AckRecord>& records, const StoredState& state) {
    std::set<What> found;
    for (const Finding& finding : CrashVerifier().Verify(crash, records, state)) found.insert(finding.what);
    return found;
  }
  // The last acknowledged operation of this kind.
  static AckRecord* LastOf(std::vector<AckRecord>* records, OpKind kind) {
    for (auto it = records->rbegin(); it != records->rend(); ++it) {
      if (it->kind == AckRecord::Kind::kAcked && it->op.kind() == kind) return &*it;
    }
    return nullptr;
  }
  // The state, with one writer's own keys as they were in another.
  static StoredState WithOwnKeysOf(uint32_t writer, StoredState state, const StoredState& other) {
    const std::string prefix = OwnPrefix(writer);
    std::erase_if(state.stored, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    for (const auto& [key, record] : other.stored) {
      if (key.starts_with(prefix)) state.stored[key] = record;
    }
    return state;
  }

  TempDir temp_;
  AckLog log_{temp_ / "acks"};
  std::atomic<uint64_t> acked_{0};
  std::unique_ptr<Engine> engine_;
  std::vector<OpWriter> writers_;
  StoredState before_;
};

TEST_F(VerifierTest, FindsNothingWhereNothingIsWrong) {
  for (int i = 0; i < 100; ++i) StepAll();
  EXPECT_EQ(Found(CrashKind::kKilled, Records(), State()), std::set<What>());
}

TEST_F(VerifierTest, FindsALostSyncCommit) {
  for (int i = 0; i < 20; ++i) StepAll();
  WriteUntilSync();
  EXPECT_EQ(Found(CrashKind::kPowerLoss, Records(), State()), std::set<What>());
  EXPECT_EQ(Found(CrashKind::kPowerLoss, Records(), before_), std::set{What::kLostSync});
}

TEST_F(VerifierTest, FindsALostCommitThatAReaderHadSeen) {
  for (int i = 0; i < 20; ++i) StepAll();
  auto records = Records();
  AckRecord* sync = nullptr;
  while (sync == nullptr || sync->op.durability() != Durability::kSync) {
    before_ = State();
    StepAll();
    records = Records();
    sync = LastOf(&records, OpKind::kMulti);
  }
  sync->kind = AckRecord::Kind::kSeen;
  EXPECT_TRUE(Found(CrashKind::kPowerLoss, records, before_).contains(What::kLostSync));
}

TEST_F(VerifierTest, FindsALostCommitOfAKilledProcessButNotOfAPowerFailure) {
  for (int i = 0; i < 100; ++i) StepAll();
  WriteWithoutSync();
  EXPECT_EQ(Found(CrashKind::kPowerLoss, Records(), before_), std::set<What>());
  EXPECT_EQ(Found(CrashKind::kKilled, Records(), before_), std::set{What::kLostAcked});
}

TEST_F(VerifierTest, FindsAHoleInCommitOrder) {
  for (int i = 0; i < 100; ++i) StepAll();
  WriteWithoutSync();
  const auto found = Found(CrashKind::kPowerLoss, Records(), WithOwnKeysOf(3, State(), before_));
  EXPECT_TRUE(found.contains(What::kHole));
  EXPECT_FALSE(found.contains(What::kLostSync));
}

TEST_F(VerifierTest, FindsATornCommit) {
  for (int i = 0; i < 60; ++i) StepAll();
  auto records = Records();
  const Op op = LastOf(&records, OpKind::kMulti)->op;
  StoredState state = State();
  const std::string torn = OwnPrefix(op.writer) + "n/" + std::to_string(op.number % 8);
  ASSERT_EQ(state.stored.erase(torn), 1u);
  state.shown.erase(torn);
  for (const CrashKind crash : {CrashKind::kKilled, CrashKind::kPowerLoss}) {
    EXPECT_TRUE(Found(crash, records, state).contains(What::kTorn));
  }
}

TEST_F(VerifierTest, FindsATornCommitThatAReaderHadSeen) {
  StepAll();
  auto records = Records();
  records.push_back({AckRecord::Kind::kTorn, {0, 1, 0}, kNoVersion});
  EXPECT_EQ(Found(CrashKind::kKilled, records, State()), std::set{What::kTorn});
}

TEST_F(VerifierTest, FindsAVersionThatWasIssuedTwice) {
  for (int i = 0; i < 60; ++i) StepAll();
  auto records = Records();
  // Of operations that leave no version behind, so that nothing else tells.
  AckRecord* erase = LastOf(&records, OpKind::kErase);
  AckRecord* add = LastOf(&records, OpKind::kAdd);
  ASSERT_NE(erase->version, add->version);
  erase->version = add->version;
  EXPECT_TRUE(Found(CrashKind::kKilled, records, State()).contains(What::kVersionTwice));
}

TEST_F(VerifierTest, FindsAVersionOfAnEarlierRound) {
  CrashVerifier verifier;
  StepAll();
  const auto first = Records();
  EXPECT_TRUE(verifier.Verify(CrashKind::kKilled, first, State()).empty());
  // The next round begins behind everybody's numbers.
  std::vector<AckRecord> second;
  const Op op{0, verifier.next_number(), 0};
  const auto acked = std::ranges::find(first, AckRecord::Kind::kAcked, &AckRecord::kind);
  second.push_back({AckRecord::Kind::kIntent, op, kNoVersion});
  second.push_back({AckRecord::Kind::kAcked, op, acked->version});
  std::set<What> found;
  for (const Finding& finding : verifier.Verify(CrashKind::kPowerLoss, second, State())) found.insert(finding.what);
  EXPECT_TRUE(found.contains(What::kVersionTwice));
  EXPECT_TRUE(found.contains(What::kVersionShrank));
}

TEST_F(VerifierTest, FindsAWrongVersion) {
  for (int i = 0; i < 60; ++i) StepAll();
  auto records = Records();
  const Op op = LastOf(&records, OpKind::kMulti)->op;
  StoredState state = State();
  state.stored.at(WitnessKey(op)).header.version.stamp += 1;
  EXPECT_TRUE(Found(CrashKind::kKilled, records, state).contains(What::kWrongVersion));
}

TEST_F(VerifierTest, FindsAWrongSumAndALostUpdate) {
  for (int i = 0; i < 60; ++i) StepAll();
  for (const std::string key : {"s/c/1", "s/r/1", "s/k/1"}) {
    SCOPED_TRACE(key);
    StoredState state = State();
    Record& record = state.stored.at(key);
    record.value = record.header.kind == ValueKind::kCounter ? CounterValue(1) : "1";
    EXPECT_EQ(Found(CrashKind::kKilled, Records(), state), std::set{What::kWrongShared});
  }
}

TEST_F(VerifierTest, FindsACommitAgainstItsPrecondition) {
  for (int i = 0; i < 60; ++i) StepAll();
  auto records = Records();
  const auto refused = std::ranges::find(records, AckRecord::Kind::kRefused, &AckRecord::kind);
  ASSERT_NE(refused, records.end());
  refused->kind = AckRecord::Kind::kAcked;
  EXPECT_TRUE(Found(CrashKind::kKilled, records, State()).contains(What::kWrongOutcome));
}

TEST_F(VerifierTest, FindsAnExpiredValueThatIsShown) {
  for (int i = 0; i < 60; ++i) StepAll();
  StoredState state = State();
  const auto expired =
      std::ranges::find_if(state.stored, [&](const auto& entry) { return entry.second.header.ExpiredAt(state.time); });
  ASSERT_NE(expired, state.stored.end());
  state.shown.insert(expired->first);
  EXPECT_EQ(Found(CrashKind::kKilled, Records(), state), std::set{What::kWrongExpiry});
}

}  // namespace
}  // namespace kvarts::test
