// Reopening: a persistent engine comes back with everything, and goes on where it was.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class EngineKindTest : public EngineTest {};
KVARTS_ON_EVERY_ENGINE(EngineKindTest);

// Tests that have no engine to ask believe it.
TEST_P(EngineKindTest, IsAsTheEngineSays) {
  EXPECT_EQ(engine().capabilities().name, GetParam().name);
  EXPECT_EQ(engine().capabilities().persistent, GetParam().persistent);
}

class ReopenTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (!engine().capabilities().persistent) GTEST_SKIP() << "nothing outlives this engine";
  }
};
KVARTS_ON_EVERY_ENGINE(ReopenTest);

TEST_P(ReopenTest, EverythingIsBack) {
  Mutation whole = Mutation::Put("whole", "v", In(Duration::Seconds(100)));
  whole.kind = ValueKind::kEnvelope;
  whole.schema = 77;
  whole.owned = true;
  Must({Mutation::Put("a", "1"), Mutation::Put("b", "2"), whole, PutCounter("n", INT64_MAX),
        Mutation::Put("large", Bytes(1 << 20, 'x')), Mutation::Put("text", "t")});
  Must({Mutation::Erase("b"), Mutation::Add("n", 1), Mutation::Add("m", 7), Mutation::Add("text", 1)});
  Must({Mutation::Put("r1", ""), Mutation::Put("r2", ""), Mutation::EraseRange("r", "s")});
  const auto before = Entries(*NewView());
  Reopen();
  EXPECT_EQ(Entries(*NewView()), before);
  for (const Found& entry : before) EXPECT_EQ(Value(entry.key), entry.value);
  EXPECT_EQ(Value("b"), "absent");
  EXPECT_EQ(Value("r1"), "absent");
  EXPECT_TRUE(Find("n")->header.marks.saturated);
  EXPECT_TRUE(Find("text")->header.marks.misapplied);
  ASSERT_TRUE(engine().VerifyFiles().empty());
}

TEST_P(ReopenTest, TwiceIsTheSame) {
  Put("a", "1");
  Reopen();
  Reopen();
  Put("b", "2");
  Reopen();
  EXPECT_EQ(Contents(), "a=1 b=2");
}

TEST_P(ReopenTest, EveryDurabilityIsBackAfterACleanClose) {
  for (const Durability durability : {Durability::kNone, Durability::kInterval, Durability::kSync, Durability::kNone}) {
    Commit commit = MakeCommit({Mutation::Add("n", 1)});
    commit.durability = durability;
    ASSERT_TRUE(CommitAndWait(engine(), std::move(commit)));
  }
  Reopen();
  EXPECT_EQ(Number("n"), 4);
}

TEST_P(ReopenTest, VersionsGoOnGrowing) {
  durability_ = Durability::kNone;
  Version last;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i) {
      const Version version = Put("a", "");
      EXPECT_GT(version, last);
      last = version;
    }
    Reopen();  // on a standing clock
    EXPECT_GE(engine().LastVersion(), last);
    EXPECT_EQ(Find("a")->header.version, last);
    EXPECT_GE(NewView()->version(), last);
  }
}

TEST_P(ReopenTest, VersionsGoOnGrowingAfterTheLastKeyWasErased) {
  Put("a", "");
  const Version last = Erase("a");
  Reopen();
  EXPECT_GT(Put("a", ""), last);
}

TEST_P(ReopenTest, TimeDoesNotGoBack) {
  durability_ = Durability::kNone;
  for (int i = 0; i < 3000; ++i) Put("a", "");
  const Timestamp before = engine().Now();
  EXPECT_GT(before, clock().Now());
  Reopen();
  EXPECT_GE(engine().Now(), before);
  EXPECT_GE(NewView()->time(), before);
}

TEST_P(ReopenTest, WhatExpiredInTheMeantimeIsGone) {
  Put("a", "1", In(Duration::Seconds(5)));
  Must({Owned(Mutation::Put("o", "1", In(Duration::Seconds(5))))});
  Put("b", "1", In(Duration::Seconds(50)));
  Reopen();
  EXPECT_EQ(Contents(), "a=1 b=1 o=1");
  Wait(Duration::Seconds(5));
  Reopen();
  EXPECT_EQ(Contents(), "b=1");
  EXPECT_TRUE(Find("o", {.expired_too = true, .cost = nullptr}));
}

TEST_P(ReopenTest, PreconditionsHoldAcrossIt) {
  const Version version = Put("a", "1");
  Reopen();
  EXPECT_EQ(Holds({VersionIs("a", version), Absent("b")}), "ok");
  EXPECT_EQ(Holds({VersionIs("a", version.Next())}), "precondition_failed");
  const Version since = NewView()->version();
  EXPECT_EQ(Holds({RangeUnchanged("a", "b", since)}), "ok");
  Put("a", "2");
  EXPECT_EQ(Holds({RangeUnchanged("a", "b", since)}), "precondition_failed");
}

TEST_P(ReopenTest, ProfilesAreKept) {
  ASSERT_TRUE(engine().AssignProfile({"i", "j"}, Profile::kIngest));
  ASSERT_TRUE(engine().AssignProfile({"w", "x"}, Profile::kWindow));
  Must({Mutation::Put("a", "1"), Mutation::Put("i1", "2"), Mutation::Put("w1", "3")});
  Reopen();
  EXPECT_EQ(Contents(), "a=1 i1=2 w1=3");
  EXPECT_TRUE(engine().AssignProfile({"i", "j"}, Profile::kIngest));
  EXPECT_EQ(CodeOf(engine().AssignProfile({"i", "j"}, Profile::kLookup)), "invalid_argument");
  Must({Mutation::Put("i2", "4"), Mutation::Add("w2", 1), Mutation::EraseRange("w1", "w2")});
  Reopen();
  EXPECT_EQ(Value("i2"), "4");
  EXPECT_EQ(Number("w2"), 1);
  EXPECT_EQ(Value("w1"), "absent");
}

TEST_P(ReopenTest, TotalsGoOnCounting) {
  for (int i = 0; i < 10; ++i) Put("a", "1");
  const auto before = engine().Stats();
  ASSERT_TRUE(before);
  Reopen();
  const auto after = engine().Stats();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->commits, before->commits);
  EXPECT_EQ(after->user_bytes_written, before->user_bytes_written);
  EXPECT_EQ(after->open_views, 0u);
}

}  // namespace
}  // namespace kvarts::test
