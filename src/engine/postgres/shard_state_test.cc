#include "engine/postgres/shard_state.h"

#include <gtest/gtest.h>

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;

const Error kRefusedConnection(ErrorCode::kUnavailable, "connection refused");

// Three servers a, b and c that were never asked.
class ShardStateTest : public testing::Test {
 protected:
  Observation Seen(bool in_recovery, uint32_t timeline, uint64_t lsn = 100) {
    Observation seen;
    seen.at = now_;
    seen.system_id = "7";
    seen.started_us = ++started_;
    seen.in_recovery = in_recovery;
    seen.timeline = timeline;
    seen.flushed = seen.replayed = lsn;
    seen.schema_version = kSchemaVersion;
    seen.noted_timeline = timeline;
    return seen;
  }
  Observation Primary(uint32_t timeline = 1, uint64_t lsn = 100) { return Seen(false, timeline, lsn); }
  Observation Replica(uint32_t timeline = 1, uint64_t lsn = 100) { return Seen(true, timeline, lsn); }
  void Begin(Observation a, Observation b, Observation c) {
    state_.Answered(0, std::move(a));
    state_.Answered(1, std::move(b));
    state_.Answered(2, std::move(c));
  }
  std::string Problem(size_t server) const { return state_[server].refusal ? state_[server].refusal->ToString() : ""; }

  Deadline now_ = std::chrono::steady_clock::now();
  int64_t started_ = 0;
  ShardState state_{{"a", "b", "c"}, 3, milliseconds(1000)};
};

TEST_F(ShardStateTest, NobodyIsThePrimaryBeforeAllWereAsked) {
  state_.Answered(1, Primary());
  state_.Answered(0, Replica());
  EXPECT_FALSE(state_.primary());
  state_.Failed(2, kRefusedConnection);
  EXPECT_EQ(state_.primary(), 1);
}

TEST_F(ShardStateTest, TheHighestTimelineHasThePrimary) {
  Begin(Primary(1), Replica(1), Replica(1));
  const uint64_t before = state_[0].generation;
  state_.Answered(2, Primary(2));
  EXPECT_EQ(state_.primary(), 2);
  EXPECT_EQ(state_[0].role, ServerRole::kReplaced);
  EXPECT_GT(state_[0].generation, before);
  EXPECT_EQ(state_.DutyOf(0).fence_with, 2u);
  EXPECT_EQ(state_.DutyOf(2).fence_with, 0u);
  // Also when the new one cannot be reached, and for a server that comes back.
  for (int i = 0; i < 3; ++i) state_.Failed(2, kRefusedConnection);
  EXPECT_FALSE(state_.primary());
  state_.Answered(0, Primary(1));
  EXPECT_FALSE(state_.primary());
  EXPECT_EQ(state_[0].role, ServerRole::kReplaced);
  // It joined the new one.
  state_.Answered(0, Replica(2));
  EXPECT_EQ(state_[0].role, ServerRole::kReplica);
  EXPECT_FALSE(state_.DutyOf(0));
}

TEST_F(ShardStateTest, ATimelineThatOnlyAReplicaHasSeenCounts) {
  Begin(Primary(1), Replica(2), Replica(1));
  EXPECT_FALSE(state_.primary());
  EXPECT_EQ(state_[0].role, ServerRole::kReplaced);
}

TEST_F(ShardStateTest, AFenceIsBelievedAndOutlived) {
  Observation fenced = Primary(1);
  fenced.fenced_by = 2;
  Begin(fenced, Replica(1), Replica(1));
  EXPECT_FALSE(state_.primary());
  EXPECT_FALSE(state_.DutyOf(0));  // it is there already
  Observation promoted = Primary(3);
  promoted.fenced_by = 2;
  state_.Answered(0, promoted);
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_TRUE(state_.DutyOf(0).lift_fence);
}

