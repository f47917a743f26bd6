#include "model/structure/structures.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <thread>

#include "core/job_runner.h"
#include "model/structure/key_expiry.h"
#include "model/structure/names.h"
#include "model/structure/scan_cursors.h"
#include "model/structure/strings.h"
#include "model/structure/structure_erase.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class StructuresTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    databases_ = Databases::Open(store());
  }
  void TearDown() override {
    databases_.reset();
    StoreTest::TearDown();
  }

  // Runs it as one transaction, which must succeed.
  template <class Change>
  void Do(const Change& change) {
    MustRun([&](Txn& txn) -> Status {
      Structures keys(txn, *databases_);
      KVARTS_CHECK_OK(change(keys));
      keys.Flush();
      return {};
    });
  }
  void Set(uint32_t database, BytesView name, BytesView text, Timestamp expiry = kNever) {
    Do([&](Structures& keys) -> Status {
      KVARTS_TRY(Key * key, keys.Open(database, name));
      KVARTS_CHECK_OK(key->SetText(Bytes(text)));
      if (expiry != kNever) keys.Expire(*key, expiry);
      return {};
    });
  }
  std::string TextOf(uint32_t database, BytesView name) {
    std::string text;
    Do([&](Structures& keys) -> Status {
      KVARTS_TRY(const Key* key, keys.Open(database, name));
      text = key->exists() ? key->text() : "nothing";
      return {};
    });
    return text;
  }
  uint64_t Count(uint32_t database) {
    uint64_t count = 0;
    Do([&](Structures& keys) -> Status {
      KVARTS_TRY(count, keys.CountKeys(database));
      return {};
    });
    return count;
  }
  std::vector<std::string> Names(uint32_t database, BytesView pattern) {
    std::vector<std::string> names;
    Do([&](Structures& keys) -> Status {
      names.clear();
      NameScan scan(keys, database, pattern);
      while (!scan.done()) {
        KVARTS_CHECK_OK(scan.Next(2, [&](BytesView name, Type) { names.emplace_back(name); }));
      }
      return {};
    });
    return names;
  }
  // Puts members from..to into a set, in one transaction.
  void AddMembers(BytesView name, int from, int to) {
    Do([&](Structures& keys) -> Status {
      KVARTS_TRY(Key * key, keys.Open(0, name));
      KVARTS_TRY(Members * set, key->Make<Members>(Type::kSet));
      for (int i = from; i < to; ++i) KVARTS_CHECK_OK(set->Put("member" + std::to_string(i), {}));
      key->Changed();
      return {};
    });
  }
  // How many a set says that it has, and how many it has.
  std::pair<uint64_t, uint64_t> SizeOf(uint32_t database, BytesView name) {
    std::pair<uint64_t, uint64_t> sizes;
    Do([&](Structures& keys) -> Status {
      sizes = {};
      KVARTS_TRY(Key * key, keys.Open(database, name));
      KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
      if (set == nullptr) return {};
      sizes.first = set->size();
      return set->ForEach([&](BytesView, BytesView) { ++sizes.second; });
    });
    return sizes;
  }
  void RunJobs() {
    const auto expiry = StartKeyExpiry(store());
    ASSERT_TRUE(expiry) << expiry.error();
    JobRunner runner(store(), {KeyExpiryKind(*databases_), StructureEraseKind(!engine().capabilities().shared)});
    for (int rounds = 0; rounds < 2; ++rounds) {
      const auto erase = StartStructureErase(store());
      ASSERT_TRUE(erase) << erase.error();
      TakeTurns(runner);
    }
  }
  static void TakeTurns(JobRunner& runner) {
    for (int turns = 0; turns < 100; ++turns) {
      const auto turn = runner.TakeTurn();
      ASSERT_TRUE(turn) << turn.error();
      if (!turn->worked) return;
    }
  }
  size_t Stored(Space space) {
    ScanRequest request;
    request.range = SpaceRange(space);
    request.options.expired_too = true;
    return Entries(*NewView(), request).size();
  }

  std::unique_ptr<Databases> databases_;
};
KVARTS_ON_EVERY_ENGINE(StructuresTest);

