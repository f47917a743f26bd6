#include "model/structure/list.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <random>

#include "core/job_runner.h"
#include "model/structure/structure_erase.h"
#include "model/structure/structures.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using End = List::End;

class ListTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    databases_ = Databases::Open(store());
  }
  void TearDown() override {
    databases_.reset();
    StoreTest::TearDown();
  }

  // Changes the list, which is made if there is none, in one transaction that must succeed.
  template <class Change>
  void Do(const Change& change, BytesView name = "list") {
    MustRun(
        [&](Txn& txn) -> Status {
          Structures keys(txn, *databases_);
          KVARTS_TRY(Key * key, keys.Open(0, name));
          KVARTS_TRY(List * list, key->Make<List>(Type::kList));
          KVARTS_CHECK_OK(change(*list));
          key->Changed();
          keys.Flush();
          return {};
        },
        Quick());
  }
  void PushAll(const std::vector<Bytes>& items) {
    Do([&](List& list) -> Status {
      for (const Bytes& item : items) KVARTS_CHECK_OK(list.Push(End::kTail, item));
      return {};
    });
  }
  std::vector<Bytes> Items(BytesView name = "list") {
    std::vector<Bytes> items;
    MustRun([&](Txn& txn) -> Status {
      items.clear();
      Structures keys(txn, *databases_);
      KVARTS_TRY(Key * key, keys.Open(0, name));
      KVARTS_TRY(List * list, key->As<List>(Type::kList));
      if (list == nullptr) return {};
      return list->Visit({0, list->size()}, [&items](BytesView item) {
        items.emplace_back(item);
        return true;
      });
    });
    return items;
  }
  std::vector<uint64_t> Find(BytesView item, const List::Search& search) {
    std::vector<uint64_t> found;
    Do([&](List& list) -> Status {
      KVARTS_TRY(found, list.Find(item, search));
      return {};
    });
    return found;
  }
  uint64_t Remove(BytesView item, int64_t count) {
    uint64_t removed = 0;
    Do([&](List& list) -> Status {
      KVARTS_TRY(removed, list.Remove(item, count));
      return {};
    });
    return removed;
  }
  // Records of what is spread out.
  size_t Nodes() {
    ScanRequest request;
    request.range = SpaceRange(Space::kStructureMembers);
    return Entries(*NewView(), request).size();
  }

  std::unique_ptr<Databases> databases_;
};
KVARTS_ON_EVERY_ENGINE(ListTest);

TEST_P(ListTest, ItemsArePutAndTakenAtBothEnds) {
  PushAll({"a", "b", "c"});
  std::vector<Bytes> taken;
  Do([&](List& list) -> Status {
    KVARTS_CHECK_OK(list.Push(End::kHead, "first"));
    KVARTS_TRY(taken, list.Pop(End::kTail, 2));
    return {};
  });
  EXPECT_THAT(taken, ElementsAre("c", "b"));
  EXPECT_THAT(Items(), ElementsAre("first", "a"));
}

TEST_P(ListTest, TheKeyIsGoneWithTheLastItem) {
  PushAll({"a", "b"});
  Do([](List& list) -> Status {
    KVARTS_CHECK_OK(list.Pop(End::kHead, 100));
    return {};
  });
  MustRun([&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(const Key* key, keys.Open(0, "list"));
    EXPECT_FALSE(key->exists());
    return {};
  });
}

TEST_P(ListTest, PlacesCountFromBothEnds) {
  PushAll({"a", "b", "c", "d"});
  Do([](List& list) -> Status {
    EXPECT_EQ(list.PositionOf(0), 0u);
    EXPECT_EQ(list.PositionOf(-1), 3u);
    EXPECT_EQ(list.PositionOf(4), std::nullopt);
    EXPECT_EQ(list.PositionOf(-5), std::nullopt);
    EXPECT_EQ(list.PositionOf(INT64_MIN), std::nullopt);
    const auto range = [&](int64_t first, int64_t last) {
      const List::Range found = list.RangeOf(first, last);
      return std::pair(found.first, found.count);
    };
    EXPECT_EQ(range(0, -1), std::pair(0ul, 4ul));
    EXPECT_EQ(range(-2, 100), std::pair(2ul, 2ul));
    EXPECT_EQ(range(-100, 0), std::pair(0ul, 1ul));
    EXPECT_EQ(range(3, 2), std::pair(0ul, 0ul));
    EXPECT_EQ(range(INT64_MIN, INT64_MAX), std::pair(0ul, 4ul));
    EXPECT_EQ(range(INT64_MAX, INT64_MIN), std::pair(0ul, 0ul));
    return {};
  });
}

TEST_P(ListTest, ItemsAreFoundFromEitherSide) {
  PushAll({"a", "b", "a", "c", "a"});
  EXPECT_THAT(Find("a", {}), ElementsAre(0));
  EXPECT_THAT(Find("a", {.at_most = 0}), ElementsAre(0, 2, 4));
  EXPECT_THAT(Find("a", {.skipped = 1, .at_most = 0}), ElementsAre(2, 4));
  EXPECT_THAT(Find("a", {.backwards = true, .at_most = 2}), ElementsAre(4, 2));
  EXPECT_THAT(Find("c", {.max_compared = 3}), IsEmpty());
  EXPECT_THAT(Find("nothing", {.at_most = 0}), IsEmpty());
}

