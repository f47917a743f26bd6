#include "model/structure/sorted_sets.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "core/job_runner.h"
#include "model/structure/structure_erase.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class SortedSetTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    databases_ = Databases::Open(store());
  }
  void TearDown() override {
    databases_.reset();
    StoreTest::TearDown();
  }

  // Runs it on the key in one transaction, which must succeed.
  template <class Change>
  void Do(BytesView name, const Change& change) {
    MustRun(
        [&](Txn& txn) -> Status {
          Structures keys(txn, *databases_);
          KVARTS_TRY(Key * key, keys.Open(0, name));
          KVARTS_TRY(SortedSet * set, key->Make<SortedSet>(Type::kSortedSet));
          KVARTS_CHECK_OK(change(*key, *set));
          if (key->exists()) key->Changed();
          keys.Flush();
          return {};
        },
        Quick());
  }
  // Members "m0" and so on, each with its number as its score; some thousand in each transaction.
  void Fill(BytesView name, int count) {
    for (int begin = 0; begin < count; begin += 4000) {
      Do(name, [&](Key&, SortedSet& set) -> Status {
        for (int i = begin; i < std::min(begin + 4000, count); ++i) {
          KVARTS_CHECK_OK(set.Put("m" + std::to_string(i), i, std::nullopt));
        }
        return {};
      });
    }
  }
  std::vector<SortedSet::Entry> Entries(BytesView name) {
    std::vector<SortedSet::Entry> entries;
    Do(name, [&](Key&, SortedSet& set) -> Status {
      entries.clear();
      return set.Visit(0, set.size(), false,
                       [&](BytesView member, double score) { entries.emplace_back(member, score); });
    });
    return entries;
  }
  size_t Stored(Space space) {
    ScanRequest request;
    request.range = SpaceRange(space);
    request.options.expired_too = true;
    return StoreTest::Entries(*NewView(), request).size();
  }
  void RunJobs() {
    JobRunner runner(store(), {StructureEraseKind(!engine().capabilities().shared)});
    const auto erase = StartStructureErase(store());
    ASSERT_TRUE(erase) << erase.error();
    for (int turns = 0; turns < 100; ++turns) {
      const auto turn = runner.TakeTurn();
      ASSERT_TRUE(turn) << turn.error();
      if (!turn->worked) return;
    }
  }

  std::unique_ptr<Databases> databases_;
};
KVARTS_ON_EVERY_ENGINE(SortedSetTest);

TEST(ScoreTest, BytesHaveTheOrderOfScores) {
  const double scores[] = {-kInfinity, -1e300, -2, -1e-300, 0, 1e-300, 1.5, 2, 1e300, kInfinity};
  Bytes before;
  for (const double score : scores) {
    Bytes bytes;
    AppendScore(&bytes, score);
    EXPECT_LT(before, bytes) << score;
    EXPECT_EQ(ScoreAt(bytes), score);
    before = bytes;
  }
  Bytes negative_zero;
  AppendScore(&negative_zero, -0.0);
  EXPECT_FALSE(std::signbit(ScoreAt(negative_zero)));
}

TEST(ScoreTest, BytesAreThoseOfTheFormat) {
  const auto hex = [](double score) {
    Bytes bytes;
    AppendScore(&bytes, score);
    return ToHex(bytes);
  };
  EXPECT_EQ(hex(1.5), "bff8000000000000");
  EXPECT_EQ(hex(-2), "3fffffffffffffff");
  EXPECT_EQ(hex(0), "8000000000000000");
}

TEST_P(SortedSetTest, BytesAreThoseOfTheFormat) {
  Do("z", [](Key&, SortedSet& set) -> Status {
    KVARTS_CHECK_OK(set.Put("a", 1.5, std::nullopt));
    EXPECT_EQ(ToHex(set.Encode()), "000109bff800000000000061");
    return {};
  });
}

// What a sorted set in the standard library would say.
struct Model {
  std::map<Bytes, double> scores;

  std::vector<SortedSet::Entry> Entries() const {
    std::vector<SortedSet::Entry> entries(scores.begin(), scores.end());
    std::ranges::sort(entries, [](const auto& a, const auto& b) {
      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    });
    return entries;
  }
};

Status Change(SortedSet& set, Model& model, std::mt19937_64& random) {
  const Bytes name = "m" + std::to_string(random() % 400);
  if (random() % 4 == 0) {
    KVARTS_TRY(const bool was_there, set.Erase(name));
    EXPECT_EQ(was_there, model.scores.erase(name) > 0);
    return {};
  }
  const auto score = static_cast<double>(random() % 40) / 4 - 5;
  KVARTS_TRY(const std::optional<double> before, set.Score(name));
  const auto known = model.scores.find(name);
  EXPECT_EQ(before, known == model.scores.end() ? std::nullopt : std::optional(known->second));
  KVARTS_CHECK_OK(set.Put(name, score, before));
  model.scores[name] = score;
  return {};
}