TEST_P(StructuresTest, AnExpiryThatWasReplacedLeavesNothing) {
  const auto entries = [this] {
    ScanRequest request;
    request.range = SpaceRange(Space::kExpiry);
    return Entries(*NewView(), request).size();
  };
  const Timestamp late{4'000'000'000'000'000};
  for (int i = 0; i < 5; ++i) Set(0, "session", std::to_string(i), {late.micros + i});
  EXPECT_EQ(entries(), 1u);
  Set(0, "session", "the same", {late.micros + 4});
  EXPECT_EQ(entries(), 1u);
  Set(0, "session", "for ever");
  EXPECT_EQ(entries(), 0u);
  Set(0, "session", "once more", late);
  Do([](Structures& keys) -> Status {
    KVARTS_TRY(Key * key, keys.Open(0, "session"));
    KVARTS_TRY(Key * other, keys.Open(0, "renamed"));
    key->MoveTo(other);
    return {};
  });
  EXPECT_EQ(entries(), 1u);
  Do([](Structures& keys) -> Status {
    KVARTS_TRY(Key * key, keys.Open(0, "renamed"));
    key->Remove();
    return {};
  });
  EXPECT_EQ(entries(), 0u);
}

TEST_P(StructuresTest, KeysAreThereForOthersOnceTheyAreHandedOver) {
  EXPECT_EQ(TextOf(0, "a"), "nothing");
  Set(0, "a", "1");
  EXPECT_EQ(TextOf(0, "a"), "1");
  EXPECT_EQ(TextOf(1, "a"), "nothing");
  EXPECT_EQ(Count(0), 1u);
  EXPECT_EQ(Count(1), 0u);
}

TEST_P(StructuresTest, AKeyThatIsChangedOftenIsWrittenOnce) {
  const auto increment = [&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    for (int i = 0; i < 100; ++i) {
      KVARTS_TRY(Key * key, keys.Open(0, "n"));
      KVARTS_CHECK_OK(IncrementBy(*key, 1));
    }
    keys.Flush();
    EXPECT_EQ(txn.mutations().size(), 2u) << "the key, and the count of keys";
    return {};
  };
  MustRun(increment);
  EXPECT_EQ(TextOf(0, "n"), "100");
}

TEST_P(StructuresTest, WhatIsSweptAwayIsAsManyAsWasCounted) {
  Set(0, "stays", "1");
  Set(0, "goes", "1", {clock().Now().micros + 5'000'000});
  Set(0, "comes again", "1", {clock().Now().micros + 5'000'000});
  EXPECT_EQ(Count(0), 3u);
  clock().Advance(Duration::Seconds(6));
  EXPECT_EQ(TextOf(0, "goes"), "nothing");
  Set(0, "comes again", "2");
  EXPECT_EQ(Count(0), 3u) << "what has expired is stored, and counted";
  RunJobs();
  EXPECT_EQ(Count(0), 2u);
  EXPECT_EQ(Stored(Space::kStructures), 2u);
  EXPECT_EQ(Stored(Space::kExpiry), 0u);
  EXPECT_EQ(TextOf(0, "comes again"), "2");
}

TEST_P(StructuresTest, ADatabaseThatIsFlushedIsANewOne) {
  Set(0, "a", "1");
  Set(1, "a", "2");
  Do([](Structures& keys) -> Status {
    const uint32_t number = 0;
    return keys.FlushDatabases({&number, 1});
  });
  EXPECT_EQ(TextOf(0, "a"), "nothing");
  EXPECT_EQ(TextOf(1, "a"), "2");
  EXPECT_EQ(Count(0), 0u);
  Set(0, "a", "3");
  EXPECT_EQ(Count(0), 1u);
  EXPECT_EQ(Stored(Space::kStructures), 2u);
}

TEST_P(StructuresTest, DatabasesAreSwapped) {
  Set(0, "a", "1");
  Set(1, "b", "2");
  Do([](Structures& keys) { return keys.SwapDatabases(0, 1); });
  EXPECT_EQ(TextOf(1, "a"), "1");
  EXPECT_EQ(TextOf(0, "b"), "2");
  EXPECT_THAT(Names(0, "*"), ElementsAre("b"));
}

// A writer that has read which database a number is, and whose commit comes behind the flush.
TEST_P(StructuresTest, AWriterThatLosesAgainstAFlushWritesIntoTheNewDatabase) {
  Set(0, "a", "1");
  bool flushed = false;
  MustRun([&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(Key * key, keys.Open(0, "late"));
    if (!std::exchange(flushed, true)) {
      std::thread([&] {
        Do([](Structures& others) -> Status {
          const uint32_t number = 0;
          return others.FlushDatabases({&number, 1});
        });
      }).join();
    }
    KVARTS_CHECK_OK(key->SetText("2"));
    keys.Flush();
    return {};
  });
  EXPECT_EQ(TextOf(0, "late"), "2");
  EXPECT_EQ(TextOf(0, "a"), "nothing");
}

TEST_P(StructuresTest, NamesAreFoundWhereverTheyLie) {
  for (const char* name : {"a", "ab", "abc", "b", "{ab}x", "ab{t}", "", "x{}y"}) Set(0, name, "1");
  EXPECT_THAT(Names(0, "ab*"), ElementsAre("ab", "abc", "ab{t}"));
  EXPECT_THAT(Names(0, "{ab}*"), ElementsAre("{ab}x"));
  EXPECT_THAT(Names(0, ""), ElementsAre(""));
  EXPECT_THAT(Names(0, "nobody*"), IsEmpty());
  EXPECT_EQ(Names(0, "*").size(), 8u);
}

TEST_P(StructuresTest, WhatOthersChangeIsNoticed) {
  Set(0, "n", "0");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 25; ++n) {
        Do([](Structures& keys) -> Status {
          KVARTS_TRY(Key * key, keys.Open(0, "n"));
          KVARTS_CHECK_OK(IncrementBy(*key, 1));
          return {};
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(TextOf(0, "n"), "100");
}

TEST_P(StructuresTest, MembersAreThereInlineAndSpreadOut) {
  AddMembers("set", 0, 10);
  EXPECT_THAT(SizeOf(0, "set"), Pair(10, 10));
  EXPECT_EQ(Stored(Space::kStructureMembers), 0u);
  AddMembers("set", 5, 700);
  EXPECT_THAT(SizeOf(0, "set"), Pair(700, 700));
  EXPECT_EQ(Stored(Space::kStructureMembers), 700u);
  AddMembers("set", 690, 710);
  EXPECT_THAT(SizeOf(0, "set"), Pair(710, 710));
}

TEST_P(StructuresTest, ASetThatLacksAMemberIsDamaged) {
  AddMembers("set", 0, 300);
  ScanRequest request;
  request.range = SpaceRange(Space::kStructureMembers);
  const auto members = Entries(*NewView(), request);
  ASSERT_EQ(members.size(), 300u);
  MustRun([&](Txn& txn) -> Status {
    txn.Erase(members[150].key);
    return {};
  });
  const auto read = store().Run([&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(Key * key, keys.Open(0, "set"));
    KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
    return set->ForEach([](BytesView, BytesView) {});
  });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::kCorruption);
}

TEST_P(StructuresTest, WhatWasDroppedIsTakenAwayByAJob) {
  for (const char* name : {"removed", "replaced", "expired", "stays", "renamed"}) AddMembers(name, 0, 300);
  Do([](Structures& keys) -> Status {
    KVARTS_TRY(Key * removed, keys.Open(0, "removed"));
    removed->Remove();
    KVARTS_TRY(Key * expired, keys.Open(0, "expired"));
    keys.Expire(*expired, {keys.Now().micros + 1'000'000});
    KVARTS_TRY(Key * renamed, keys.Open(0, "renamed"));
    KVARTS_TRY(Key * other, keys.Open(0, "other"));
    renamed->MoveTo(other);
    return {};
  });
  Set(0, "replaced", "text");
  EXPECT_EQ(Stored(Space::kStructureMembers), 1500u) << "so far nobody had to wait";
  clock().Advance(Duration::Seconds(2));
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), 600u);
  EXPECT_EQ(Stored(Space::kStructuresDropped), 0u);
  EXPECT_THAT(SizeOf(0, "stays"), Pair(300, 300));
  EXPECT_THAT(SizeOf(0, "other"), Pair(300, 300));
  EXPECT_EQ(Count(0), 3u);
}

