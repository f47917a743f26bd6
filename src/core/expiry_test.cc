// Owned values by expiry: a model finds what is due and removes it with all that hangs on it, in one commit.
#include "core/expiry.h"

#include <algorithm>
#include <set>

#include "core/keyspace.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

// A model in small: a row under "row/<name>" with an entry under "index/<value>/<name>" that hangs on it.
class OwnedExpiryTest : public StoreTest {
 protected:
  static Status PutRow(Txn& txn, const std::string& name, const std::string& value, Timestamp expiry) {
    KVARTS_TRY(const auto old, txn.GetExpired("row/" + name));
    if (old) txn.Erase("index/" + old->value + "/" + name);
    txn.Put("row/" + name, value, {.expiry = expiry, .owned = true});
    txn.Put("index/" + value + "/" + name, "", {.expiry = expiry});
    return {};
  }
  void MustPutRow(const std::string& name, const std::string& value, Timestamp expiry) {
    MustRun([&](Txn& txn) { return PutRow(txn, name, value, expiry); });
  }
  struct Swept {
    std::string names;
    bool more = false;
  };
  // What the model removes in one commit.
  Swept Sweep(size_t limit = 100) {
    const auto swept = store().Run([&](Txn& txn) -> Result<Swept> {
      KVARTS_TRY(const DuePage page, FindDueOwned(txn, limit));
      Swept done;
      done.more = page.next.has_value();
      for (const DueOwned& due : page.due) {
        const std::string name = due.key.substr(4);
        txn.Erase(due.key);
        txn.Erase("index/" + due.record.value + "/" + name);
        txn.Erase(due.entry);
        done.names += name + " ";
      }
      return done;
    });
    EXPECT_TRUE(swept) << swept.error();
    return swept ? *swept : Swept{};
  }
  std::vector<Bytes> KeysOfEverything() {
    ScanRequest request;
    request.options.expired_too = true;
    return KeysOf(Entries(*NewView(), request));
  }
  size_t EntryCount() {
    ScanRequest request;
    request.range = SpaceRange(Space::kExpiry);
    return Entries(*NewView(), request).size();
  }
};
KVARTS_ON_EVERY_ENGINE(OwnedExpiryTest);

TEST_P(OwnedExpiryTest, WhatIsDueIsRemovedWithAllThatHangsOnIt) {
  MustPutRow("a", "red", In(Duration::Seconds(10)));
  EXPECT_EQ(EntryCount(), 1u);
  EXPECT_EQ(Sweep().names, "");
  Wait(Duration::Micros(9'999'999));
  EXPECT_EQ(Sweep().names, "");
  Wait(Duration::Micros(1));
  EXPECT_EQ(Value("row/a"), "absent");
  EXPECT_EQ(Sweep().names, "a ");
  EXPECT_TRUE(KeysOfEverything().empty());
  EXPECT_EQ(Sweep().names, "");
}