Status Compare(SortedSet& set, const Model& model, std::mt19937_64& random) {
  const std::vector<SortedSet::Entry> entries = model.Entries();
  EXPECT_EQ(set.size(), entries.size());
  const ScoreBound low{static_cast<double>(random() % 40) / 4 - 5, random() % 2 == 0};
  const ScoreBound high{static_cast<double>(random() % 40) / 4 - 5, random() % 2 == 0};
  KVARTS_TRY(const SortedSet::Places places, set.Between(low, high));
  const auto between = std::ranges::count_if(entries, [&](const auto& entry) {
    const double score = entry.second;
    return (low.excluded ? score > low.score : score >= low.score) &&
           (high.excluded ? score < high.score : score <= high.score);
  });
  EXPECT_EQ(places.size(), static_cast<uint64_t>(between));
  if (entries.empty()) return {};
  const uint64_t at = random() % entries.size();
  KVARTS_TRY(const uint64_t place, set.PlaceOf(entries[at].first, entries[at].second));
  EXPECT_EQ(place, at);
  std::vector<SortedSet::Entry> visited;
  KVARTS_CHECK_OK(set.Visit(at, 5, true, [&](BytesView name, double score) { visited.emplace_back(name, score); }));
  EXPECT_EQ(visited.size(), std::min<uint64_t>(5, at + 1));
  for (size_t i = 0; i < visited.size(); ++i) EXPECT_EQ(visited[i], entries[at - i]);
  return {};
}

TEST_P(SortedSetTest, BehavesAsOneInMemory) {
  Model model;
  std::mt19937_64 random(1);
  for (int round = 0; round < (GetParam().shared ? 15 : 120); ++round) {
    const Model held = model;
    const std::mt19937_64 before = random;
    Do("z", [&](Key&, SortedSet& set) -> Status {
      model = held;
      random = before;
      for (uint64_t i = random() % 20; i > 0; --i) KVARTS_CHECK_OK(Change(set, model, random));
      return Compare(set, model, random);
    });
    if (round % 10 != 0) continue;
    ASSERT_EQ(Entries("z"), model.Entries()) << round;
  }
}

TEST_P(SortedSetTest, RangesOfMembersAreTakenAway) {
  Fill("z", 500);
  Do("z", [](Key& key, SortedSet& set) -> Status {
    KVARTS_CHECK_OK(EraseAll(key, set, {100, 350}));
    KVARTS_TRY(const auto lowest, Pop(key, set, 2, false));
    EXPECT_THAT(lowest, ElementsAre(Pair("m0", 0), Pair("m1", 1)));
    KVARTS_TRY(const auto highest, Pop(key, set, 2, true));
    EXPECT_THAT(highest, ElementsAre(Pair("m499", 499), Pair("m498", 498)));
    KVARTS_TRY(const std::optional<double> gone, set.Score("m200"));
    EXPECT_FALSE(gone);
    return {};
  });
  EXPECT_EQ(Entries("z").size(), 246u);
  Do("z", [](Key& key, SortedSet& set) -> Status {
    KVARTS_CHECK_OK(Pop(key, set, 1000, true));
    EXPECT_FALSE(key.exists());
    return {};
  });
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), 0u);
}

TEST_P(SortedSetTest, NamesAreFoundInTheirOrder) {
  Do("z", [](Key&, SortedSet& set) -> Status {
    for (const char* name : {"a", "b", "ba", "c"}) KVARTS_CHECK_OK(set.Put(name, 7, std::nullopt));
    using Kind = NameBound::Kind;
    const NameBound all[] = {{Kind::kBeforeAll, {}, false}, {Kind::kBehindAll, {}, false}};
    const auto between = [&](const NameBound& low, const NameBound& high) -> std::pair<uint64_t, uint64_t> {
      const auto places = set.Between(low, high);
      return places ? std::pair(places->begin, places->end) : std::pair<uint64_t, uint64_t>(99, 99);
    };
    EXPECT_THAT(between(all[0], all[1]), Pair(0, 4));
    EXPECT_THAT(between(all[1], all[0]), Pair(4, 4));
    EXPECT_THAT(between({Kind::kName, "b", false}, {Kind::kName, "c", true}), Pair(1, 3));
    EXPECT_THAT(between({Kind::kName, "b", true}, {Kind::kName, "c", false}), Pair(2, 4));
    EXPECT_THAT(between({Kind::kName, "b", true}, {Kind::kName, "b", true}), Pair(2, 2));
    return {};
  });
}

