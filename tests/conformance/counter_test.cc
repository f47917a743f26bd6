// Counters: an add never fails. It saturates with a mark, leaves what is no counter alone with another, and starts from
// zero where there is nothing or what there was has expired.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

constexpr int64_t kMax = INT64_MAX;
constexpr int64_t kMin = INT64_MIN;

class CounterTest : public EngineTest {
 protected:
  ValueHeader Header(BytesView key) {
    const auto record = Find(key);
    EXPECT_TRUE(record) << key;
    return record ? record->header : ValueHeader();
  }
};
KVARTS_ON_EVERY_ENGINE(CounterTest);

TEST_P(CounterTest, AnAbsentKeyCountsAsZero) {
  const Version version = Add("n", 5);
  const auto record = Find("n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->value, CounterValue(5));
  ValueHeader expected;
  expected.version = version;
  expected.kind = ValueKind::kCounter;
  EXPECT_EQ(record->header, expected);
}

TEST_P(CounterTest, AddsUpAndDown) {
  for (const int64_t delta : {5, -7, 0, 100}) Add("n", delta);
  EXPECT_EQ(Number("n"), 98);
}

TEST_P(CounterTest, ManyAddsAddUp) {
  durability_ = Durability::kNone;
  int64_t sum = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t delta = (i % 2 == 0 ? 1 : -1) * i * int64_t{1'000'003};
    Add("n", delta);
    sum += delta;
    if (i % 500 == 0) {
      ASSERT_TRUE(engine().Compact(KeyRange::All()));
    }
    if (i % 100 == 0) {
      EXPECT_EQ(Number("n"), sum);
    }
  }
  EXPECT_EQ(Number("n"), sum);
}

TEST_P(CounterTest, ManyAddsInOneCommitAddUp) {
  Must(std::vector<Mutation>(1000, Mutation::Add("n", 3)));
  EXPECT_EQ(Number("n"), 3000);
}

TEST_P(CounterTest, AddsToAPutCounter) {
  Must({PutCounter("n", 40)});
  Add("n", 2);
  EXPECT_EQ(Number("n"), 42);
}

TEST_P(CounterTest, AdvancesTheVersion) {
  const Version first = Add("n", 1);
  const Version second = Add("n", 0);
  EXPECT_GT(second, first);
  EXPECT_EQ(Header("n").version, second);
}

TEST_P(CounterTest, SaturatesUpwardsWithAMark) {
  Must({PutCounter("n", kMax - 1)});
  Add("n", 1);
  EXPECT_EQ(Number("n"), kMax);
  EXPECT_FALSE(Header("n").marks.saturated);
  Add("n", 1);
  EXPECT_EQ(Number("n"), kMax);
  EXPECT_TRUE(Header("n").marks.saturated);
  Add("n", -5);  // the mark stays: what was lost is lost
  EXPECT_EQ(Number("n"), kMax - 5);
  EXPECT_TRUE(Header("n").marks.saturated);
  EXPECT_FALSE(Header("n").marks.misapplied);
}

TEST_P(CounterTest, SaturatesDownwardsWithAMark) {
  Must({PutCounter("n", kMin + 1)});
  Add("n", -1);
  EXPECT_FALSE(Header("n").marks.saturated);
  Add("n", kMin);
  EXPECT_EQ(Number("n"), kMin);
  EXPECT_TRUE(Header("n").marks.saturated);
  Add("n", kMax);
  EXPECT_EQ(Number("n"), -1);
}

TEST_P(CounterTest, SaturatesAtEachAddInItsTurn) {
  // Taken together they are zero; one after the other, the second is lost.
  Must({Mutation::Add("n", kMax), Mutation::Add("n", kMax), Mutation::Add("n", -kMax), Mutation::Add("n", -kMax)});
  EXPECT_EQ(Number("n"), -kMax);
  EXPECT_TRUE(Header("n").marks.saturated);
  for (const int64_t delta : {kMax, kMax, -kMax, -kMax}) Add("m", delta);
  EXPECT_EQ(Number("m"), -kMax);
  EXPECT_TRUE(Header("m").marks.saturated);
}

