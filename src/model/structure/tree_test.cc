#include "model/structure/tree.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "support/stores.h"

namespace kvarts::structure {
namespace {

// Such that a few hundred items make a tree of many levels.
constexpr TreeLimits kSmall = {
    .max_items = 4, .max_leaf_bytes = 60, .max_inline_bytes = 60, .max_children = 4, .max_shape_bytes = 80};

class TreeTest : public test::StoreTest {
 protected:
  void Begin(Tree::Order order, const TreeLimits& limits = kSmall) {
    order_ = order;
    limits_ = limits;
  }
  // Runs it on the tree in one transaction, which must succeed.
  template <class Change>
  void Do(const Change& change) {
    MustRun([&](Txn& txn) { return With(txn, change); }, Quick());
  }
  template <class Change>
  Status With(Txn& txn, const Change& change) {
    KVARTS_TRY(const std::optional<Record> record, txn.Get(kPlace.view()));
    Tree tree(txn, ids_, order_, limits_);
    if (record) {
      KVARTS_TRY(tree, Tree::Decode(txn, ids_, order_, record->value, limits_));
    }
    KVARTS_CHECK_OK(change(tree));
    txn.Put(kPlace, tree.Encode());
    return {};
  }
  // What is in it, by one visit, and that it is sound and has no records but its own.
  std::vector<Bytes> Items(Tree::Survey* survey = nullptr) {
    std::vector<Bytes> items;
    Tree::Survey found;
    bool spread = false;
    Do([&](Tree& tree) -> Status {
      items.clear();
      KVARTS_TRY(found, tree.Check());
      spread = tree.spread();
      return tree.Visit(0, tree.size() + 1, false, [&](BytesView item) {
        items.emplace_back(item);
        return true;
      });
    });
    EXPECT_EQ(Stored(), spread ? found.leaves + 2 * found.inner : 0) << "records of no node";
    if (survey != nullptr) *survey = found;
    return items;
  }
  size_t Stored() {
    ScanRequest request;
    request.range = SpaceRange(Space::kStructureMembers);
    return Entries(*NewView(), request).size();
  }
  static Bytes Name(uint64_t number) {
    Bytes name;
    AppendBig(&name, number);
    return name;
  }

  const KeyBuffer kPlace = UserKey("tree");
  Tree::Order order_ = Tree::Order::kByBytes;
  TreeLimits limits_;
  CollectionIds ids_;
};
KVARTS_ON_EVERY_ENGINE(TreeTest);

// A set in the standard library, and what it says of places.
struct SetModel {
  std::set<Bytes> items;

  uint64_t PositionOf(const Bytes& item) const {
    return static_cast<uint64_t>(std::distance(items.begin(), items.lower_bound(item)));
  }
  Bytes At(uint64_t position) const { return *std::next(items.begin(), static_cast<ptrdiff_t>(position)); }
  void EraseAt(uint64_t position, uint64_t count) {
    const auto first = std::next(items.begin(), static_cast<ptrdiff_t>(position));
    items.erase(first, std::next(first, static_cast<ptrdiff_t>(count)));
  }
};

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  uint64_t Below(uint64_t end) { return random_() % end; }
  Bytes Item() {
    // Some share a long beginning, and a few fill a leaf.
    Bytes item = Below(3) == 0 ? Bytes(Below(12), 'x') : Bytes();
    item += std::to_string(Below(700));
    if (Below(30) == 0) item.append(20 + Below(90), 'y');
    return item;
  }