TEST_P(SortedSetTest, WhatWasDroppedIsTakenAwayByAJob) {
  Fill("stays", 300);
  const size_t stays = Stored(Space::kStructureMembers);
  for (const int count : {300, 6000}) {
    Fill("goes", count);
    EXPECT_GT(Stored(Space::kStructureMembers), stays + static_cast<size_t>(count));
    Do("goes", [](Key& key, SortedSet&) -> Status {
      key.Remove();
      return {};
    });
    RunJobs();
    EXPECT_EQ(Stored(Space::kStructureMembers), stays) << count;
    EXPECT_EQ(Stored(Space::kStructuresDropped), 0u);
  }
  EXPECT_EQ(Entries("stays").size(), 300u);
}

TEST_P(SortedSetTest, ACopyHasMembersOfItsOwn) {
  Fill("z", 300);
  MustRun([&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(Key * from, keys.Open(0, "z"));
    KVARTS_TRY(Key * to, keys.Open(0, "copy"));
    KVARTS_CHECK_OK(from->CopyTo(to));
    KVARTS_TRY(SortedSet * set, to->As<SortedSet>(Type::kSortedSet));
    KVARTS_CHECK_OK(set->Erase("m7"));
    to->Changed();
    keys.Flush();
    return {};
  });
  EXPECT_EQ(Entries("z").size(), 300u);
  EXPECT_EQ(Entries("copy").size(), 299u);
}

TEST_P(SortedSetTest, EveryMemberIsAsLikelyAsAnyOther) {
  Fill("z", 200);
  std::map<Bytes, int> chosen;
  std::mt19937_64 random(1);
  Do("z", [&](Key&, SortedSet& set) -> Status {
    chosen.clear();
    for (int i = 0; i < 200; ++i) {
      KVARTS_TRY(const auto several, set.Choose(i % 2 == 0 ? 100 : -100, [&] { return random(); }));
      std::set<Bytes> names;
      for (const auto& [name, score] : several) {
        ++chosen[name];
        names.insert(name);
      }
      EXPECT_EQ(several.size(), 100u);
      EXPECT_TRUE(i % 2 == 1 || names.size() == 100u);
    }
    return {};
  });
  EXPECT_EQ(chosen.size(), 200u);
  for (const auto& [name, times] : chosen) {
    EXPECT_GT(times, 60) << name;
    EXPECT_LT(times, 140) << name;
  }
}

TEST_P(SortedSetTest, AScanSeesEveryMember) {
  Fill("z", 500);
  std::set<std::string> seen;
  uint64_t place = 0;
  do {
    Do("z", [&](Key&, SortedSet& set) -> Status {
      KVARTS_TRY(place, set.Scan(place, 7, [&](BytesView name, double) { seen.emplace(name); }));
      return {};
    });
  } while (place != 0 && seen.size() < 500);
  EXPECT_EQ(seen.size(), 500u);
}

// What is asked of a sorted set costs a read or two per level, and a member one.
TEST_P(SortedSetTest, ReadsFewRecordsHoweverLargeItIs) {
  if (GetParam().shared) GTEST_SKIP() << "what is read is the same on every engine";
  const auto reads = [&](auto ask) {
    uint64_t count = 0;
    MustRun([&](Txn& txn) -> Status {
      Structures keys(txn, *databases_);
      KVARTS_TRY(Key * key, keys.Open(0, "z"));
      KVARTS_TRY(SortedSet * set, key->As<SortedSet>(Type::kSortedSet));
      const uint64_t before = txn.cost().read.keys;
      KVARTS_CHECK_OK(ask(*set));
      count = txn.cost().read.keys - before;
      return {};
    });
    return count;
  };
  for (const int count : {1000, 10'000, 100'000}) {
    Do("z", [](Key& key, SortedSet&) -> Status {
      key.Remove();
      return {};
    });
    Fill("z", count);
    const Bytes name = "m" + std::to_string(count / 2);
    EXPECT_LE(reads([&](SortedSet& set) -> Status {
                KVARTS_CHECK_OK(set.Score(name));
                return {};
              }),
              1u);
    EXPECT_LE(reads([&](SortedSet& set) -> Status {
                KVARTS_TRY(const uint64_t place, set.PlaceOf(name, count / 2));
                EXPECT_EQ(place, static_cast<uint64_t>(count / 2));
                return {};
              }),
              5u);
    EXPECT_LE(reads([&](SortedSet& set) -> Status {
                KVARTS_TRY(const auto places, set.Between(ScoreBound{10, true}, ScoreBound{count - 10.0, false}));
                EXPECT_EQ(places.size(), static_cast<uint64_t>(count - 20));
                return {};
              }),
              8u);
    EXPECT_LE(reads([&](SortedSet& set) -> Status {
                return set.Visit(static_cast<uint64_t>(count / 2), 10, false, [](BytesView, double) {});
              }),
              8u);
  }
}

}  // namespace
}  // namespace kvarts::structure
