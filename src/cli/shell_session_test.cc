// Transaction blocks: what they see, and when they are refused.
#include "cli/shell_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/place.h"
#include "cli/shell_steps.h"
#include "core/keyspace.h"
#include "support/temp_dir.h"

namespace kvarts::cli {
namespace {

using testing::StartsWith;

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    RocksOptions options = DirectoryOptions();
    options.create_if_missing = true;
    options.clock = clock_;
    options.limits.max_commit_operations = 10;
    auto session = Session::Open(temp_ / "data", std::move(options), Durability::kNone);
    ASSERT_TRUE(session) << session.error();
    session_ = *std::move(session);
  }

  std::string Do(const Session::Step& step) {
    const auto outcome = session_->Run(step);
    return outcome ? outcome->text : "error: " + std::string(outcome.error().text());
  }
  // Past the block, as another user of the store.
  void PutElsewhere(std::string_view key, std::string_view value) {
    const auto done = session_->store().RunBody([&](Txn& txn) -> Status {
      txn.Put(UserKey(key), value);
      return {};
    });
    ASSERT_TRUE(done) << done.error();
  }
  std::string CommitCode() {
    const auto committed = session_->Commit();
    return committed ? "ok" : std::string(ErrorCodeName(committed.error().code()));
  }

  test::TempDir temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(Timestamp{1'700'000'000'000'000});
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, BlockSeesItsOwnWritesAndNobodyElseDoes) {
  ASSERT_TRUE(session_->Begin());
  EXPECT_EQ(Do(PutStep("a", "1", {})), "stored");
  EXPECT_THAT(Do(GetStep("a")), StartsWith("1\n"));
  const auto outside = GetOne(session_->engine(), UserKey("a"));
  ASSERT_TRUE(outside);
  EXPECT_FALSE(*outside);
  const auto committed = session_->Commit();
  ASSERT_TRUE(committed) << committed.error();
  EXPECT_EQ(committed->steps, 2U);
  EXPECT_TRUE(committed->version);
  EXPECT_THAT(Do(GetStep("a")), StartsWith("1\n"));
}

TEST_F(SessionTest, CommitFailsWhenWhatWasReadHasChanged) {
  PutElsewhere("a", "1");
  ASSERT_TRUE(session_->Begin());
  Do(GetStep("a"));
  Do(PutStep("b", "from a", {}));
  PutElsewhere("a", "2");
  EXPECT_EQ(CommitCode(), "conflict");
  EXPECT_FALSE(session_->in_block());
  EXPECT_EQ(Do(GetStep("b")), "(nothing)");
}

TEST_F(SessionTest, CommitFailsWhenAScanWouldShowMore) {
  ASSERT_TRUE(session_->Begin());
  Do(ScanStep(Range::Prefix("a"), {}, std::make_shared<std::optional<std::string>>()));
  Do(PutStep("b", "1", {}));
  PutElsewhere("a1", "new");
  EXPECT_EQ(CommitCode(), "conflict");
}

TEST_F(SessionTest, CommitFailsWhenWhatWasReadHasExpired) {
  Do(PutStep("a", "1", Duration::Seconds(10)));
  ASSERT_TRUE(session_->Begin());
  Do(GetStep("a"));
  Do(PutStep("b", "2", {}));
  clock_->Advance(Duration::Seconds(11));
  EXPECT_EQ(CommitCode(), "conflict");
}

TEST_F(SessionTest, ChangesElsewhereDoNotMatterToABlockThatDidNotLook) {
  ASSERT_TRUE(session_->Begin());
  Do(PutStep("b", "2", Duration::Seconds(10)));
  Do(ShowExpiryStep("b"));
  PutElsewhere("a", "1");
  clock_->Advance(Duration::Seconds(1));
  EXPECT_EQ(CommitCode(), "ok");
}

TEST_F(SessionTest, AStepThatFailsLeavesNothingInTheBlock) {
  PutElsewhere("text", "no counter");
  ASSERT_TRUE(session_->Begin());
  EXPECT_THAT(Do(IncrementStep("text", 1)), StartsWith("error: the value under the key is not a counter"));
  EXPECT_THAT(Do(GetStep("text")), StartsWith("no counter"));
  EXPECT_EQ(CommitCode(), "ok");
  EXPECT_THAT(Do(GetStep("text")), StartsWith("no counter"));
}

TEST_F(SessionTest, ABlockHasALimit) {
  ASSERT_TRUE(session_->Begin());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Do(PutStep(std::to_string(i), "x", {})), "stored");
  EXPECT_EQ(Do(PutStep("11", "x", {})), "error: the transaction block is too large");
  EXPECT_EQ(CommitCode(), "ok");
}

TEST_F(SessionTest, BlocksDoNotNest) {
  EXPECT_FALSE(session_->Commit());
  EXPECT_FALSE(session_->RollBack());
  ASSERT_TRUE(session_->Begin());
  EXPECT_FALSE(session_->Begin());
  EXPECT_EQ(session_->RollBack().value_or(99), 0U);
}

}  // namespace
}  // namespace kvarts::cli