 private:
  std::mt19937_64 random_;
};

Status ChangeOrdered(Tree& tree, SetModel& model, Chance& chance, uint64_t grows) {
  const Bytes item = chance.Item();
  const uint64_t what = chance.Below(100);
  if (what < grows) {
    KVARTS_TRY(const bool is_new, tree.Insert(item));
    EXPECT_EQ(is_new, model.items.insert(item).second);
  } else if (what < 90) {
    KVARTS_TRY(const bool was_there, tree.Erase(item));
    EXPECT_EQ(was_there, model.items.erase(item) > 0);
  } else if (!model.items.empty() && what < 92) {
    const uint64_t from = chance.Below(model.items.size());
    const uint64_t count = chance.Below(std::min<uint64_t>(model.items.size() - from, 60) + 1);
    KVARTS_CHECK_OK(tree.EraseAt(from, count));
    model.EraseAt(from, count);
  } else if (!model.items.empty()) {
    const uint64_t at = chance.Below(model.items.size());
    KVARTS_TRY(const Bytes there, tree.At(at));
    EXPECT_EQ(there, model.At(at));
  }
  KVARTS_TRY(const Tree::Place place, tree.Find(item));
  EXPECT_EQ(place.position, model.PositionOf(item));
  EXPECT_EQ(place.found, model.items.contains(item));
  EXPECT_EQ(tree.size(), model.items.size());
  return {};
}

TEST_P(TreeTest, BehavesAsASetThatKnowsPlaces) {
  Begin(Tree::Order::kByBytes);
  SetModel model;
  Chance chance(GetParam().shared ? 2 : 1);
  const int rounds = GetParam().shared ? 40 : 400;
  size_t highest = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t grows = round % 100 < 50 ? 75 : 15;
    const Chance before = chance;
    const SetModel held = model;
    Do([&](Tree& tree) -> Status {
      chance = before;  // when it is run again
      model = held;
      for (uint64_t i = chance.Below(12); i > 0; --i) KVARTS_CHECK_OK(ChangeOrdered(tree, model, chance, grows));
      return {};
    });
    if (round % 5 != 0) continue;
    Tree::Survey survey;
    ASSERT_EQ(Items(&survey), std::vector<Bytes>(model.items.begin(), model.items.end())) << round;
    highest = std::max(highest, survey.height);
  }
  EXPECT_GE(highest, 3u);
}

// With nodes that hold enough for some to become small without being empty.
constexpr TreeLimits kWide = {
    .max_items = 16, .max_leaf_bytes = 400, .max_inline_bytes = 60, .max_children = 16, .max_shape_bytes = 400};

// Erases a run of items somewhere, one by one or at once, until few are left.
Status EraseRun(Tree& tree, std::vector<Bytes>& model, Chance& chance, bool by_bytes) {
  const uint64_t from = chance.Below(model.size());
  const uint64_t count = 1 + chance.Below(std::min<uint64_t>(model.size() - from, 40));
  const auto first = model.begin() + static_cast<ptrdiff_t>(from);
  const auto last = first + static_cast<ptrdiff_t>(count);
  if (chance.Below(3) == 0) {
    KVARTS_CHECK_OK(tree.EraseAt(from, count));
  } else {
    for (auto item = first; item != last; ++item) {
      if (!by_bytes) {
        KVARTS_CHECK_OK(tree.EraseAt(from, 1));
        continue;
      }
      KVARTS_TRY(const bool was_there, tree.Erase(*item));
      EXPECT_TRUE(was_there);
    }
  }
  model.erase(first, last);
  return {};
}

TEST_P(TreeTest, WhatHasBecomeSmallGoesToANeighbour) {
  constexpr uint64_t kItems = 3000;
  for (const Tree::Order order : {Tree::Order::kByBytes, Tree::Order::kByPosition}) {
    Do([](Tree& tree) { return tree.size() == 0 ? Status() : tree.EraseAt(0, tree.size()); });
    Begin(order, kWide);
    std::vector<Bytes> model;
    for (uint64_t i = 0; i < kItems; ++i) model.push_back(Name(i));
    Do([&](Tree& tree) -> Status {
      for (uint64_t i = 0; i < kItems; ++i) {
        if (order == Tree::Order::kByPosition) {
          KVARTS_CHECK_OK(tree.InsertAt(i, model[i]));
        } else {
          KVARTS_CHECK_OK(tree.Insert(model[i]));
        }
      }
      return {};
    });
    Tree::Survey survey;
    ASSERT_EQ(Items(&survey), model);
    ASSERT_GE(survey.height, 2u);
    Chance chance(5);
    while (model.size() > kItems / 16) {
      const Chance before = chance;
      const std::vector<Bytes> held = model;
      Do([&](Tree& tree) -> Status {
        chance = before;
        model = held;
        for (int run = 0; run < 4 && !model.empty(); ++run) {
          KVARTS_CHECK_OK(EraseRun(tree, model, chance, order == Tree::Order::kByBytes));
        }
        return {};
      });
      ASSERT_EQ(Items(&survey), model);
    }
    EXPECT_LT(survey.leaves, model.size() / 2);
    Do([&](Tree& tree) { return tree.EraseAt(0, tree.size()); });
  }
}