TEST_P(ListTest, SoManyAreRemovedFromEitherSide) {
  const std::vector<Bytes> items = {"a", "a", "b", "a", "c", "a"};
  PushAll(items);
  EXPECT_EQ(Remove("a", 1), 1u);
  EXPECT_THAT(Items(), ElementsAre("a", "b", "a", "c", "a"));
  EXPECT_EQ(Remove("a", -2), 2u);
  EXPECT_THAT(Items(), ElementsAre("a", "b", "c"));
  PushAll(items);
  EXPECT_EQ(Remove("a", 0), 5u);
  EXPECT_THAT(Items(), ElementsAre("b", "c", "b", "c"));
  EXPECT_EQ(Remove("a", INT64_MIN), 0u);
}

// The standard library's deque has the same, whatever happens; the list is spread out and comes back.
TEST_P(ListTest, IsWhatADequeIs) {
  std::mt19937_64 random(7);
  const auto below = [&random](uint64_t end) { return random() % end; };
  std::deque<Bytes> model;
  for (int round = 0; round < (GetParam().shared ? 40 : 300); ++round) {
    std::deque<Bytes> after;
    Do([&](List& list) -> Status {
      after = model;
      for (int i = 0; i < 20; ++i) {
        const Bytes item = std::to_string(below(20)) + Bytes(below(below(30) == 0 ? 900 : 30), 'x');
        const uint64_t at = after.empty() ? 0 : below(after.size());
        const uint64_t what = below(round % 100 < 60 ? 6 : 12);
        if (what < 2) {
          KVARTS_CHECK_OK(list.Push(End::kTail, item));
          after.push_back(item);
        } else if (what < 4) {
          KVARTS_CHECK_OK(list.Push(End::kHead, item));
          after.push_front(item);
        } else if (what == 4 && !after.empty()) {
          KVARTS_CHECK_OK(list.Replace(at, item));
          after[at] = item;
        } else if (what == 5 && !after.empty()) {
          const auto pivot = std::ranges::find(after, after[at]);
          KVARTS_TRY(const bool inserted, list.InsertBeside(after[at], true, item));
          EXPECT_TRUE(inserted);
          after.insert(pivot, item);
        } else if (what < 10) {
          const uint64_t count = below(4);
          KVARTS_TRY(const std::vector<Bytes> taken, list.Pop(what < 8 ? End::kHead : End::kTail, count));
          for (const Bytes& one : taken) {
            EXPECT_EQ(one, what < 8 ? after.front() : after.back());
            what < 8 ? after.pop_front() : after.pop_back();
          }
        } else if (what == 10 && after.size() > 2) {
          KVARTS_CHECK_OK(list.Keep({1, after.size() - 2}));
          after.pop_front();
          after.pop_back();
        } else if (what == 11 && !after.empty()) {
          KVARTS_TRY(const Bytes found, list.At(at));
          EXPECT_EQ(found, after[at]);
        }
      }
      return {};
    });
    model = after;
    ASSERT_EQ(Items(), std::vector<Bytes>(model.begin(), model.end())) << "round " << round;
  }
  EXPECT_GT(model.size(), 0u);
}

TEST_P(ListTest, NothingIsLeftOfAListThatIsRemoved) {
  std::vector<Bytes> items;
  for (int i = 0; i < 500; ++i) items.push_back("item" + std::to_string(i));
  PushAll(items);
  EXPECT_GT(Nodes(), 0u);
  MustRun([&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(Key * key, keys.Open(0, "list"));
    KVARTS_TRY(Key * copy, keys.Open(0, "copy"));
    KVARTS_CHECK_OK(key->CopyTo(copy));
    key->Remove();
    keys.Flush();
    return {};
  });
  EXPECT_EQ(Items("copy"), items);
  Do(
      [](List& list) -> Status {
        KVARTS_CHECK_OK(list.Pop(End::kHead, 1000));
        return {};
      },
      "copy");
  ASSERT_TRUE(StartStructureErase(store()));
  JobRunner runner(store(), {StructureEraseKind(!engine().capabilities().shared)});
  for (int turns = 0; turns < 100; ++turns) {
    const auto turn = runner.TakeTurn();
    ASSERT_TRUE(turn) << turn.error();
    if (!turn->worked) break;
  }
  EXPECT_EQ(Nodes(), 0u);
}

TEST_P(ListTest, BytesAreThoseOfTheFormat) {
  PushAll({"a", "bc"});
  Do([](List& list) -> Status {
    EXPECT_EQ(list.Encode(), Bytes("\x00\x02\x01"
                                   "a\x02"
                                   "bc",
                                   7));
    return {};
  });
}

TEST_P(ListTest, BytesThatAreNoListAreCorruption) {
  for (const BytesView bytes : {BytesView(), BytesView("\x07"), BytesView("\x00\xff\xff", 3)}) {
    const Result<RunReport> ran = Run([&](Txn& txn) -> Status {
      KVARTS_CHECK_OK(List::Decode(txn, databases_->collections(), bytes));
      return {};
    });
    EXPECT_EQ(test::CodeOf(ran), "corruption") << Escaped(bytes);
  }
}

}  // namespace
}  // namespace kvarts::structure
