// Range erases: everything in the range as of the commit, and nothing else.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class EraseRangeTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, key);
  }
  // The keys, run together.
  std::string Keys() {
    std::string keys;
    for (const Found& entry : Entries(*NewView())) keys += entry.key;
    return keys;
  }
};
KVARTS_ON_EVERY_ENGINE(EraseRangeTest);

TEST_P(EraseRangeTest, TakesTheStartAndLeavesTheEnd) {
  Must({Mutation::EraseRange("b", "d")});
  EXPECT_EQ(Keys(), "ade");
  EXPECT_EQ(Value("b"), "absent");
  EXPECT_EQ(Value("c"), "absent");
  EXPECT_EQ(Value("d"), "d");
}

TEST_P(EraseRangeTest, ACompactionThatIsStoppedSaysSo) {
  Must({Mutation::EraseRange("b", "d")});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All(), stop.get_token())), "unavailable");
  EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All(), std::stop_source().get_token())), "ok");
  EXPECT_EQ(Keys(), "ade");
}

TEST_P(EraseRangeTest, AnEmptyStartOrEndIsNoBound) {
  Must({Mutation::EraseRange("", "b")});
  EXPECT_EQ(Keys(), "bcde");
  Put("\xff\xff\xff", "last");
  Must({Mutation::EraseRange("d", "")});
  EXPECT_EQ(Keys(), "bc");
  Must({Mutation::EraseRange("", "")});
  EXPECT_EQ(Keys(), "");
}

TEST_P(EraseRangeTest, BoundsNeedNotBeKeys) {
  Must({Mutation::EraseRange("aa", "cc")});
  EXPECT_EQ(Keys(), "ade");
  Must({Mutation::EraseRange("x", "z")});
  EXPECT_EQ(Keys(), "ade");
}

TEST_P(EraseRangeTest, OfASingleKeyLeavesItsNeighbours) {
  Put(Bytes("c\0", 2), "after");
  Must({Mutation::EraseRange("c", KeyAfter("c"))});
  EXPECT_EQ(Value("c"), "absent");
  EXPECT_EQ(Value(Bytes("c\0", 2)), "after");
}

TEST_P(EraseRangeTest, WhatIsPutAfterwardsStays) {
  Must({Mutation::EraseRange("b", "d")});
  Put("c", "new");
  EXPECT_EQ(Keys(), "acde");
  EXPECT_EQ(Value("c"), "new");
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(Value("c"), "new");
  Must({Mutation::EraseRange("b", "d")});
  EXPECT_EQ(Keys(), "ade");
}

TEST_P(EraseRangeTest, OlderViewsStillShowWhatWasErased) {
  const auto before = NewView();
  Must({Mutation::EraseRange("b", "d")});
  const auto between = NewView();
  Must({Mutation::Put("b", "new"), Mutation::EraseRange("d", "")});
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(ShownScan(*before), "a=a b=b c=c d=d e=e");
  EXPECT_EQ(Value(*before, "c"), "c");
  EXPECT_EQ(ShownScan(*between), "a=a d=d e=e");
  EXPECT_EQ(Contents(), "a=a b=new");
}

TEST_P(EraseRangeTest, TakesCountersExpiredAndOwnedValuesToo) {
  Must({Mutation::Add("n", 5), Owned(Mutation::Put("o", "", In(Duration::Seconds(1)))),
        Mutation::Put("p", "", In(Duration::Seconds(1)))});
  Wait(Duration::Seconds(2));
  Must({Mutation::EraseRange("", "")});
  ScanRequest request;
  request.options.expired_too = true;
  EXPECT_TRUE(Entries(*NewView(), request).empty());
  Add("n", 1);
  EXPECT_EQ(Number("n"), 1);
}

TEST_P(EraseRangeTest, OverlappingOnesTakeTheirUnion) {
  Must({Mutation::EraseRange("b", "d"), Mutation::EraseRange("a", "c")});
  EXPECT_EQ(Keys(), "de");
  Put("b", "new");
  Must({Mutation::EraseRange("c", "e")});
  EXPECT_EQ(Keys(), "be");
}

TEST_P(EraseRangeTest, TakesWhatItsOwnCommitPutBefore) {
  Must({Mutation::Put("b2", "before"), Mutation::EraseRange("b", "d"), Mutation::Put("c", "after")});
  EXPECT_EQ(Contents(), "a=a c=after d=d e=e");
}

TEST_P(EraseRangeTest, LaterCommitsOfTheSameBatchSeeIt) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::EraseRange("b", "d")})));
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("c", "2")}, {Absent("c")})));
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("b", "2")}, {Present("b")})));
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  EXPECT_EQ(CodeOf(tickets[0]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[1]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[2]->Outcome()), "precondition_failed");
  EXPECT_EQ(Contents(), "a=a c=2 d=d e=e");
}

TEST_P(EraseRangeTest, ReclaimingErasesTheSame) {
  Mutation reclaim = Mutation::EraseRange("b", "d");
  reclaim.reclaim = true;
  const auto before = NewView();
  Must({reclaim});
  EXPECT_EQ(Keys(), "ade");
  EXPECT_EQ(ShownScan(*before), "a=a b=b c=c d=d e=e");
  Put("c", "new");
  EXPECT_EQ(Keys(), "acde");
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(ShownScan(*before), "a=a b=b c=c d=d e=e");
  EXPECT_EQ(Value("c"), "new");
}

TEST_P(EraseRangeTest, OfThousandsOfKeysIsOneCommit) {
  for (int i = 0; i < 5; ++i) {
    std::vector<Mutation> puts;
    for (int j = 0; j < 2000; ++j) {
      puts.push_back(Mutation::Put("k" + std::to_string(i * 2000 + j), ""));
    }
    Must(std::move(puts));
  }
  const auto view = NewView();
  const Version version = Must({Mutation::EraseRange("k", "l")});
  EXPECT_EQ(Keys(), "abcde");
  EXPECT_EQ(engine().LastVersion(), version);
  EXPECT_EQ(Entries(*view).size(), 10'005u);
}

TEST_P(EraseRangeTest, ManyOfThemDoNotDisturbReads) {
  durability_ = Durability::kNone;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "k" + std::to_string(1000 + i);
    Commit commit =
        MakeCommit({Mutation::Put(key, ""), Mutation::Put(key + "x", ""), Mutation::EraseRange(key, key + "x")});
    commit.durability = Durability::kNone;
    ASSERT_TRUE(CommitAndWait(engine(), std::move(commit)));
  }
  EXPECT_EQ(Entries(*NewView()).size(), 305u);
  EXPECT_EQ(Value("k1007"), "absent");
  EXPECT_EQ(Value("k1007x"), "");
}

}  // namespace
}  // namespace kvarts::test
