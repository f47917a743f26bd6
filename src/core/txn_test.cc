// Txn: a transaction sees its own writes, and what it read becomes the conditions under which it commits.
#include "core/txn.h"

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class TxnTest : public EngineTest {
 protected:
  Txn Begin() { return Txn(engine(), context_); }
  // What becomes of the transaction. Engines answer a lost race with `conflict`, as there is no body to run again.
  std::string Commits(Txn& txn) { return CodeOf(CommitAndWait(engine(), txn.TakeCommit(Durability::kNone))); }
  static std::string Get(Txn& txn, BytesView key) {
    const auto record = txn.Get(key);
    EXPECT_TRUE(record) << record.error();
    return record ? ValueOf(*record) : "error";
  }
  static int64_t Count(Txn& txn, BytesView key) {
    const auto record = txn.Get(key);
    EXPECT_TRUE(record) << record.error();
    return record && *record ? CounterNumber((*record)->header, (*record)->value) : -1;
  }
  // The keys and values of a scan to its end, as "a=1 b=2".
  static std::string Scan(Txn& txn, const KeyRange& range = KeyRange::All(), bool reverse = false, size_t page = 1000) {
    std::vector<Found> found;
    ScanRequest request;
    request.range = range;
    request.reverse = reverse;
    request.max_entries = page;
    while (true) {
      const auto scanned = txn.Scan(request);
      EXPECT_TRUE(scanned) << scanned.error();
      if (!scanned) break;
      for (const Found& entry : EntriesOf(*scanned)) found.push_back(entry);
      if (!scanned->rest()) break;
      request.range = *scanned->rest();
    }
    return Shown(found);
  }
  // A scan of one page.
  static std::string ScanPage(Txn& txn, const KeyRange& range, bool reverse, size_t page) {
    ScanRequest request;
    request.range = range;
    request.reverse = reverse;
    request.max_entries = page;
    const auto scanned = txn.Scan(request);
    EXPECT_TRUE(scanned) << scanned.error();
    return scanned ? Shown(EntriesOf(*scanned)) : "error";
  }
  static std::string PeekScan(Txn& txn, const KeyRange& range) {
    ScanRequest request;
    request.range = range;
    const auto scanned = txn.PeekScan(request);
    EXPECT_TRUE(scanned) << scanned.error();
    return scanned ? Shown(EntriesOf(*scanned)) : "error";
  }

  Context context_;
};
KVARTS_ON_EVERY_ENGINE(TxnTest);

TEST_P(TxnTest, SeesItsOwnWrites) {
  Put("a", "1");
  Put("b", "2");
  Txn txn = Begin();
  txn.Put("a", "11");
  txn.Erase("b");
  txn.Put("c", "3");
  EXPECT_EQ(Get(txn, "a"), "11");
  EXPECT_EQ(Get(txn, "b"), "absent");
  EXPECT_EQ(Get(txn, "c"), "3");
  EXPECT_EQ(Contents(), "a=1 b=2");
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Contents(), "a=11 c=3");
}

TEST_P(TxnTest, GetManySeesItsOwnWrites) {
  Must({Mutation::Put("a", "1"), Mutation::Put("b", "2"), Mutation::Put("c", "3"), PutCounter("n", 5)});
  Txn txn = Begin();
  txn.Put("a", "11");
  txn.Erase("b");
  txn.Add("n", 2);
  txn.Add("m", 4);
  const std::vector<BytesView> keys = {"c", "b", "a", "none", "n", "m"};
  std::vector<std::optional<Record>> out(keys.size());
  ASSERT_TRUE(txn.GetMany(keys, out));
  EXPECT_EQ(ValueOf(out[0]), "3");
  EXPECT_FALSE(out[1]);
  EXPECT_EQ(ValueOf(out[2]), "11");
  EXPECT_FALSE(out[3]);
  ASSERT_TRUE(out[4] && out[5]);
  EXPECT_EQ(CounterNumber(out[4]->header, out[4]->value), 7);
  EXPECT_EQ(CounterNumber(out[5]->header, out[5]->value), 4);
}