Status ChangeByPosition(Tree& tree, std::vector<Bytes>& model, Chance& chance, uint64_t grows) {
  const Bytes item = chance.Item();
  const uint64_t what = chance.Below(100);
  const uint64_t at = chance.Below(model.size() + 1);
  if (what < grows || at == model.size()) {
    const uint64_t where = what % 3 == 0 ? 0 : what % 3 == 1 ? model.size() : at;
    KVARTS_CHECK_OK(tree.InsertAt(where, item));
    model.insert(model.begin() + static_cast<ptrdiff_t>(where), item);
  } else if (what < 80) {
    const uint64_t where = what % 3 == 0 ? 0 : what % 3 == 1 ? model.size() - 1 : at;
    KVARTS_CHECK_OK(tree.EraseAt(where, 1));
    model.erase(model.begin() + static_cast<ptrdiff_t>(where));
  } else if (what < 83) {
    const uint64_t count = chance.Below(std::min<uint64_t>(model.size() - at, 60) + 1);
    KVARTS_CHECK_OK(tree.EraseAt(at, count));
    const auto first = model.begin() + static_cast<ptrdiff_t>(at);
    model.erase(first, first + static_cast<ptrdiff_t>(count));
  } else {
    KVARTS_CHECK_OK(tree.ReplaceAt(at, item));
    model[at] = item;
  }
  EXPECT_EQ(tree.size(), model.size());
  return {};
}

TEST_P(TreeTest, BehavesAsAVector) {
  Begin(Tree::Order::kByPosition);
  std::vector<Bytes> model;
  Chance chance(GetParam().shared ? 4 : 3);
  const int rounds = GetParam().shared ? 40 : 400;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t grows = round % 100 < 60 ? 70 : 10;
    const Chance before = chance;
    const std::vector<Bytes> held = model;
    Do([&](Tree& tree) -> Status {
      chance = before;
      model = held;
      for (uint64_t i = chance.Below(12); i > 0; --i) KVARTS_CHECK_OK(ChangeByPosition(tree, model, chance, grows));
      return {};
    });
    if (round % 5 != 0) continue;
    ASSERT_EQ(Items(), model) << round;
  }
}