TEST_P(CounterTest, TheExtremesAreNumbersLikeOthers) {
  Add("max", kMax);
  Add("min", kMin);
  EXPECT_EQ(Number("max"), kMax);
  EXPECT_EQ(Number("min"), kMin);
  EXPECT_FALSE(Header("max").marks.saturated);
  EXPECT_FALSE(Header("min").marks.saturated);
}

TEST_P(CounterTest, APutTakesTheMarksAway) {
  Must({PutCounter("n", kMax), Mutation::Add("n", 1)});
  EXPECT_TRUE(Header("n").marks.saturated);
  Must({PutCounter("n", 1)});
  EXPECT_EQ(Header("n").marks, CounterMarks());
  Put("b", "text");
  Add("b", 1);
  EXPECT_TRUE(Header("b").marks.misapplied);
  Put("b", "text");
  EXPECT_EQ(Header("b").marks, CounterMarks());
}

TEST_P(CounterTest, LeavesWhatIsNoCounterAsItIsWithAMark) {
  Mutation put = Mutation::Put("a", "eight by", In(Duration::Seconds(5)));  // as long as a counter
  put.kind = ValueKind::kEnvelope;
  put.schema = 7;
  put.owned = true;
  Must({put});
  const ValueHeader before = Header("a");
  const Version version = Add("a", 5);
  const auto record = Find("a");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->value, "eight by");
  ValueHeader expected = before;
  expected.version = version;
  expected.marks.misapplied = true;
  EXPECT_EQ(record->header, expected);
  Wait(Duration::Seconds(5));
  EXPECT_EQ(Value("a"), "absent");
}

TEST_P(CounterTest, AnExpiredBaseIsZeroAndItsExpiryForgotten) {
  Must({Owned(PutCounter("n", 100, In(Duration::Seconds(1)))), Mutation::Put("t", "text", In(Duration::Seconds(1)))});
  Add("n", kMax);
  EXPECT_TRUE(Header("n").marks.saturated);
  Wait(Duration::Seconds(1));
  for (const char* key : {"n", "t"}) {
    const Version version = Add(key, 5);
    ValueHeader expected;
    expected.version = version;
    expected.kind = ValueKind::kCounter;
    EXPECT_EQ(Header(key), expected);
    EXPECT_EQ(Number(key), 5);
  }
  Wait(Duration::Seconds(100));
  EXPECT_EQ(Number("n"), 5);
}

TEST_P(CounterTest, ALiveCounterKeepsItsHeader) {
  Mutation put = Owned(PutCounter("n", 10, In(Duration::Seconds(5))));
  put.schema = 3;
  Must({put});
  ValueHeader expected = Header("n");
  expected.version = Add("n", 1);
  EXPECT_EQ(Header("n"), expected);
  EXPECT_TRUE(Header("n").owned);
  EXPECT_EQ(Number("n"), 11);
  Wait(Duration::Seconds(5));
  EXPECT_EQ(Value("n"), "absent");
}