TEST_F(ShardStateTest, ATimelineIsNotedOnThePrimaryAlone) {
  Observation primary = Primary(2);
  primary.noted_timeline = 1;
  Begin(primary, Replica(1), Replica(1));
  EXPECT_TRUE(state_.DutyOf(0).note_timeline);
  EXPECT_FALSE(state_.DutyOf(1));
  primary.schema_version = 0;
  state_.Answered(0, primary);
  EXPECT_FALSE(state_.DutyOf(0));  // there is nowhere to note it
}

TEST_F(ShardStateTest, ServersOfTwoClustersAreRefused) {
  Observation stranger = Primary(9);
  stranger.system_id = "8";
  Begin(Primary(), Replica(), stranger);
  EXPECT_FALSE(state_.primary());
  EXPECT_TRUE(state_.AnyRefused());
  EXPECT_NE(state_.NoPrimary().ToString().find("not of one cluster"), std::string::npos);
}

TEST_F(ShardStateTest, AStrangerThatComesLaterChangesNothing) {
  state_.Answered(0, Primary());
  state_.Answered(1, Replica());
  state_.Failed(2, kRefusedConnection);
  Observation stranger = Primary(9);
  stranger.system_id = "8";
  state_.Answered(2, stranger);
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_EQ(state_.highest_timeline(), 1u);
  EXPECT_EQ(state_[2].role, ServerRole::kRefused);
  EXPECT_NE(Problem(2).find("another cluster"), std::string::npos);
  EXPECT_FALSE(state_.DutyOf(2));
}

TEST_F(ShardStateTest, AnotherDatabaseOfTheClusterIsRefused) {
  Observation primary = Primary();
  primary.store_id = "one";
  Observation replica = Replica();
  replica.store_id = "two";
  Begin(primary, Replica(), replica);
  state_.Answered(2, replica);
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_NE(Problem(2).find("another database"), std::string::npos);
  EXPECT_FALSE(state_.MayRead(2, std::nullopt));
}

// An empty one, too: what its entry names is not what the primary's names.
TEST_F(ShardStateTest, AnEmptyDatabaseOfTheClusterIsRefused) {
  Observation primary = Primary();
  primary.store_id = "one";
  primary.database = "kvarts";
  primary.database_id = 100;
  Observation empty = Replica();
  empty.schema_version = 0;
  empty.database = "kvrats";
  empty.database_id = 101;
  Observation behind = Replica();  // has the database, and not yet what is in it
  behind.schema_version = 0;
  behind.database_id = 100;
  Begin(primary, behind, empty);
  state_.Answered(2, empty);
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_EQ(Problem(1), "");
  EXPECT_NE(Problem(2).find("another database than the primary's (database=kvrats, expected=kvarts)"),
            std::string::npos)
      << Problem(2);
  ASSERT_TRUE(state_.Stranger());
}

TEST_F(ShardStateTest, ASchemaFromTheFutureIsRefused) {
  Observation later = Primary();
  later.schema_version = kSchemaVersion + 1;
  Begin(later, Replica(), Replica());
  EXPECT_FALSE(state_.primary());
  EXPECT_NE(state_.NoPrimary().ToString().find("a schema of a later Kvarts"), std::string::npos);
  EXPECT_FALSE(state_.DutyOf(0));
}

TEST_F(ShardStateTest, OfTwoCopiesNoneIsUsed) {
  Begin(Primary(), Primary(), Replica());
  EXPECT_FALSE(state_.primary());
  EXPECT_NE(Problem(0).find("several servers"), std::string::npos);
  EXPECT_FALSE(state_.DutyOf(0));
  for (int i = 0; i < 3; ++i) state_.Failed(1, kRefusedConnection);
  EXPECT_EQ(state_.primary(), 0);
}

TEST_F(ShardStateTest, AServerMayBeListedTwice) {
  const Observation primary = Primary();
  Begin(primary, primary, Replica());
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_NE(Problem(1).find("listed twice"), std::string::npos);
}