TEST_P(TxnTest, ScansSeeItsOwnWritesInBothDirections) {
  for (const char* key : {"a", "c", "e", "g"}) Put(key, "0");
  Txn txn = Begin();
  txn.Put("b", "1");
  txn.Put("c", "1");
  txn.Erase("e");
  txn.Put("h", "1");
  for (const size_t page : {1, 2, 3, 1000}) {
    EXPECT_EQ(Scan(txn, KeyRange::All(), false, page), "a=0 b=1 c=1 g=0 h=1") << page;
    EXPECT_EQ(Scan(txn, KeyRange::All(), true, page), "h=1 g=0 c=1 b=1 a=0") << page;
    EXPECT_EQ(Scan(txn, {"b", "g"}, false, page), "b=1 c=1") << page;
    EXPECT_EQ(Scan(txn, {"b", "g"}, true, page), "c=1 b=1") << page;
  }
}

TEST_P(TxnTest, AnErasedRangeIsEmptyUntilSomethingIsPutThere) {
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "0");
  Txn txn = Begin();
  txn.Put("b1", "1");
  txn.EraseRange({"b", "d"});
  txn.Put("c", "2");
  txn.Add("cc", 3);
  EXPECT_EQ(Get(txn, "b"), "absent");
  EXPECT_EQ(Get(txn, "b1"), "absent");
  EXPECT_EQ(Get(txn, "c"), "2");
  EXPECT_EQ(Count(txn, "cc"), 3);
  txn.Erase("cc");
  for (const size_t page : {1, 2, 1000}) {
    EXPECT_EQ(Scan(txn, KeyRange::All(), false, page), "a=0 c=2 d=0");
    EXPECT_EQ(Scan(txn, KeyRange::All(), true, page), "d=0 c=2 a=0");
  }
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Contents(), "a=0 c=2 d=0");
}

TEST_P(TxnTest, AnEmptyRangeIsNotErased) {
  Put("a", "1");
  Txn txn = Begin();
  txn.EraseRange({"b", "b"});
  EXPECT_TRUE(txn.mutations().empty());
}

TEST_P(TxnTest, AddsAreSeenOnTopOfWhatIsThere) {
  Must({PutCounter("n", 40)});
  Txn txn = Begin();
  txn.Add("n", 1);
  EXPECT_EQ(Count(txn, "n"), 41);
  txn.Add("n", 1);
  EXPECT_EQ(Count(txn, "n"), 42);
  txn.Erase("n");
  txn.Add("n", 7);
  EXPECT_EQ(Count(txn, "n"), 7);
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Number("n"), 7);
}

TEST_P(TxnTest, AnAddToAnExpiredCounterBeginsAtZero) {
  Must({PutCounter("n", 40, In(Duration::Seconds(1)))});
  Wait(Duration::Seconds(1));
  Txn txn = Begin();
  txn.Add("n", 2);
  EXPECT_EQ(Count(txn, "n"), 2);
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Number("n"), 2);
}

TEST_P(TxnTest, ItsOwnExpiredValueIsNotThere) {
  Txn txn = Begin();
  PutOptions options;
  options.expiry = engine().Now();
  txn.Put("a", "1", options);
  EXPECT_EQ(Get(txn, "a"), "absent");
  EXPECT_EQ(Scan(txn), "");
  const auto shown = txn.GetExpired("a");
  ASSERT_TRUE(shown && *shown);
  EXPECT_EQ((*shown)->value, "1");
}

TEST_P(TxnTest, PutsCarryTheirOptions) {
  Txn txn = Begin();
  PutOptions options;
  options.expiry = In(Duration::Seconds(5));
  options.kind = ValueKind::kEnvelope;
  options.owned = true;
  options.schema = 9;
  txn.Put("a", "1", options);
  const auto own = txn.Get("a");
  ASSERT_TRUE(own && *own);
  EXPECT_EQ((*own)->header.schema, 9u);
  EXPECT_EQ(Commits(txn), "ok");
  const auto record = Find("a");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->header.expiry, options.expiry);
  EXPECT_EQ(record->header.kind, ValueKind::kEnvelope);
  EXPECT_TRUE(record->header.owned);
  EXPECT_EQ(record->header.schema, 9u);
}

TEST_P(TxnTest, ReadsAtOneView) {
  Put("a", "1");
  Put("b", "1");
  Txn txn = Begin();
  EXPECT_EQ(Get(txn, "a"), "1");
  Must({Mutation::Put("a", "2"), Mutation::Put("b", "2"), Mutation::Put("c", "2")});
  EXPECT_EQ(Get(txn, "b"), "1");
  EXPECT_EQ(Scan(txn), "a=1 b=1");
}

