#include "engine/rocksdb/memtable/radix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <thread>

namespace kvarts::memtable {
namespace {

class Heap final : public Space {
 public:
  char* Allocate(size_t bytes) override {
    parts_.push_back(std::make_unique<uint64_t[]>(bytes / 8 + 1));
    return reinterpret_cast<char*>(parts_.back().get());
  }

 private:
  std::vector<std::unique_ptr<uint64_t[]>> parts_;
};

// As RocksDB orders them.
struct Place {
  Bytes key;
  uint64_t tag;

  friend bool operator==(const Place&, const Place&) = default;
  friend bool operator<(const Place& one, const Place& other) {
    return one.key != other.key ? one.key < other.key : one.tag > other.tag;
  }
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << place.key.size() << ":" << place.key << "@" << place.tag;
}

Place PlaceOf(const Entry* entry) {
  const EntryKey key = entry->key();
  return {Bytes(key.user_key), key.tag};
}

class RadixTreeTest : public testing::Test {
 protected:
  Entry* NewEntry(BytesView key, uint64_t tag) {
    const size_t length = key.size() + sizeof(tag);
    auto* const entry = new (heap_.Allocate(sizeof(Entry) + 5 + length)) Entry();
    char* at = entry->encoded();
    uint64_t left = length;
    for (; left >= 0x80; left >>= 7) *at++ = static_cast<char>(left | 0x80);
    *at++ = static_cast<char>(left);
    at += key.copy(at, key.size());
    std::memcpy(at, &tag, sizeof(tag));
    return entry;
  }
  void Insert(BytesView key, uint64_t tag) { tree_.Insert(NewEntry(key, tag)); }
  std::optional<Place> Find(BytesView key, uint64_t tag) const {
    const Entry* const found = tree_.Find({key, tag});
    return found == nullptr ? std::nullopt : std::optional(PlaceOf(found));
  }
  static std::optional<Place> At(const RadixTree::Cursor& cursor) {
    return cursor.entry() == nullptr ? std::nullopt : std::optional(PlaceOf(cursor.entry()));
  }
  std::vector<Place> Forwards() const {
    std::vector<Place> all;
    RadixTree::Cursor cursor(tree_);
    for (cursor.ToFirst(); cursor.entry() != nullptr; cursor.Next()) all.push_back(PlaceOf(cursor.entry()));
    return all;
  }
  std::vector<Place> Backwards() const {
    std::vector<Place> all;
    RadixTree::Cursor cursor(tree_);
    for (cursor.ToLast(); cursor.entry() != nullptr; cursor.Previous()) all.push_back(PlaceOf(cursor.entry()));
    return {all.rbegin(), all.rend()};
  }