TEST_P(StructuresTest, WhatExpiredIsTakenAwayAlsoWhenSomethingElseTookItsPlace) {
  AddMembers("set", 0, 300);
  Do([](Structures& keys) -> Status {
    KVARTS_TRY(Key * key, keys.Open(0, "set"));
    keys.Expire(*key, {keys.Now().micros + 1'000'000});
    return {};
  });
  clock().Advance(Duration::Seconds(2));
  AddMembers("set", 0, 200);
  EXPECT_THAT(SizeOf(0, "set"), Pair(200, 200));
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), 200u);
  EXPECT_EQ(Count(0), 1u);
}

TEST_P(StructuresTest, AFlushLeavesNothingOfMembers) {
  AddMembers("a", 0, 300);
  AddMembers("b", 0, 300);
  Set(0, "c", "1");
  Do([](Structures& keys) -> Status {
    const uint32_t number = 0;
    return keys.FlushDatabases({&number, 1});
  });
  EXPECT_THAT(SizeOf(0, "a"), Pair(0, 0));
  AddMembers("a", 0, 200);
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), 200u);
  EXPECT_EQ(Stored(Space::kStructures), 1u);
  EXPECT_EQ(Count(0), 1u);
}

TEST_P(StructuresTest, ACopyHasMembersOfItsOwn) {
  AddMembers("a", 0, 300);
  Do([](Structures& keys) -> Status {
    KVARTS_TRY(Key * from, keys.Open(0, "a"));
    KVARTS_TRY(Key * to, keys.Open(1, "b"));
    return from->CopyTo(to);
  });
  AddMembers("a", 300, 310);
  EXPECT_THAT(SizeOf(0, "a"), Pair(310, 310));
  EXPECT_THAT(SizeOf(1, "b"), Pair(300, 300));
}