TEST_P(TxnTest, SavepointsTakeWritesBackAndNothingElse) {
  Put("a", "0");
  Txn txn = Begin();
  txn.Put("a", "1");
  const auto first = txn.Save();
  txn.Put("a", "2");
  txn.Put("b", "2");
  EXPECT_EQ(Get(txn, "a"), "2");
  const auto second = txn.Save();
  txn.EraseRange(KeyRange::All());
  EXPECT_EQ(Scan(txn), "");
  txn.RollBack(second);
  EXPECT_EQ(Scan(txn), "a=2 b=2");
  txn.RollBack(first);
  EXPECT_EQ(Scan(txn), "a=1");
  EXPECT_EQ(Get(txn, "b"), "absent");
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Contents(), "a=1");
}

TEST_P(TxnTest, RollingBackTakesEffectsBackToo) {
  Txn txn = Begin();
  int called = 0;
  txn.AfterCommit([&](Version) { called += 1; });
  const auto savepoint = txn.Save();
  txn.AfterCommit([&](Version) { called += 10; });
  txn.RollBack(savepoint);
  for (const auto& effect : txn.TakeEffects()) effect({});
  EXPECT_EQ(called, 1);
}

TEST_P(TxnTest, WhatWasReadStaysReadAfterARollBack) {
  Txn txn = Begin();
  const auto savepoint = txn.Save();
  EXPECT_EQ(Get(txn, "a"), "absent");
  txn.Put("a", "mine");
  txn.RollBack(savepoint);
  txn.Put("b", "");
  Put("a", "theirs");
  EXPECT_EQ(Commits(txn), "conflict");
}

TEST_P(TxnTest, ABlindWriteHasNoConditions) {
  Txn txn = Begin();
  txn.Put("a", "mine");
  Put("a", "theirs");
  EXPECT_FALSE(txn.ViewVersion());
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Value("a"), "mine");
}

TEST_P(TxnTest, AValueThatWasReadMustNotHaveChanged) {
  Put("a", "1");
  for (const bool many : {false, true}) {
    Txn txn = Begin();
    const BytesView key = "a";
    std::optional<Record> record;
    if (many) {
      ASSERT_TRUE(txn.GetMany({&key, 1}, {&record, 1}));
    } else {
      ASSERT_EQ(Get(txn, key), "1");
    }
    txn.Put("b", "");
    Put("a", "1");
    EXPECT_EQ(Commits(txn), "conflict") << many;
  }
}

TEST_P(TxnTest, AKeyThatWasNotThereMustStillNotBe) {
  for (const bool many : {false, true}) {
    Txn txn = Begin();
    const Bytes name = many ? "a" : "b";
    const BytesView key = name;
    std::optional<Record> record;
    if (many) {
      ASSERT_TRUE(txn.GetMany({&key, 1}, {&record, 1}));
    } else {
      ASSERT_EQ(Get(txn, key), "absent");
    }
    txn.Put("c", "");
    Put(key, "");
    EXPECT_EQ(Commits(txn), "conflict") << many;
  }
}

TEST_P(TxnTest, WhatLiesBeneathAnAddWasReadWithIt) {
  Must({PutCounter("n", 1), PutCounter("m", 1)});
  Txn txn = Begin();
  txn.Add("n", 1);
  txn.Add("m", 1);
  EXPECT_EQ(Count(txn, "n"), 2);
  Add("m", 1);
  Txn other = Begin();
  other.Add("m", 1);
  const BytesView key = "m";
  std::optional<Record> record;
  ASSERT_TRUE(other.GetMany({&key, 1}, {&record, 1}));
  EXPECT_EQ(Commits(txn), "ok") << "m was added to, but not read";
  EXPECT_EQ(Commits(other), "conflict");
}

TEST_P(TxnTest, ItsOwnWritesAreNotReadFromOthers) {
  Put("a", "1");
  Txn txn = Begin();
  txn.Put("a", "2");
  EXPECT_EQ(Get(txn, "a"), "2");
  txn.EraseRange({"b", "c"});
  EXPECT_EQ(Get(txn, "b1"), "absent");
  Must({Mutation::Put("a", "3"), Mutation::Put("b1", "3")});
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_EQ(Contents(), "a=2");
}

