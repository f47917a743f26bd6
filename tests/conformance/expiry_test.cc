// Expiry: an expired value does not exist, from the very instant on; owned values wait for their owner.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class ExpiryTest : public EngineTest {
 protected:
  static constexpr ReadOptions kExpiredToo{.expired_too = true, .cost = nullptr};
  // Every key of a scan that shows expired values too.
  std::vector<Bytes> KeysExpiredToo() {
    ScanRequest request;
    request.options.expired_too = true;
    return KeysOf(Entries(*NewView(), request));
  }
};
KVARTS_ON_EVERY_ENGINE(ExpiryTest);

TEST_P(ExpiryTest, AValueIsGoneAtTheInstantAndNotBefore) {
  Put("a", "1", In(Duration::Seconds(10)));
  Wait(Duration::Micros(9'999'999));
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(Contents(), "a=1");
  Wait(Duration::Micros(1));
  EXPECT_EQ(Value("a"), "absent");
  EXPECT_EQ(Contents(), "");
  Wait(Duration::Seconds(1000));
  EXPECT_EQ(Value("a"), "absent");
}

TEST_P(ExpiryTest, HoldsForMultiGetsAndScansOfBothDirections) {
  Put("a", "1");
  Put("b", "2", In(Duration::Seconds(1)));
  Put("c", "3", In(Duration::Seconds(2)));
  Wait(Duration::Seconds(1));
  const auto view = NewView();
  EXPECT_EQ(ShownScan(*view), "a=1 c=3");
  EXPECT_EQ(ShownScan(*view, KeyRange::All(), true), "c=3 a=1");
  const std::vector<BytesView> keys = {"a", "b", "c"};
  std::vector<std::optional<Record>> out(3);
  ASSERT_TRUE(engine().Get(keys, out, {}));
  EXPECT_TRUE(out[0] && !out[1] && out[2]);
}

TEST_P(ExpiryTest, AViewKeepsItsOwnTime) {
  Put("a", "1", In(Duration::Seconds(10)));
  Wait(Duration::Seconds(9));
  const auto before = NewView();
  Wait(Duration::Seconds(1));
  const auto after = NewView();
  Wait(Duration::Seconds(20));
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(Value(*before, "a"), "1");
  EXPECT_EQ(ShownScan(*before), "a=1");
  EXPECT_EQ(Value(*after, "a"), "absent");
  EXPECT_EQ(ShownScan(*after), "");
}

TEST_P(ExpiryTest, WhatHasExpiredIsNotSeenAgainAfterAGetSawItGone) {
  durability_ = Durability::kNone;
  Put("a", "1", In(Duration::Micros(500)));
  bool gone = false;
  for (int i = 0; i < 1000; ++i) {
    if (i % 2 == 0) Wait(Duration::Micros(1));
    if (i % 7 == 0) Put("b", "");
    const bool seen = Find("a").has_value();
    EXPECT_FALSE(gone && seen);
    gone = gone || !seen;
  }
}

TEST_P(ExpiryTest, PreconditionsGoByTheTimeOfTheCommit) {
  const Version version = Put("a", "1", In(Duration::Seconds(10)));
  Wait(Duration::Micros(9'999'999));
  EXPECT_EQ(Holds({Present("a")}), "ok");
  EXPECT_EQ(Holds({VersionIs("a", version)}), "ok");
  EXPECT_EQ(Holds({Absent("a")}), "precondition_failed");
  const auto view = NewView();
  Wait(Duration::Micros(1));
  EXPECT_EQ(Value(*view, "a"), "1");
  EXPECT_EQ(Holds({Present("a")}), "precondition_failed");
  EXPECT_EQ(Holds({VersionIs("a", version)}), "precondition_failed");
  EXPECT_EQ(Holds({Absent("a")}), "ok");
  const auto failed = Try({}, {Present("a")});
  EXPECT_EQ(failed.error().field("version"), "absent");
}