TEST_P(OwnedExpiryTest, ComesInOrderOfExpiryAndInPages) {
  MustPutRow("late", "x", In(Duration::Seconds(3)));
  MustPutRow("early", "x", In(Duration::Seconds(1)));
  MustPutRow("middle", "x", In(Duration::Seconds(2)));
  MustPutRow("tomorrow", "x", In(Duration::Seconds(86'400)));
  Wait(Duration::Seconds(5));
  const Swept first = Sweep(2);
  EXPECT_EQ(first.names, "early middle ");
  EXPECT_TRUE(first.more);
  const Swept second = Sweep(2);
  EXPECT_EQ(second.names, "late ");
  EXPECT_FALSE(second.more);
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_P(OwnedExpiryTest, OnlyOwnedValuesThatExpireHaveEntries) {
  MustRun([&](Txn& txn) -> Status {
    txn.Put("a", "", {.expiry = In(Duration::Seconds(1))});
    txn.Put("b", "", {.owned = true});
    txn.Put("c", "");
    return {};
  });
  EXPECT_EQ(EntryCount(), 0u);
}

TEST_P(OwnedExpiryTest, StaleEntriesAreErasedOnTheWay) {
  MustPutRow("prolonged", "x", In(Duration::Seconds(1)));
  MustPutRow("prolonged", "x", In(Duration::Seconds(100)));
  MustPutRow("erased", "x", In(Duration::Seconds(2)));
  MustPutRow("kept", "x", In(Duration::Seconds(2)));
  MustRun([&](Txn& txn) -> Status {
    txn.Erase("row/erased");
    txn.Erase("index/x/erased");
    txn.Put("row/kept", "no longer owned");
    return {};
  });
  MustPutRow("due", "x", In(Duration::Seconds(3)));
  EXPECT_EQ(EntryCount(), 5u);
  Wait(Duration::Seconds(5));
  const Swept stale = Sweep(3);
  EXPECT_EQ(stale.names, "");
  EXPECT_TRUE(stale.more) << "nothing was due among those, and yet there is more";
  EXPECT_EQ(EntryCount(), 2u);
  EXPECT_EQ(Sweep(3).names, "due ");
  EXPECT_EQ(EntryCount(), 1u);
  EXPECT_EQ(Value("row/prolonged"), "x");
  EXPECT_EQ(Value("row/kept"), "no longer owned");
  Wait(Duration::Seconds(100));
  EXPECT_EQ(Sweep().names, "prolonged ");
}

TEST_P(OwnedExpiryTest, ARowPutAgainAfterItExpiredIsNotSwept) {
  MustPutRow("a", "red", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(2));
  MustPutRow("a", "blue", In(Duration::Seconds(10)));
  EXPECT_EQ(Sweep().names, "");
  EXPECT_EQ(Value("row/a"), "blue");
  EXPECT_EQ(KeysOfEverything(), (std::vector<Bytes>{KeysOfEverything().front(), "index/blue/a", "row/a"}));
}

TEST_P(OwnedExpiryTest, AWriterThatIsFasterThanTheSweeperWins) {
  MustPutRow("a", "red", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(2));
  bool first = true;
  const auto swept = store().Run([&](Txn& txn) -> Result<size_t> {
    KVARTS_TRY(const DuePage page, FindDueOwned(txn, 10));
    if (std::exchange(first, false)) MustPutRow("a", "blue", In(Duration::Seconds(10)));
    for (const DueOwned& due : page.due) {
      txn.Erase(due.key);
      txn.Erase(due.entry);
    }
    return page.due.size();
  });
  ASSERT_TRUE(swept) << swept.error();
  EXPECT_EQ(*swept, 0u);
  EXPECT_EQ(Value("row/a"), "blue");
  EXPECT_EQ(Value("index/blue/a"), "");
}

TEST_P(OwnedExpiryTest, AStampedKeyHasItsEntryUnderItsStamp) {
  const Version version = MustRun([&](Txn& txn) -> Status {
    Mutation put = Mutation::Put("row/????????", "x", In(Duration::Seconds(1)));
    put.owned = true;
    put.key_stamp = 4;
    txn.Apply(put);
    return {};
  });
  Wait(Duration::Seconds(1));
  Bytes key = "row/";
  AppendBig(&key, version.stamp);
  const auto found = store().Run([&](Txn& txn) -> Result<Bytes> {
    KVARTS_TRY(const DuePage page, FindDueOwned(txn, 10));
    return page.due.size() == 1 ? page.due[0].key : Bytes();
  });
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(*found, key);
}

TEST_P(OwnedExpiryTest, WhoeverLeavesWhatIsNotItsOwnGoesOnBehindIt) {
  for (const char* name : {"a", "b", "c"}) MustPutRow(name, "x", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(1));
  std::string seen;
  MustRun([&](Txn& txn) -> Status {
    seen.clear();
    std::optional<Bytes> next = Bytes();
    while (next) {
      KVARTS_TRY(const DuePage page, FindDueOwned(txn, 2, *next));
      for (const DueOwned& due : page.due) seen += due.key + " ";
      next = page.next;
    }
    return {};
  });
  EXPECT_EQ(seen, "row/a row/b row/c ");
  EXPECT_EQ(Sweep().names, "a b c ") << "they are still there for whoever has them";
}

TEST_P(OwnedExpiryTest, MayBeDueLooksForARangeAmongOthers) {
  const KeyRange rows = KeyRange::Prefix("row/");
  const KeyRange others = KeyRange::Prefix("other/");
  const auto may_be = [&](const KeyRange& range) { return MayBeDue(*NewView(), range).value(); };
  MustPutRow("a", "x", In(Duration::Seconds(1)));
  EXPECT_FALSE(may_be(rows));
  Wait(Duration::Seconds(1));
  EXPECT_TRUE(may_be(rows));
  EXPECT_FALSE(may_be(others));
  MustRun([&](Txn& txn) -> Status {
    for (int i = 0; i < 200; ++i) KVARTS_CHECK_OK(PutRow(txn, std::to_string(i), "x", txn.Now()));
    return {};
  });
  EXPECT_TRUE(may_be(others)) << "nobody has looked through all of it";
}

// A view on which one key cannot be read.
class DamagedView final : public View {
 public:
  DamagedView(std::unique_ptr<View> inner, std::string key) : inner_(std::move(inner)), key_(std::move(key)) {}
  Version version() const override { return inner_->version(); }
  Timestamp time() const override { return inner_->time(); }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    if (std::ranges::find(keys, key_) != keys.end()) return Error(ErrorCode::kCorruption, "a block is damaged");
    return inner_->Get(keys, out, options);
  }
  Result<ScanPage> Scan(const ScanRequest& request) override { return inner_->Scan(request); }

 private:
  const std::unique_ptr<View> inner_;
  const std::string key_;
};

TEST_P(OwnedExpiryTest, WhatCannotBeReadIsSetAside) {
  for (const char* name : {"a", "b", "c"}) MustPutRow(name, "x", In(Duration::Seconds(1)));
  KeyBuffer no_entry;
  BeginKey(&no_entry, Space::kExpiry);
  MustRun(Putting(Bytes(no_entry.view()) + '\x01', ""));
  Wait(Duration::Seconds(1));
  DamagedView view(NewView(), "row/b");
  const Context context;
  Txn txn(engine(), context, view);
  const auto page = FindDueOwned(txn, 10);
  ASSERT_TRUE(page) << page.error();
  ASSERT_EQ(page->due.size(), 2u);
  EXPECT_EQ(page->due[1].key, "row/c");
  EXPECT_EQ(page->unreadable, std::vector<Bytes>{"row/b"});
  EXPECT_EQ(txn.mutations().size(), 2u) << "its entry, and what is no entry at all";
}

TEST_P(OwnedExpiryTest, TheSweepIsOneCommit) {
  MustPutRow("a", "red", In(Duration::Seconds(1)));
  MustPutRow("b", "red", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(1));
  std::set<Version> versions;
  store().subscriptions().Watch(KeyRange::All(), [&](const Mutation* mutation, Version version) {
    if (mutation != nullptr) versions.insert(version);
  });
  EXPECT_EQ(Sweep().names, "a b ");
  EXPECT_EQ(versions.size(), 1u);
}

}  // namespace
}  // namespace kvarts::test