TEST_P(TxnTest, AScannedRangeMustNotHaveChanged) {
  for (const char* key : {"b", "d", "f"}) Put(key, "0");
  const auto after = [&](const std::vector<Mutation>& others) {
    Txn txn = Begin();
    EXPECT_EQ(Scan(txn, {"b", "f"}), "b=0 d=0");
    txn.Put("z", "");
    Must(others);
    return Commits(txn);
  };
  EXPECT_EQ(after({Mutation::Put("a", "0")}), "ok");
  EXPECT_EQ(after({Mutation::Put("f", "0")}), "ok");
  EXPECT_EQ(after({Mutation::Put("d", "0")}), "conflict");
  EXPECT_EQ(after({Mutation::Put("c", "0"), Mutation::Erase("c")}), "conflict") << "a phantom, gone again";
  EXPECT_EQ(after({Mutation::EraseRange("e", "g"), Mutation::Put("f", "0")}), "conflict");
  EXPECT_EQ(after({Mutation::Add("e", 1), Mutation::Erase("e")}), "conflict");
}

TEST_P(TxnTest, OfAPartialPageOnlyWhatItShowedMustNotHaveChanged) {
  for (const char* key : {"b", "d", "f", "h"}) Put(key, "0");
  const auto after = [&](bool reverse, BytesView key) {
    Txn txn = Begin();
    EXPECT_EQ(ScanPage(txn, {"a", "i"}, reverse, 2), reverse ? "h=0 f=0" : "b=0 d=0");
    txn.Put("z", "");
    Must({Mutation::Put(key, "0")});
    return Commits(txn);
  };
  EXPECT_EQ(after(false, "d"), "conflict");
  EXPECT_EQ(after(false, "f"), "ok");
  EXPECT_EQ(after(true, "f"), "conflict");
  EXPECT_EQ(after(true, "d"), "ok");
  for (const char* phantom : {"a", "aa", "c"}) {
    EXPECT_EQ(after(false, phantom), "conflict") << phantom;
    Erase(phantom);
  }
  EXPECT_EQ(after(false, "dd"), "ok");
  Erase("dd");
  for (const char* phantom : {"ff", "hh"}) {
    EXPECT_EQ(after(true, phantom), "conflict") << phantom;
    Erase(phantom);
  }
  EXPECT_EQ(after(true, "ee"), "ok");
}

TEST_P(TxnTest, AnEmptyScanMustStayEmpty) {
  Txn txn = Begin();
  EXPECT_EQ(Scan(txn, {"a", "b"}), "");
  txn.Put("z", "");
  Put("a1", "");
  EXPECT_EQ(Commits(txn), "conflict");
  Txn nothing = Begin();
  EXPECT_EQ(Scan(nothing, {"b", "a"}), "");
  nothing.Put("z", "");
  Put("a2", "");
  EXPECT_EQ(Commits(nothing), "ok");
}

TEST_P(TxnTest, WhatWasReadMustNotHaveExpired) {
  Put("a", "1", In(Duration::Seconds(1)));
  Txn get = Begin();
  Txn scan = Begin();
  Txn many = Begin();
  Txn elsewhere = Begin();
  ASSERT_EQ(Get(get, "a"), "1");
  ASSERT_EQ(Scan(scan), "a=1");
  const BytesView key = "a";
  std::optional<Record> record;
  ASSERT_TRUE(many.GetMany({&key, 1}, {&record, 1}));
  ASSERT_EQ(Get(elsewhere, "b"), "absent");
  for (Txn* txn : {&get, &scan, &many, &elsewhere}) txn->Put("z", "");
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Commits(get), "conflict");
  EXPECT_EQ(Commits(scan), "conflict");
  EXPECT_EQ(Commits(many), "conflict");
  EXPECT_EQ(Commits(elsewhere), "ok");
}

TEST_P(TxnTest, WhatHadExpiredIsNotThereAndStaysSo) {
  Put("a", "1", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(1));
  Txn txn = Begin();
  EXPECT_EQ(Get(txn, "a"), "absent");
  txn.Put("z", "");
  EXPECT_EQ(Commits(txn), "ok");
}