TEST_P(StructuresTest, AScanSeesWhatIsThereAllTheWhile) {
  AddMembers("set", 0, 500);
  std::set<std::string> seen;
  uint64_t place = 0;
  int round = 0;
  do {
    Do([&](Structures& keys) -> Status {
      KVARTS_TRY(Key * key, keys.Open(0, "set"));
      KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
      KVARTS_TRY(place, set->Scan(place, 7, [&](BytesView name, BytesView) { seen.emplace(name); }));
      return {};
    });
    AddMembers("set", 500 + 10 * round, 510 + 10 * round);
    ++round;
  } while (place != 0 && round < 1000);
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(seen.contains("member" + std::to_string(i))) << i;
}

TEST_P(StructuresTest, AnyMemberIsAboutAsLikelyAsAnyOther) {
  AddMembers("set", 0, 200);
  std::map<Bytes, int> chosen;
  Do([&](Structures& keys) -> Status {
    chosen.clear();
    KVARTS_TRY(Key * key, keys.Open(0, "set"));
    KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
    for (int i = 0; i < 20'000; ++i) {
      KVARTS_TRY(const Members::Entry any, set->Any(keys.txn().Random()));
      ++chosen[any.first];
    }
    return {};
  });
  EXPECT_EQ(chosen.size(), 200u);
  for (const auto& [name, times] : chosen) {
    EXPECT_GT(times, 25) << name;
    EXPECT_LT(times, 400) << name;
  }
}

TEST(ScanCursorsTest, AreKnownUntilManyOthersWereGivenOut) {
  ScanCursors cursors;
  const uint64_t first = cursors.Remember("a");
  EXPECT_NE(first, 0u);
  EXPECT_EQ(cursors.Find(first), "a");
  EXPECT_FALSE(cursors.Find(0));
  EXPECT_FALSE(cursors.Find(first + 1));
  for (size_t i = 0; i < ScanCursors::kSlots; ++i) cursors.Remember("b");
  EXPECT_FALSE(cursors.Find(first));
  EXPECT_FALSE(ScanCursors().Find(first)) << "another process has others";
}

}  // namespace
}  // namespace kvarts::structure