TEST_F(ShardStateTest, SomeFailuresInARowOpenTheBreaker) {
  Begin(Primary(), Replica(), Replica());
  const uint64_t before = state_[0].generation;
  state_.Failed(0, kRefusedConnection);
  state_.Failed(0, kRefusedConnection);
  EXPECT_EQ(state_.primary(), 0);
  state_.Failed(0, kRefusedConnection);
  EXPECT_FALSE(state_.primary());
  EXPECT_EQ(state_[0].generation, before + 1);
  EXPECT_NE(state_.NoPrimary().ToString().find("connection refused"), std::string::npos);
  Observation again = Primary();
  state_.Answered(0, again);
  EXPECT_EQ(state_.primary(), 0);
  EXPECT_EQ(state_[0].generation, before + 2);  // it was restarted
  state_.Answered(0, again);
  EXPECT_EQ(state_[0].generation, before + 2);
  // Of a replica one is enough: others can be asked.
  state_.Failed(1, kRefusedConnection);
  EXPECT_FALSE(state_.MayRead(1, std::nullopt));
}

TEST_F(ShardStateTest, LagIsWhatMayBeMissing) {
  Begin(Primary(1, 100), Replica(1, 100), Replica(1, 90));
  EXPECT_FALSE(state_.MayRead(2, milliseconds(1000)));  // nothing is known of how long it lacks that
  EXPECT_TRUE(state_.MayRead(2, std::nullopt));
  now_ += milliseconds(700);
  state_.Answered(1, Replica(1, 100));
  EXPECT_EQ(state_[1].lag, milliseconds(0));
  state_.Answered(0, Primary(1, 200));
  now_ += milliseconds(300);
  state_.Answered(1, Replica(1, 150));
  state_.Answered(2, Replica(1, 200));
  EXPECT_EQ(state_[1].lag, milliseconds(1000));
  EXPECT_EQ(state_[2].lag, milliseconds(0));
  EXPECT_TRUE(state_.MayRead(1, milliseconds(1000)));
  EXPECT_FALSE(state_.MayRead(1, milliseconds(999)));
  // What the servers' clocks say may be better.
  Observation busy = Replica(1, 199);
  busy.replay_age = milliseconds(5);
  state_.Answered(1, busy);
  EXPECT_EQ(state_[1].lag, milliseconds(5));
  // The primary is silent: who has all that is known of it may lack more and more.
  now_ += milliseconds(5000);
  state_.Answered(2, Replica(1, 200));
  EXPECT_EQ(state_[2].lag, milliseconds(5300));
}

TEST_F(ShardStateTest, AReplicaIsReadFromUpToTheLagThatIsAllowed) {
  Begin(Primary(1, 100), Replica(1, 100), Replica(1, 100));
  now_ += milliseconds(700);
  state_.Answered(0, Primary(1, 200));
  now_ += milliseconds(5000);
  for (const int lag : {999, 1000, 1001}) {
    Observation behind = Replica(1, 150);
    behind.replay_age = milliseconds(lag);
    state_.Answered(1, behind);
    ASSERT_EQ(state_[1].lag, milliseconds(lag));
    EXPECT_EQ(state_.MayRead(1, milliseconds(1000)), lag <= 1000) << lag;
    EXPECT_TRUE(state_.MayRead(1, std::nullopt)) << lag;
    EXPECT_FALSE(state_.MayRead(1, milliseconds(0))) << lag;
  }
}

TEST_F(ShardStateTest, AReplicaOfAnEarlierTimelineLagsWithoutEnd) {
  Begin(Primary(2, 100), Replica(1, 500), Replica(2, 100));
  now_ += milliseconds(10);
  state_.Answered(1, Replica(1, 500));
  state_.Answered(2, Replica(2, 100));
  EXPECT_FALSE(state_.MayRead(1, milliseconds(3'600'000)));
  EXPECT_TRUE(state_.MayRead(2, milliseconds(0)));
}

TEST_F(ShardStateTest, MoreThanSyncNeedsNamesOfStandbys) {
  Begin(Primary(), Replica(), Replica());
  EXPECT_EQ(state_.strongest(), Durability::kSync);
  Observation primary = Primary();
  primary.synchronous_standbys = "ANY 1 (*)";
  state_.Answered(0, primary);
  EXPECT_EQ(state_.strongest(), Durability::kApplied);
}

}  // namespace
}  // namespace kvarts::postgres