TEST_P(TxnTest, GetExpiredShowsOwnedValuesBeyondTheirTime) {
  Must({Owned(Mutation::Put("a", "1", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  Txn txn = Begin();
  EXPECT_EQ(Get(txn, "a"), "absent");
  const auto shown = txn.GetExpired("a");
  ASSERT_TRUE(shown && *shown);
  EXPECT_EQ((*shown)->value, "1");
  txn.Erase("a");
  EXPECT_EQ(Commits(txn), "ok");
  EXPECT_FALSE(Find("a", {.expired_too = true}));
}

TEST_P(TxnTest, WhatGetExpiredShowedMustNotHaveChanged) {
  Must({Owned(Mutation::Put("a", "1", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  Txn txn = Begin();
  ASSERT_TRUE(txn.GetExpired("a"));
  txn.Erase("a");
  Put("a", "again");
  EXPECT_EQ(Commits(txn), "conflict");
  EXPECT_EQ(Value("a"), "again");
}

TEST_P(TxnTest, OnWhatItPeeksAtACommitDoesNotRest) {
  for (const char* key : {"b", "d"}) Put(key, "0");
  Put("e", "0", In(Duration::Seconds(1)));
  Txn txn = Begin();
  const std::vector<BytesView> keys = {"b", "c", "e"};
  std::vector<std::optional<Record>> out(keys.size());
  ASSERT_TRUE(txn.PeekMany(keys, out));
  EXPECT_EQ(ValueOf(out[0]) + ValueOf(out[1]) + ValueOf(out[2]), "0absent0");
  EXPECT_EQ(PeekScan(txn, {"a", "f"}), "b=0 d=0 e=0");
  txn.Put("z", "");
  Must({Mutation::Put("b", "1"), Mutation::Put("c", "1"), Mutation::Erase("d")});
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Commits(txn), "ok");
}

TEST_P(TxnTest, PeeksShowItsViewAndItsOwnWrites) {
  for (const char* key : {"a", "b", "c"}) Put(key, "0");
  Txn txn = Begin();
  ASSERT_EQ(Get(txn, "a"), "0");
  Must({Mutation::Put("a", "1"), Mutation::Put("d", "1")});
  txn.Erase("b");
  txn.Put("e", "2");
  const std::vector<BytesView> keys = {"a", "b", "d", "e"};
  std::vector<std::optional<Record>> out(keys.size());
  ASSERT_TRUE(txn.PeekMany(keys, out));
  EXPECT_EQ(ValueOf(out[0]), "0");
  EXPECT_FALSE(out[1]);
  EXPECT_FALSE(out[2]);
  EXPECT_EQ(ValueOf(out[3]), "2");
  EXPECT_EQ(PeekScan(txn, {"a", "f"}), "a=0 c=0 e=2");
}

TEST_P(TxnTest, AStatedConditionIsNotAConflict) {
  const Version version = Put("a", "1");
  Txn txn = Begin();
  txn.Require(VersionIs("a", version));
  txn.Put("b", "");
  EXPECT_EQ(Commits(txn), "ok");
  Txn late = Begin();
  late.Require(VersionIs("a", version));
  late.Put("b", "");
  Put("a", "2");
  EXPECT_EQ(Commits(late), "precondition_failed");
}

TEST_P(TxnTest, TimeIsThatOfItsView) {
  Put("a", "");
  Txn txn = Begin();
  ASSERT_EQ(Get(txn, "a"), "");
  const Timestamp began = txn.Now();
  Wait(Duration::Seconds(10));
  EXPECT_EQ(txn.Now(), began);
  EXPECT_GE(engine().Now().micros, began.micros + 10'000'000);
}

TEST_P(TxnTest, RandomBitsDiffer) {
  Txn a = Begin();
  Txn b = Begin();
  EXPECT_NE(a.Random(), a.Random());
  EXPECT_NE(a.Random(), b.Random());
}

TEST_P(TxnTest, CountsWhatItCosts) {
  Must({Mutation::Put("a", "12345"), Mutation::Put("b", "1")});
  Txn txn = Begin();
  ASSERT_EQ(Get(txn, "a"), "12345");
  ASSERT_EQ(Scan(txn), "a=12345 b=1");
  txn.Put("c", "123");
  EXPECT_EQ(txn.cost().read.keys, 3u);
  EXPECT_EQ(txn.cost().read.bytes, 14u);
  EXPECT_EQ(txn.cost().keys_written, 1u);
  EXPECT_EQ(txn.cost().bytes_written, 4u);
}

TEST_P(TxnTest, WhatLiesBeneathIsReadPastItsOwnWrites) {
  Put("a", "1");
  Txn txn = Begin();
  txn.Put("a", "2");
  const BytesView key = "a";
  std::optional<Record> record;
  ASSERT_TRUE(txn.GetBeneath({&key, 1}, {&record, 1}));
  EXPECT_EQ(ValueOf(record), "1");
  EXPECT_EQ(Get(txn, "a"), "2");
  Put("a", "3");
  EXPECT_EQ(Commits(txn), "conflict");
}

}  // namespace
}  // namespace kvarts::test