TEST_P(CounterTest, AddsBeforeTheExpiryCountUntilItAndThoseAfterAnew) {
  Must({PutCounter("n", 10, In(Duration::Seconds(1)))});
  Add("n", 1);
  Wait(Duration::Micros(999'999));
  Add("n", 1);
  EXPECT_EQ(Number("n"), 12);
  const auto before = NewView();
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Value("n"), "absent");
  Add("n", 1);
  EXPECT_EQ(Number("n"), 1);
  EXPECT_EQ(Find(*before, "n")->value, CounterValue(12));
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(Number("n"), 1);
  EXPECT_EQ(Find(*before, "n")->value, CounterValue(12));
}

// However an engine tidies up in the meantime: what an add met decides its fate, even after that is gone.
TEST_P(CounterTest, AnAddDoesNotOutliveTheExpiryOfItsBase) {
  durability_ = Durability::kNone;
  constexpr int kNothing = 0, kCompact = 1, kReopen = 2;
  const auto settle = [&](int how) {
    if (how == kCompact) IgnoreError(engine().Compact(KeyRange::All()));
    if (how == kReopen && engine().capabilities().persistent) Reopen();
  };
  for (const auto& [before, after] : {std::pair{kNothing, kCompact},
                                      {kCompact, kCompact},
                                      {kCompact, kReopen},
                                      {kReopen, kCompact},
                                      {kReopen, kReopen}}) {
    Open({});
    ASSERT_TRUE(engine().AssignProfile({"i", "j"}, Profile::kIngest));
    ASSERT_TRUE(engine().AssignProfile({"w", "x"}, Profile::kWindow));
    for (const std::string p : {"a", "i", "w"}) {
      Must({PutCounter(p + "n", 10, In(Duration::Seconds(1))),
            Mutation::Put(p + "t", "text", In(Duration::Seconds(1)))});
    }
    settle(before);
    for (const std::string p : {"a", "i", "w"}) {
      Must({Mutation::Add(p + "n", 1), Mutation::Add(p + "t", 1)});
    }
    Wait(Duration::Seconds(2));
    Put("unrelated", "", In(Duration::Micros(0)));
    settle(after);
    EXPECT_EQ(Contents(), "");
    EXPECT_EQ(Value("an"), "absent");
    Add("an", 5);
    EXPECT_EQ(Number("an"), 5);
  }
}

TEST_P(CounterTest, AddPutAndEraseInOneCommitApplyInTheirOrder) {
  Add("n", 100);
  Must({Mutation::Add("n", 1), Mutation::Erase("n"), Mutation::Add("n", 2)});
  EXPECT_EQ(Number("n"), 2);
  Must({Mutation::Erase("n"), Mutation::Add("n", 3), Mutation::Add("n", 4)});
  EXPECT_EQ(Number("n"), 7);
  Must({PutCounter("n", 10), Mutation::Add("n", 1)});
  EXPECT_EQ(Number("n"), 11);
  Must({Mutation::Add("n", 1), PutCounter("n", 20)});
  EXPECT_EQ(Number("n"), 20);
  Must({Mutation::Add("n", 1), Mutation::Erase("n")});
  EXPECT_EQ(Value("n"), "absent");
  Must({Mutation::Put("n", "text"), Mutation::Add("n", 1)});
  EXPECT_EQ(Value("n"), "text");
  EXPECT_TRUE(Header("n").marks.misapplied);
  Must({Mutation::EraseRange("", ""), Mutation::Add("n", 1), Mutation::Add("m", 1)});
  EXPECT_EQ(Number("n"), 1);
  EXPECT_EQ(Number("m"), 1);
  Must({Mutation::Add("n", 1), Mutation::EraseRange("n", "o"), Mutation::Add("n", 6)});
  EXPECT_EQ(Number("n"), 6);
}

TEST_P(CounterTest, ABatchOfAddsAddsUp) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 1; i <= 100; ++i) {
    batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Add("n", i)})));
  }
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_TRUE(ticket->Outcome());
  }
  EXPECT_EQ(Number("n"), 5050);
}

TEST_P(CounterTest, ViewsOlderThanTheAddDoNotShowIt) {
  const auto none = NewView();
  Add("n", 1);
  const auto one = NewView();
  for (int i = 0; i < 10; ++i) Add("n", 1);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  Add("n", 1);
  EXPECT_FALSE(Find(*none, "n"));
  EXPECT_EQ(Find(*one, "n")->value, CounterValue(1));
  EXPECT_EQ(ShownScan(*none), "");
  EXPECT_EQ(Entries(*one).at(0).value, CounterValue(1));
  EXPECT_EQ(Number("n"), 12);
}

TEST_P(CounterTest, ScansShowSumsAndMarks) {
  for (int i = 0; i < 3; ++i) {
    Must({Mutation::Add("a", 1), Mutation::Add("b", kMax), Mutation::Add("c", -1)});
  }
  Put("d", "text");
  Add("d", 1);
  for (const bool reverse : {false, true}) {
    ScanRequest request;
    request.reverse = reverse;
    const auto entries = Entries(*NewView(), request);
    ASSERT_EQ(entries.size(), 4u);
    for (const Found& entry : entries) {
      EXPECT_EQ((Record{entry.header, entry.value}), *Find(entry.key));
    }
  }
}

TEST_P(CounterTest, WhatWasOnlyAddedCanBeErased) {
  Add("n", 1);
  Add("n", 1);
  Erase("n");
  EXPECT_EQ(Value("n"), "absent");
  EXPECT_EQ(Contents(), "");
  Add("n", 5);
  EXPECT_EQ(Number("n"), 5);
}

}  // namespace
}  // namespace kvarts::test