TEST_P(ExpiryTest, WhatWasReadLapsesAtItsInstant) {
  const Version version = Put("a", "1");
  const Timestamp instant = In(Duration::Seconds(1));
  const auto codes = [&] {
    std::string all;
    for (const Precondition& p :
         {VersionIs("a", version), Present("a"), Absent("b"), RangeUnchanged("a", "b", version)}) {
      all += Holds({FromRead(Lapsing(p, instant))}) + " " + Holds({Lapsing(p, instant)}) + " ";
    }
    return all;
  };
  Wait(Duration::Micros(999'990));
  EXPECT_EQ(codes(), "ok ok ok ok ok ok ok ok ");
  clock().MoveTo(instant);
  const std::string both = "conflict precondition_failed ";
  EXPECT_EQ(codes(), both + both + both + both);
}

TEST_P(ExpiryTest, WhatWasSeenAtAViewLapsesAlthoughNothingWasWritten) {
  const Version version = Put("a", "1", In(Duration::Seconds(1)));
  Precondition seen = FromRead(Lapsing(VersionIs("a", version), In(Duration::Seconds(1))));
  seen.seen_at = NewView()->version();
  EXPECT_EQ(Holds({seen}), "ok");
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Holds({seen}), "conflict");
}

TEST_P(ExpiryTest, ARangeIsNotChangedByAnExpiry) {
  const Version since = Put("a", "1", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(2));
  EXPECT_EQ(Holds({RangeUnchanged("a", "b", since)}), "ok");
}

TEST_P(ExpiryTest, APutOverAnExpiredValueIsANewValue) {
  Must({Owned(Mutation::Put("a", "1", In(Duration::Seconds(1))))});
  Put("b", "1", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(2));
  for (const char* key : {"a", "b"}) {
    const Version version = Must({Mutation::Put(key, "2")}, {Absent(key)});
    const auto record = Find(key);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->value, "2");
    EXPECT_EQ(record->header.version, version);
    EXPECT_EQ(record->header.expiry, kNever);
    EXPECT_FALSE(record->header.owned);
  }
}

TEST_P(ExpiryTest, APutReplacesTheExpiry) {
  Put("a", "1", In(Duration::Seconds(1)));
  Put("a", "2", In(Duration::Seconds(5)));
  Put("b", "1", In(Duration::Seconds(5)));
  Put("b", "2", In(Duration::Seconds(1)));
  Put("c", "1", In(Duration::Seconds(1)));
  Put("c", "2");
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Contents(), "a=2 c=2");
  Wait(Duration::Seconds(4));
  EXPECT_EQ(Contents(), "c=2");
}

TEST_P(ExpiryTest, AnExpiredValueDoesNotUncoverAnOlderOne) {
  Put("a", "older");
  Put("a", "newer", In(Duration::Seconds(1)));
  Add("n", 5);
  Must({PutCounter("n", 7, In(Duration::Seconds(1)))});
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Contents(), "");
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(Contents(), "");
  EXPECT_EQ(Value("a"), "absent");
}

TEST_P(ExpiryTest, OwnedValuesStayReadableForTheirOwner) {
  const Version version = Must({Owned(Mutation::Put("o", "v", In(Duration::Seconds(1))))});
  Put("u", "v", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(100));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Value("o"), "absent");
    const auto record = Find("o", kExpiredToo);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->value, "v");
    EXPECT_EQ(record->header.version, version);
    EXPECT_TRUE(record->header.owned);
    EXPECT_EQ(Find(*NewView(), "o", kExpiredToo), record);
    EXPECT_EQ(KeysExpiredToo().front(), "o");
    ASSERT_TRUE(engine().Compact(KeyRange::All()));
    Wait(Duration::Seconds(100));
  }
  EXPECT_EQ(Contents(), "");
}