TEST_P(TreeTest, IsVisitedFromAnywhereInBothDirections) {
  Begin(Tree::Order::kByPosition);
  Do([](Tree& tree) -> Status {
    for (uint64_t i = 0; i < 300; ++i) KVARTS_CHECK_OK(tree.InsertAt(i, std::to_string(i)));
    return {};
  });
  const auto visited = [&](uint64_t from, uint64_t count, bool backwards) {
    std::vector<int> numbers;
    Do([&](Tree& tree) -> Status {
      numbers.clear();
      return tree.Visit(from, count, backwards, [&](BytesView item) {
        numbers.push_back(std::stoi(Bytes(item)));
        return numbers.back() != 150;
      });
    });
    return numbers;
  };
  EXPECT_THAT(visited(17, 3, false), testing::ElementsAre(17, 18, 19));
  EXPECT_THAT(visited(17, 3, true), testing::ElementsAre(17, 16, 15));
  EXPECT_THAT(visited(2, 9, true), testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(visited(298, 9, false), testing::ElementsAre(298, 299));
  EXPECT_THAT(visited(300, 1, false), testing::IsEmpty());
  EXPECT_EQ(visited(100, 200, false).size(), 51u) << "until it was told to stop";
  EXPECT_EQ(visited(299, 300, true).size(), 150u);
}

TEST_P(TreeTest, WhatIsPutAtAnEndLeavesFullLeaves) {
  Begin(Tree::Order::kByPosition, {.max_items = 16, .max_children = 8});
  Do([](Tree& tree) -> Status {
    for (uint64_t i = 0; i < 1000; ++i) KVARTS_CHECK_OK(tree.InsertAt(tree.size(), "item"));
    for (uint64_t i = 0; i < 1000; ++i) KVARTS_CHECK_OK(tree.InsertAt(0, "item"));
    return {};
  });
  Tree::Survey survey;
  EXPECT_EQ(Items(&survey).size(), 2000u);
  EXPECT_LE(survey.leaves, 2000u / 16 + 3);
}

TEST_P(TreeTest, AnItemThatIsLargerThanALeafIsALeaf) {
  Begin(Tree::Order::kByPosition);
  std::vector<Bytes> model;
  for (int i = 0; i < 20; ++i) model.emplace_back(i % 3 == 0 ? 5000 : 3, static_cast<char>('a' + i));
  Do([&](Tree& tree) -> Status {
    for (const Bytes& item : model) KVARTS_CHECK_OK(tree.InsertAt(tree.size(), item));
    return {};
  });
  EXPECT_EQ(Items(), model);
}

TEST_P(TreeTest, ACopyIsAnother) {
  Begin(Tree::Order::kByBytes);
  MustRun([&](Txn& txn) -> Status {
    Tree tree(txn, ids_, order_, limits_);
    for (uint64_t i = 0; i < 200; ++i) KVARTS_CHECK_OK(tree.Insert(Name(i)));
    KVARTS_TRY(Tree copy, tree.Copy());
    KVARTS_CHECK_OK(copy.EraseAt(50, 100));
    txn.Put(kPlace, tree.Encode());
    txn.Put(UserKey("copy"), copy.Encode());
    KVARTS_CHECK_OK(copy.Check());
    EXPECT_EQ(copy.size(), 100u);
    EXPECT_NE(copy.id(), tree.id());
    return {};
  });
  Do([&](Tree& tree) -> Status {
    KVARTS_CHECK_OK(tree.Check());
    EXPECT_EQ(tree.size(), 200u);
    return {};
  });
}

// What is looked up costs a read per level, also in what is much larger.
TEST_P(TreeTest, ReadsAsManyNodesAsItHasLevels) {
  if (GetParam().shared) GTEST_SKIP() << "what is read is the same on every engine";
  Begin(Tree::Order::kByBytes, {});
  constexpr uint64_t kStep = 10'000;
  std::vector<uint64_t> numbers(20 * kStep);
  for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  std::ranges::shuffle(numbers, std::mt19937_64(5));
  std::vector<size_t> heights;
  for (size_t begin = 0; begin < numbers.size(); begin += kStep) {
    Do([&](Tree& tree) -> Status {
      for (size_t i = begin; i < begin + kStep; ++i) KVARTS_CHECK_OK(tree.Insert(Name(numbers[i])));
      return {};
    });
    if (begin != 0 && begin + kStep != numbers.size()) continue;
    Tree::Survey survey;
    EXPECT_EQ(Items(&survey).size(), begin + kStep);
    heights.push_back(survey.height);
    EXPECT_LT(survey.leaves, (begin + kStep) / 32) << "leaves are at least half full on the average";
    for (const uint64_t wanted : {numbers[0], numbers[17], numbers[begin + 1]}) {
      Do([&](Tree& tree) -> Status {
        KVARTS_CHECK_OK(tree.Find(Name(wanted)));
        EXPECT_EQ(tree.reads(), survey.height + 1);
        return {};
      });
      Do([&](Tree& tree) -> Status {
        KVARTS_CHECK_OK(tree.At(tree.size() / 2));
        EXPECT_EQ(tree.reads(), survey.height + 1);
        return {};
      });
    }
  }
  EXPECT_THAT(heights, testing::ElementsAre(2, 2));
}

TEST(TreeNodeTest, BytesAreThoseOfTheFormat) {
  TreeNode leaf;
  leaf.items.Append("x");
  leaf.items.Append("yz");
  EXPECT_EQ(ToHex(EncodeTreeNode(leaf)), "00017802797a");
  TreeNode inner;
  inner.level = 1;
  inner.children = {3, 4};
  inner.counts = {1, 300};
  inner.items.Append("");
  inner.items.Append("y");
  EXPECT_EQ(ToHex(EncodeTreeNode(inner)), "01020304000179");
  EXPECT_EQ(ToHex(EncodeTreeCounts(inner)), "01ac02");
  const auto decoded = DecodeTreeInner(EncodeTreeNode(inner), EncodeTreeCounts(inner), 1, 301, true);
  ASSERT_TRUE(decoded) << decoded.error();
  EXPECT_EQ(decoded->children, inner.children);
  EXPECT_EQ(decoded->counts, inner.counts);
}

TEST_P(TreeTest, DamageIsFound) {
  Begin(Tree::Order::kByBytes);
  Do([](Tree& tree) -> Status {
    for (uint64_t i = 0; i < 100; ++i) KVARTS_CHECK_OK(tree.Insert(Name(i)));
    return {};
  });
  ScanRequest request;
  request.range = SpaceRange(Space::kStructureMembers);
  for (const auto& entry : Entries(*NewView(), request)) {
    std::vector<Bytes> damaged = {Bytes(), entry.value.substr(1), entry.value + '\x01', Bytes(300, '\xff')};
    damaged.push_back(entry.value);
    damaged.back()[entry.value.size() / 2] ^= 0x40;
    for (const Bytes& value : damaged) {
      MustRun(Putting(entry.key, value), Quick());
      const auto checked = Run([&](Txn& txn) {
        return With(txn, [](Tree& tree) -> Status {
          KVARTS_CHECK_OK(tree.Check());
          return {};
        });
      });
      // A bit of an item may be another one without anything being wrong.
      if (value.size() == entry.value.size()) continue;
      ASSERT_FALSE(checked) << ToHex(entry.key);
      EXPECT_EQ(checked.error().code(), ErrorCode::kCorruption);
    }
    MustRun(Putting(entry.key, entry.value), Quick());
  }
  EXPECT_EQ(Items().size(), 100u);
}

// What the tests above rest on: nodes that are each sound, and yet wrong together.
TEST_P(TreeTest, WhatIsPlantedIsFound) {
  Begin(Tree::Order::kByBytes);
  Do([](Tree& tree) -> Status {
    for (uint64_t i = 0; i < 100; ++i) KVARTS_CHECK_OK(tree.Insert(Name(i)));
    return {};
  });
  constexpr size_t kItem = 9;
  ScanRequest request;
  request.range = SpaceRange(Space::kStructureMembers);
  auto leaves = Entries(*NewView(), request);
  std::erase_if(leaves, [](const auto& entry) { return entry.value.size() != 1 + 4 * kItem || entry.value[0] != 0; });
  ASSERT_GE(leaves.size(), 2u);
  const auto why = [&]() -> Bytes {
    const auto checked = Run([&](Txn& txn) {
      return With(txn, [](Tree& tree) -> Status {
        KVARTS_CHECK_OK(tree.Check());
        return {};
      });
    });
    return checked ? Bytes("nothing") : Bytes(checked.error().field("why"));
  };
  EXPECT_EQ(why(), "nothing");
  MustRun(Putting(leaves[0].key, leaves[1].value), Quick());
  EXPECT_EQ(why(), "an item is elsewhere");
  const Bytes& leaf = leaves[0].value;
  MustRun(Putting(leaves[0].key, leaf.substr(0, 1) + leaf.substr(1 + kItem) + leaf.substr(1, kItem)), Quick());
  EXPECT_EQ(why(), "items are not in order");
  MustRun(Putting(leaves[0].key, leaf), Quick());
  EXPECT_EQ(why(), "nothing");
}

TEST_P(TreeTest, WhatWasReadTogetherIsNotReadAgain) {
  Begin(Tree::Order::kByBytes);
  Do([](Tree& tree) -> Status {
    for (uint64_t i = 0; i < 300; ++i) KVARTS_CHECK_OK(tree.Insert(Name(i)));
    return {};
  });
  Do([](Tree& tree) -> Status {
    const std::vector<Bytes> items = {Name(5), Name(150), Name(151), Name(299), Name(1000)};
    KVARTS_CHECK_OK(tree.ReadFor(items));
    const uint64_t reads = tree.reads();
    for (const Bytes& item : items) KVARTS_CHECK_OK(tree.Find(item));
    EXPECT_EQ(tree.reads(), reads);
    return {};
  });
}

}  // namespace
}  // namespace kvarts::structure
