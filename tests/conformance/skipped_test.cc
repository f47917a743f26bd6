// The limit on what a scan steps over: exact, both ways, with what a caller needs to go on; and compaction, which ends
// the need for it.
#include <fmt/format.h>

#include <set>

#include "conformance.h"

namespace kvarts::test {
namespace {

class SkippedTest : public EngineTest {
 protected:
  static Bytes KeyOf(int n) { return fmt::format("k{:06}", n); }
  // "a", so many keys that were erased, "z".
  void Dig(int count) {
    durability_ = Durability::kNone;
    std::vector<Mutation> puts = {Mutation::Put("a", "1"), Mutation::Put("z", "1")};
    std::vector<Mutation> erasures;
    for (int i = 0; i < count; ++i) {
      puts.push_back(Mutation::Put(KeyOf(i), "old"));
      erasures.push_back(Mutation::Erase(KeyOf(i)));
    }
    Must(std::move(puts));
    Must(std::move(erasures));
  }
  static ScanRequest Request(uint64_t max_skipped, bool reverse) {
    ScanRequest request;
    request.reverse = reverse;
    request.options.max_skipped = max_skipped;
    return request;
  }
  // "ok 2", "cut 1" of a page that has a rest, or the name of the error.
  std::string CodeOfScan(const ScanRequest& request) {
    const auto page = NewView()->Scan(request);
    if (!page) return std::string(ErrorCodeName(page.error().code()));
    return fmt::format("{} {}", page->rest() ? "cut" : "ok", page->size());
  }
  uint64_t Skipped(const ScanRequest& asked) {
    ScanRequest request = asked;
    ReadCost cost;
    request.options.cost = &cost;
    EXPECT_TRUE(NewView()->Scan(request));
    return cost.skipped;
  }
};

TEST_P(SkippedTest, AScanMayStepOverSoManyTombstonesAndNotOneMore) {
  for (const int count : {1, 5, 63, 64, 65, 200, 1000}) {
    Open({});
    Dig(count);
    const auto n = static_cast<uint64_t>(count);
    for (const bool reverse : {false, true}) {
      EXPECT_EQ(CodeOfScan(Request(n + 1, reverse)), "ok 2") << count << reverse;
      EXPECT_EQ(CodeOfScan(Request(n, reverse)), "ok 2") << count << reverse;
      EXPECT_EQ(CodeOfScan(Request(n - 1, reverse)), "cut 1") << count << reverse;
      EXPECT_EQ(CodeOfScan(Request(0, reverse)), "cut 1") << count << reverse;
      EXPECT_EQ(Skipped(Request(UINT64_MAX, reverse)), n);
    }
  }
}

// A scan that begins to count only where there is something to count shows the same as any other.
TEST_P(SkippedTest, WhatLiesBetweenManyKeysIsCountedAndNothingIsShownTwice) {
  durability_ = Durability::kNone;
  ASSERT_TRUE(engine().AssignProfile({"k000300", "k000600"}, Profile::kIngest));
  uint64_t erased = 0;
  for (int i = 0; i < 900; ++i) {
    Must({Mutation::Put(KeyOf(i), "v", i % 97 == 5 ? In(Duration::Seconds(1)) : kNever)});
    if (i % 100 < 90) continue;
    Must({Mutation::Erase(KeyOf(i))});
    ++erased;
  }
  Wait(Duration::Seconds(2));
  for (const bool reverse : {false, true}) {
    ScanRequest request = Request(10'000, reverse);
    const auto page = NewView()->Scan(request);
    ASSERT_TRUE(page);
    std::set<Bytes> keys;
    for (size_t i = 0; i < page->size(); ++i) keys.emplace((*page)[i].key);
    EXPECT_EQ(keys.size(), page->size());
    EXPECT_EQ(Skipped(request), 900 - page->size());
    EXPECT_GT(Skipped(request), erased);  // there are expired ones too
  }
}

// What one profile's part ends with is not walked again when counting begins in the next one's.
TEST_P(SkippedTest, WhatWasSteppedOverBeforeCountingBeganStaysCounted) {
  durability_ = Durability::kNone;
  ASSERT_TRUE(engine().AssignProfile({"m", "n"}, Profile::kIngest));
  Must({Mutation::Put("a", "1"), Mutation::Put("mz", "1")});
  for (int i = 0; i < 5; ++i) Must({Owned(Mutation::Put("l" + KeyOf(i), "", In(Duration::Seconds(1))))});
  for (int i = 0; i < 3; ++i) Must({Owned(Mutation::Put("m" + KeyOf(i), "", In(Duration::Seconds(1))))});
  for (int i = 3; i < 6; ++i) {
    Must({Mutation::Put("m" + KeyOf(i), "old")});
    Must({Mutation::Erase("m" + KeyOf(i))});
  }
  Wait(Duration::Seconds(2));
  for (const bool reverse : {false, true}) EXPECT_EQ(Skipped(Request(1'000'000, reverse)), 11u) << reverse;
}

TEST_P(SkippedTest, ExpiredValuesCountToo) {
  Dig(100);
  for (int i = 0; i < 50; ++i) Must({Owned(Mutation::Put("l" + KeyOf(i), "", In(Duration::Seconds(1))))});
  Wait(Duration::Seconds(2));
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(CodeOfScan(Request(150, reverse)), "ok 2");
    EXPECT_EQ(CodeOfScan(Request(149, reverse)), "cut 1");
  }
}

TEST_P(SkippedTest, WhatLiesBehindAFullPageIsNotSteppedOver) {
  Dig(100);
  ScanRequest request = Request(10, false);
  request.max_entries = 1;
  request.range = {"a", "b"};
  EXPECT_EQ(CodeOfScan(request), "ok 1");
}

TEST_P(SkippedTest, TombstonesAtTheEndOfTheRangeCount) {
  Dig(100);
  for (const bool reverse : {false, true}) {
    ScanRequest request = Request(99, reverse);
    request.range = {"b", "y"};
    EXPECT_EQ(CodeOfScan(request), "overloaded");
    request.options.max_skipped = 100;
    EXPECT_EQ(CodeOfScan(request), "ok 0");
  }
}

// What was found is given before anything fails, however full the page is already, and what is left begins no later
// than with the next live key.
TEST_P(SkippedTest, AWallEndsAPageThatHasFoundSomething) {
  Dig(500);
  Must({Mutation::Put(KeyOf(250), "1")});
  for (const bool reverse : {false, true}) {
    for (const size_t entries : {1, 2, 10}) {
      ScanRequest request = Request(300, reverse);
      request.max_entries = entries;
      std::string found;
      size_t pages = 0;
      for (std::optional<KeyRange> rest = KeyRange::All(); rest && pages < 10; ++pages) {
        request.range = *rest;
        const auto page = NewView()->Scan(request);
        ASSERT_TRUE(page) << page.error();
        ASSERT_FALSE(page->empty());
        for (size_t i = 0; i < page->size(); ++i) found += (*page)[i].key;
        rest = page->rest();
      }
      EXPECT_EQ(found, reverse ? "z" + KeyOf(250) + "a" : "a" + KeyOf(250) + "z");
      EXPECT_LE(pages, 3U) << "what was stepped over once is not stepped over again";
    }
  }
}

TEST_P(SkippedTest, AWallAtTheEndOfTheRangeLeavesNothing) {
  Dig(100);
  ScanRequest request = Request(99, false);
  request.range = {"a", "y"};
  const auto page = NewView()->Scan(request);
  ASSERT_TRUE(page) << page.error();
  EXPECT_EQ(page->size(), 1U);
  // An engine may find out only by stepping on.
  if (!page->rest()) return;
  request.range = *page->rest();
  EXPECT_EQ(CodeOfScan(request), "ok 0");
}

TEST_P(SkippedTest, AWallAtTheEndOfAProfileIsNotTheEnd) {
  ASSERT_TRUE(engine().AssignProfile({"k", "l"}, Profile::kIngest));
  Dig(100);
  for (const bool reverse : {false, true}) {
    ScanRequest request = Request(50, reverse);
    std::string found;
    size_t pages = 0;
    for (std::optional<KeyRange> rest = KeyRange::All(); rest && pages < 10; ++pages) {
      request.range = *rest;
      const auto page = NewView()->Scan(request);
      if (!page) {
        const auto reached = ParseEscaped(page.error().field("reached"));
        ASSERT_TRUE(reached && !reached->empty()) << page.error();
        rest = reverse ? KeyRange{"", KeyAfter(*reached)} : KeyRange{*reached, ""};
        continue;
      }
      for (size_t i = 0; i < page->size(); ++i) found += (*page)[i].key;
      rest = page->rest();
    }
    EXPECT_EQ(found, reverse ? "za" : "az");
  }
}

TEST_P(SkippedTest, TheErrorSaysWhereToGoOn) {
  Dig(1000);
  for (const bool reverse : {false, true}) {
    ScanRequest request = Request(300, reverse);
    request.range = reverse ? KeyRange{"", "l"} : KeyRange{"b", ""};
    std::string found;
    int refusals = 0;
    while (true) {
      const auto page = NewView()->Scan(request);
      if (page) {
        for (size_t i = 0; i < page->size(); ++i) found += (*page)[i].key;
        break;
      }
      ASSERT_EQ(page.error().code(), ErrorCode::kOverloaded) << page.error();
      EXPECT_EQ(page.error().field("limit"), "max_skipped");
      EXPECT_EQ(page.error().field("at_most"), "300");
      EXPECT_GT(std::stoul(std::string(page.error().field("skipped"))), 300u);
      EXPECT_LE(std::stoul(std::string(page.error().field("skipped"))), 1000u);
      const auto reached = ParseEscaped(page.error().field("reached"));
      ASSERT_TRUE(reached && !reached->empty()) << page.error();
      // Onwards, and never past the next live key.
      if (reverse) {
        ASSERT_LT(KeyAfter(*reached), request.range.end);
        request.range.end = KeyAfter(*reached);
      } else {
        ASSERT_GT(*reached, request.range.start);
        request.range.start = *reached;
      }
      ASSERT_LT(++refusals, 10);
    }
    EXPECT_GE(refusals, 1);
    EXPECT_EQ(found, reverse ? "a" : "z");
  }
}

TEST_P(SkippedTest, WhatAGivenUpScanCostIsCounted) {
  Dig(500);
  ReadCost cost;
  ScanRequest request = Request(100, false);
  request.range.start = "b";
  request.options.cost = &cost;
  EXPECT_FALSE(NewView()->Scan(request));
  EXPECT_GT(cost.skipped, 100u);
}

// What was overwritten is not a tombstone, however much there is of it.
TEST_P(SkippedTest, OverwrittenValuesDoNotCount) {
  durability_ = Durability::kNone;
  for (int round = 0; round < 200; ++round) Must({Mutation::Put("a", "1"), Mutation::Put("b", "2")});
  for (const bool reverse : {false, true}) EXPECT_EQ(CodeOfScan(Request(0, reverse)), "ok 2");
}

TEST_P(SkippedTest, CompactingARangeEndsItsTombstones) {
  if (!engine().capabilities().persistent) GTEST_SKIP() << "erasures are remembered, for *range unchanged*";
  Dig(1000);
  Must({Mutation::Put("m", "1")});
  Must({Mutation::Erase("m")});
  ASSERT_TRUE(engine().Compact({"k", "l"}));
  ScanRequest request;
  request.range = {"k", "l"};
  for (const bool reverse : {false, true}) {
    request.reverse = reverse;
    EXPECT_EQ(Skipped(request), 0u);
    EXPECT_EQ(CodeOfScan(Request(1, reverse)), "ok 2");
  }
}

TEST_P(SkippedTest, CompactingEndsTombstonesOfEveryProfile) {
  if (!engine().capabilities().persistent) GTEST_SKIP() << "erasures are remembered, for *range unchanged*";
  for (const Profile profile : {Profile::kLookup, Profile::kIngest, Profile::kWindow}) {
    Open({});
    ASSERT_TRUE(engine().AssignProfile({"k", "l"}, profile));
    Dig(300);
    // Some of it lies deeper than the tombstones.
    ASSERT_TRUE(engine().Compact(KeyRange::All()));
    Dig(300);
    ASSERT_TRUE(engine().Compact({"k", "l"}));
    EXPECT_EQ(Skipped({}), 0u) << ProfileName(profile);
  }
}

KVARTS_ON_EVERY_ENGINE(SkippedTest);

}  // namespace
}  // namespace kvarts::test