TEST_P(ExpiryTest, ReadsOfExpiredValuesShowLiveOnesTooButNoErasedOnes) {
  Must({Owned(Mutation::Put("a", "", In(Duration::Seconds(1)))), Mutation::Put("b", ""),
        Owned(Mutation::Put("c", "", In(Duration::Seconds(1)))),
        Owned(Mutation::Put("d", "", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  Erase("c");
  Must({Mutation::EraseRange("d", "e")});
  EXPECT_EQ(KeysExpiredToo(), (std::vector<Bytes>{"a", "b"}));
  EXPECT_FALSE(Find("c", kExpiredToo));
  EXPECT_FALSE(Find("d", kExpiredToo));
}

TEST_P(ExpiryTest, TheOwnerRemovesWithAPreconditionThatSeesExpiredValues) {
  const Version version = Must({Owned(Mutation::Put("o", "v", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  EXPECT_EQ(Holds({VersionIs("o", version)}), "precondition_failed");
  EXPECT_EQ(Holds({ExpiredToo(VersionIs("o", version))}), "ok");
  EXPECT_EQ(Holds({ExpiredToo(Present("o"))}), "ok");
  EXPECT_EQ(Holds({ExpiredToo(Absent("o"))}), "precondition_failed");
  const auto failed = Try({}, {ExpiredToo(Absent("o"))});
  EXPECT_EQ(failed.error().field("version"), version.ToString());
  Must({Mutation::Erase("o")}, {ExpiredToo(VersionIs("o", version))});
  EXPECT_EQ(Holds({ExpiredToo(VersionIs("o", version))}), "precondition_failed");
  EXPECT_EQ(Holds({ExpiredToo(Absent("o"))}), "ok");
  EXPECT_FALSE(Find("o", kExpiredToo));
}

TEST_P(ExpiryTest, TheOwnersRemovalLosesAgainstANewValue) {
  const Version old = Must({Owned(Mutation::Put("o", "v", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  Must({Owned(Mutation::Put("o", "w"))}, {Absent("o")});
  EXPECT_EQ(CodeOf(Try({Mutation::Erase("o")}, {FromRead(ExpiredToo(VersionIs("o", old)))})), "conflict");
  EXPECT_EQ(Value("o"), "w");
}

TEST_P(ExpiryTest, AnExpiryInThePastIsNoValue) {
  Wait(Duration::Seconds(10));
  Put("a", "1");
  Put("a", "2", {clock().Now().micros - 1});
  EXPECT_EQ(Value("a"), "absent");
  Put("a", "3");
  Put("a", "4", clock().Now());
  EXPECT_EQ(Value("a"), "absent");
  Put("b", "", Timestamp{0});
  EXPECT_EQ(Contents(), "");
  Must({Owned(Mutation::Put("o", "", Timestamp{1}))});
  EXPECT_EQ(Contents(), "");
  EXPECT_TRUE(Find("o", kExpiredToo));
}

TEST_P(ExpiryTest, TheLatestExpiryIsFarAway) {
  Put("a", "1", kLastTimestamp);
  Wait(Duration::Seconds(3'000'000'000));
  EXPECT_EQ(Value("a"), "1");
}

TEST_P(ExpiryTest, ATimeToLiveIsPositiveAndEndsInTime) {
  const Timestamp now = engine().Now();
  EXPECT_EQ(CodeOf(ExpiryAfter(now, Duration::Micros(0))), "invalid_argument");
  EXPECT_EQ(CodeOf(ExpiryAfter(now, Duration::Micros(-1))), "invalid_argument");
  EXPECT_EQ(CodeOf(ExpiryAfter(now, Duration::Micros(INT64_MAX))), "invalid_argument");
  const auto longest = Duration::Micros(static_cast<int64_t>(kLastTimestamp.micros - now.micros));
  EXPECT_EQ(CodeOf(ExpiryAfter(now, longest)), "ok");
  EXPECT_EQ(CodeOf(ExpiryAfter(now, Duration::Micros(longest.micros + 1))), "invalid_argument");
}

TEST_P(ExpiryTest, ManyValuesExpireEachAtItsInstant) {
  std::vector<Mutation> puts;
  for (int i = 1; i <= 500; ++i) {
    puts.push_back(Mutation::Put("k" + std::to_string(1000 + i), "", In(Duration::Millis(i))));
  }
  Must(std::move(puts));
  for (int passed = 0; passed <= 500; passed += 50) {
    ScanRequest request;
    EXPECT_EQ(Entries(*NewView(), request).size(), static_cast<size_t>(500 - passed));
    if (passed == 250) {
      ASSERT_TRUE(engine().Compact(KeyRange::All()));
    }
    Wait(Duration::Millis(50));
  }
}

}  // namespace
}  // namespace kvarts::test