  Heap heap_;
  RadixTree tree_{heap_};
};

TEST_F(RadixTreeTest, HasNothingAtFirst) {
  EXPECT_EQ(Find("", 1), std::nullopt);
  EXPECT_TRUE(Forwards().empty());
  EXPECT_TRUE(Backwards().empty());
  EXPECT_EQ(tree_.CountBefore({"a", 0}), 0u);
  RadixTree::Cursor cursor(tree_);
  cursor.ToAtLeast({"a", 1});
  EXPECT_EQ(At(cursor), std::nullopt);
  cursor.ToAtMost({"a", 1});
  EXPECT_EQ(At(cursor), std::nullopt);
}

TEST_F(RadixTreeTest, KeysMayBePrefixesOfOthers) {
  const std::vector<Bytes> keys = {
      "",  Bytes(1, '\0'), Bytes(2, '\0'), "a", "ab", "abcdefghijklmnopq", "abcdefghijklmnopqr", "abd",
      "b", "\xff",         "\xff\xff"};
  for (size_t i = 0; i < keys.size(); ++i) Insert(keys[i * 7 % keys.size()], i + 1);
  std::vector<Bytes> found;
  for (const Place& place : Forwards()) found.push_back(place.key);
  EXPECT_EQ(found, keys);
  EXPECT_EQ(Forwards(), Backwards());
  EXPECT_EQ(Find("abc", 100), std::nullopt);
  EXPECT_EQ(Find("abcdefghijklmnop", 100), std::nullopt);
}

TEST_F(RadixTreeTest, OfAKeyTheNewestVersionThatMayBeSeenIsFound) {
  constexpr uint64_t kVersions = 100'000;
  for (uint64_t tag = 1; tag <= kVersions; ++tag) Insert("hot", 2 * tag);
  EXPECT_EQ(Find("hot", 1), std::nullopt);
  for (uint64_t tag = 2; tag <= 2 * kVersions + 1; tag += 777) {
    EXPECT_EQ(Find("hot", tag), (Place{"hot", tag / 2 * 2}));
  }
  EXPECT_EQ(Forwards().size(), kVersions);
  EXPECT_EQ(Forwards(), Backwards());
}

TEST_F(RadixTreeTest, VersionsMayComeInAnyOrder) {
  std::vector<uint64_t> tags;
  for (uint64_t tag = 1; tag <= 2'000; ++tag) tags.push_back(tag);
  std::mt19937_64 random(7);  // NOLINT: the same ones each time
  std::ranges::shuffle(tags, random);
  for (const uint64_t tag : tags) Insert("k", tag);
  const std::vector<Place> all = Forwards();
  ASSERT_EQ(all.size(), tags.size());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(all, Backwards());
}

// Every kind of node, and all that is between its children.
TEST_F(RadixTreeTest, NodesGrowUntilTheyHaveAChildForEveryByte) {
  std::vector<int> labels;
  for (int label = 0; label < 256; ++label) labels.push_back(label);
  std::mt19937_64 random(3);  // NOLINT
  std::ranges::shuffle(labels, random);
  std::set<Place> model;
  for (const int label : labels) {
    const Bytes key = Bytes("in common ") + static_cast<char>(label) + "rest";
    Insert(key, 9);
    model.insert({key, 9});
    EXPECT_EQ(Forwards(), std::vector(model.begin(), model.end()));
    EXPECT_EQ(Backwards(), std::vector(model.begin(), model.end()));
    for (int next = 0; next < 256; next += 5) {
      const Bytes between = Bytes("in common ") + static_cast<char>(next);
      RadixTree::Cursor cursor(tree_);
      cursor.ToAtLeast({between, 9});
      const auto expected = model.lower_bound({between, 9});
      EXPECT_EQ(At(cursor), expected == model.end() ? std::nullopt : std::optional(*expected));
      EXPECT_EQ(tree_.CountBefore({between, 9}), std::distance(model.begin(), expected));
    }
    // The node gets an entry of its own, and its prefix is cut again and again, at each size.
    if (model.size() % 40 != 17) continue;
    for (const Bytes& cut : {Bytes("in common "), Bytes("in common ").substr(0, 9 - model.size() / 40) + "~"}) {
      if (!model.insert({cut, 9}).second) continue;
      Insert(cut, 9);
    }
  }
  EXPECT_EQ(Forwards(), std::vector(model.begin(), model.end()));
}

struct RandomKeys {
  const char* name;
  size_t longest;
  std::string alphabet;
};

class RandomTreeTest : public RadixTreeTest, public testing::WithParamInterface<RandomKeys> {};
INSTANTIATE_TEST_SUITE_P(Of, RandomTreeTest,
                         testing::Values(RandomKeys{"two", 12, "ab"}, RandomKeys{"digits", 6, "0123456789"},
                                         RandomKeys{"few", 3, std::string("\0\1\x7f\x80\xfe\xff", 6)},
                                         RandomKeys{"one", 300, "x"}),
                         [](const auto& made) { return made.param.name; });

// Every operation against an ordered set of the same.
TEST_P(RandomTreeTest, IsLikeAnOrderedSet) {
  std::mt19937_64 random(11);  // NOLINT
  const auto key = [&] {
    Bytes made(random() % (GetParam().longest + 1), ' ');
    for (char& c : made) c = GetParam().alphabet[random() % GetParam().alphabet.size()];
    return made;
  };
  std::set<Place> model;
  const auto expected = [&](auto found) { return found == model.end() ? std::nullopt : std::optional(*found); };
  for (uint64_t tag = 1; tag <= 5'000; ++tag) {
    const Place added{key(), tag};
    Insert(added.key, tag);
    model.insert(added);
    const Place asked{key(), random() % (tag + 2)};
    const auto at_least = model.lower_bound(asked);
    const bool same_key = at_least != model.end() && at_least->key == asked.key;
    ASSERT_EQ(Find(asked.key, asked.tag), same_key ? expected(at_least) : std::nullopt);
    RadixTree::Cursor cursor(tree_);
    cursor.ToAtLeast({asked.key, asked.tag});
    auto there = at_least;
    for (int steps = 0; steps < 5 && there != model.end(); ++steps) {
      ASSERT_EQ(At(cursor), expected(there));
      cursor.Next();
      ++there;
    }
    ASSERT_EQ(At(cursor), expected(there));
    there = model.upper_bound(asked);
    cursor.ToAtMost({asked.key, asked.tag});
    for (int steps = 0; steps < 5 && there != model.begin(); ++steps) {
      ASSERT_EQ(At(cursor), *--there);
      cursor.Previous();
    }
  }
  EXPECT_EQ(Forwards(), std::vector(model.begin(), model.end()));
  EXPECT_EQ(Backwards(), std::vector(model.begin(), model.end()));
}

// Whoever reads meanwhile finds all that was there when it began, in order.
TEST_F(RadixTreeTest, ReadersMissNothingThatWasThere) {
  constexpr uint64_t kAll = 20'000;
  constexpr uint64_t kBetweenScans = 500;
  constexpr int kReaders = 3;
  std::vector<Entry*> entries;
  // Some have many versions.
  const auto key = [](uint64_t number) {
    return std::to_string(number * 0x9E3779B97F4A7C15 % (number % 2 == 0 ? 7'919 : 13));
  };
  for (uint64_t tag = 1; tag <= kAll; ++tag) entries.push_back(NewEntry(key(tag), tag));
  std::atomic<uint64_t> there{0};
  std::atomic<uint64_t> scans{0};
  const auto scan = [&](bool backwards, uint64_t seen) {
    RadixTree::Cursor cursor(tree_);
    std::optional<Place> before;
    uint64_t found = 0;
    backwards ? cursor.ToLast() : cursor.ToFirst();
    while (cursor.entry() != nullptr) {
      Place place = PlaceOf(cursor.entry());
      if (before) {
        EXPECT_TRUE(backwards ? place < *before : *before < place);
      }
      found += place.tag <= seen ? 1 : 0;
      before = std::move(place);
      backwards ? cursor.Previous() : cursor.Next();
    }
    EXPECT_EQ(found, seen);
    ++scans;
  };
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(static_cast<uint64_t>(reader));  // NOLINT
      while (there < kAll) {
        const uint64_t seen = there.load(std::memory_order_acquire);
        for (int i = 0; i < 20 && seen > 0; ++i) {
          const uint64_t tag = random() % seen + 1;
          EXPECT_EQ(Find(key(tag), tag), (Place{key(tag), tag}));
          const Place asked{key(random() % kAll).substr(0, random() % 5), random() % kAll};
          RadixTree::Cursor cursor(tree_);
          cursor.ToAtLeast({asked.key, asked.tag});
          EXPECT_FALSE(cursor.entry() != nullptr && PlaceOf(cursor.entry()) < asked);
          cursor.ToAtMost({asked.key, asked.tag});
          EXPECT_FALSE(cursor.entry() != nullptr && asked < PlaceOf(cursor.entry()));
        }
        scan(random() % 2 != 0, seen);
      }
    });
  }
  for (uint64_t tag = 1; tag <= kAll; ++tag) {
    tree_.Insert(entries[tag - 1]);
    there.store(tag, std::memory_order_release);
    while (tag % kBetweenScans == 0 && scans < tag / kBetweenScans * kReaders) std::this_thread::yield();
  }
}

}  // namespace
}  // namespace kvarts::memtable
