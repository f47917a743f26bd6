// Scans: both directions, every bound, pages of every size with exact resumption.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class ScanTest : public EngineTest {
 protected:
  // a=1, b=2, …, j=10.
  void PutLetters() {
    std::vector<Mutation> puts;
    for (int i = 0; i < 10; ++i) {
      puts.push_back(Mutation::Put(Bytes(1, static_cast<char>('a' + i)), std::to_string(i + 1)));
    }
    Must(std::move(puts));
  }
  // The keys of the range in order, run together.
  std::string Keys(const KeyRange& range, bool reverse = false) {
    ScanRequest request;
    request.range = range;
    request.reverse = reverse;
    return Joined(request);
  }
  std::string Joined(const ScanRequest& request) {
    const auto entries = Entries(*NewView(), request);
    std::string keys;
    for (const Found& entry : entries) keys += entry.key;
    return keys;
  }
};
KVARTS_ON_EVERY_ENGINE(ScanTest);

TEST_P(ScanTest, GoesThroughTheRangeInByteOrder) {
  PutLetters();
  EXPECT_EQ(Keys(KeyRange::All()), "abcdefghij");
  EXPECT_EQ(Keys({"c", "f"}), "cde");
  EXPECT_EQ(ShownScan(*NewView(), {"c", "f"}), "c=3 d=4 e=5");
}

TEST_P(ScanTest, GoesThroughTheRangeBackwards) {
  PutLetters();
  EXPECT_EQ(Keys(KeyRange::All(), true), "jihgfedcba");
  EXPECT_EQ(Keys({"c", "f"}, true), "edc");
}

TEST_P(ScanTest, BoundsNeedNotBeKeys) {
  PutLetters();
  Erase("c");
  Erase("f");
  EXPECT_EQ(Keys({"c", "f"}), "de");
  EXPECT_EQ(Keys({"c", "f"}, true), "ed");
  EXPECT_EQ(Keys({"bb", "dd"}), "d");
  EXPECT_EQ(Keys({"bb", "dd"}, true), "d");
  EXPECT_EQ(Keys({"A", "Z"}), "");
  EXPECT_EQ(Keys({"x", "z"}), "");
  EXPECT_EQ(Keys({"x", ""}, true), "");
}

TEST_P(ScanTest, AnEmptyStartOrEndIsNoBound) {
  PutLetters();
  EXPECT_EQ(Keys({"", "c"}), "ab");
  EXPECT_EQ(Keys({"", "c"}, true), "ba");
  EXPECT_EQ(Keys({"h", ""}), "hij");
  EXPECT_EQ(Keys({"h", ""}, true), "jih");
  Put("\xff\xff", "last");
  EXPECT_EQ(Keys({"j", ""}), "j\xff\xff");
  EXPECT_EQ(Keys({"j", ""}, true), "\xff\xffj");
}

TEST_P(ScanTest, AnEmptyRangeHoldsNothing) {
  PutLetters();
  EXPECT_EQ(Keys({"c", "c"}), "");
  EXPECT_EQ(Keys({"f", "c"}), "");
  EXPECT_EQ(Keys({"f", "c"}, true), "");
}

TEST_P(ScanTest, PrefixesAndSingleKeysAreRanges) {
  for (const char* key : {"a", "ab", "abc", "ac", "b"}) Put(key, "");
  EXPECT_EQ(Keys(KeyRange::Prefix("ab")), "ababc");
  EXPECT_EQ(Keys(KeyRange::Single("ab")), "ab");
  EXPECT_EQ(Keys(KeyRange::Single("ab"), true), "ab");
  Put("\xff", "");
  Put("\xff\x01", "");
  EXPECT_EQ(Keys(KeyRange::Prefix("\xff")), "\xff\xff\x01");
}

TEST_P(ScanTest, ResumesExactlyWithEveryPageSize) {
  PutLetters();
  for (const KeyRange& range : {KeyRange::All(), KeyRange{"b", "i"}, KeyRange{"bb", ""}}) {
    for (const bool reverse : {false, true}) {
      ScanRequest request;
      request.range = range;
      request.reverse = reverse;
      const std::string whole = Joined(request);
      for (size_t entries = 1; entries <= 12; ++entries) {
        request.max_entries = entries;
        EXPECT_EQ(Joined(request), whole) << range << " by " << entries;
      }
    }
  }
}

TEST_P(ScanTest, ResumesWhereKeysAreEachOthersPrefixes) {
  std::string whole;
  for (size_t i = 1; i <= 8; ++i) {
    Put(Bytes(i, '\0'), "");
    whole += Bytes(i, '\0');
  }
  for (size_t i = 1; i <= 8; ++i) {
    Put(Bytes(i, '\xff'), "");
    whole += Bytes(i, '\xff');
  }
  for (const bool reverse : {false, true}) {
    for (size_t entries = 1; entries <= 17; ++entries) {
      ScanRequest request;
      request.reverse = reverse;
      request.max_entries = entries;
      const auto found = Entries(*NewView(), request);
      ASSERT_EQ(found.size(), 16u);
      std::string keys;
      for (const Found& entry : found) {
        keys = reverse ? entry.key + keys : keys + entry.key;
      }
      EXPECT_EQ(keys, whole);
    }
  }
}

TEST_P(ScanTest, ResumesOverErasedAndExpiredKeysAtThePageEnds) {
  PutLetters();
  Erase("c");
  Erase("d");
  Put("g", "", In(Duration::Micros(1)));
  Put("j", "", In(Duration::Micros(1)));
  Wait(Duration::Seconds(1));
  for (size_t entries = 1; entries <= 12; ++entries) {
    ScanRequest request;
    request.max_entries = entries;
    EXPECT_EQ(Joined(request), "abefhi");
    request.reverse = true;
    EXPECT_EQ(Joined(request), "ihfeba");
  }
}

TEST_P(ScanTest, ARestIsLeftExactlyWhenThereIsMore) {
  PutLetters();
  const auto view = NewView();
  ScanRequest request;
  request.max_entries = 4;
  auto page = view->Scan(request);
  ASSERT_TRUE(page && page->rest());
  EXPECT_EQ(page->size(), 4u);
  EXPECT_TRUE(page->rest()->Contains("e"));
  EXPECT_FALSE(page->rest()->Contains("d"));
  request.max_entries = 100;
  page = view->Scan(request);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->size(), 10u);
  EXPECT_FALSE(page->rest());
  request.range = {"x", "z"};
  page = view->Scan(request);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->empty());
  EXPECT_FALSE(page->rest());
}

TEST_P(ScanTest, ARestIsGoodOnALaterView) {
  PutLetters();
  ScanRequest request;
  request.max_entries = 3;
  const auto page = NewView()->Scan(request);
  ASSERT_TRUE(page && page->rest());
  Put("a2", "behind");
  Put("d2", "ahead");
  Erase("e");
  request.range = *page->rest();
  request.max_entries = 100;
  EXPECT_EQ(Joined(request), "dd2fghij");
}

TEST_P(ScanTest, PagesAreBoundedInBytes) {
  for (int i = 0; i < 10; ++i) Put("k" + std::to_string(i), Bytes(98, 'v'));  // 100 bytes each
  const auto view = NewView();
  ScanRequest request;
  for (const auto& [bytes, entries] : {std::pair<size_t, size_t>{299, 2}, {300, 3}, {301, 3}}) {
    request.max_bytes = bytes;
    const auto page = view->Scan(request);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->size(), entries) << bytes;
    EXPECT_EQ(page->bytes(), entries * 100);
    ASSERT_TRUE(page->rest());
  }
  for (size_t bytes = 1; bytes < 1200; bytes += 37) {
    request.max_bytes = bytes;
    request.reverse = bytes % 2 == 0;
    EXPECT_EQ(Entries(*view, request).size(), 10u);
  }
}

TEST_P(ScanTest, APageHasRoomForAnEntryOfAnySize) {
  const size_t size = engine().limits().max_value_bytes;
  ASSERT_GT(size, engine().limits().max_page_bytes);
  Put("a", "small");
  Put("b", Bytes(size, 'x'));
  Put("c", "small");
  for (const bool reverse : {false, true}) {
    ScanRequest request;
    request.reverse = reverse;
    const auto all = Entries(*NewView(), request);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all.at(1).value.size(), size);
  }
}

TEST_P(ScanTest, KeysOnlyLeavesTheValuesOut) {
  PutLetters();
  Put("b", Bytes(1000, 'x'), In(Duration::Seconds(1)));
  const auto view = NewView();
  ScanRequest request;
  const auto full = Entries(*view, request);
  request.keys_only = true;
  request.max_bytes = 5;  // the bytes of values do not count
  const auto page = view->Scan(request);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->size(), 5u);
  const auto keys = Entries(*view, request);
  ASSERT_EQ(keys.size(), full.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(keys[i].key, full[i].key);
    EXPECT_EQ(keys[i].value, "");
    EXPECT_EQ(keys[i].header, full[i].header);
  }
}

TEST_P(ScanTest, APageIsHeldAgainstItsLimits) {
  Limits limits;
  limits.max_page_entries = 10;
  limits.max_page_bytes = 1000;
  Open(limits);
  Put("a", "1");
  const auto view = NewView();
  const auto code = [&](size_t entries, size_t bytes) {
    ScanRequest request;
    request.max_entries = entries;
    request.max_bytes = bytes;
    return CodeOf(view->Scan(request));
  };
  EXPECT_EQ(code(9, 999), "ok");
  EXPECT_EQ(code(10, 1000), "ok");
  EXPECT_EQ(code(11, 1000), "too_large");
  EXPECT_EQ(code(10, 1001), "too_large");
  EXPECT_EQ(code(0, 1000), "invalid_argument");
  EXPECT_EQ(code(10, 0), "invalid_argument");
  EXPECT_EQ(code(1, 1), "ok");
}

TEST_P(ScanTest, CostCountsWhatCameBack) {
  PutLetters();
  ReadCost cost;
  ScanRequest request;
  request.range = {"c", "f"};
  request.options.cost = &cost;
  ASSERT_TRUE(NewView()->Scan(request));
  EXPECT_EQ(cost.keys, 3u);
  EXPECT_EQ(cost.bytes, 6u);
  request.range = KeyRange::All();
  request.max_entries = 2;
  EXPECT_EQ(Entries(*NewView(), request).size(), 10u);
  EXPECT_EQ(cost.keys, 13u);  // added up over pages
  EXPECT_EQ(cost.bytes, 6u + 21u);
}

TEST_P(ScanTest, CostCountsErasedKeysThatItSteppedOver) {
  PutLetters();
  Must({Mutation::Erase("c"), Mutation::Erase("d"), Mutation::Erase("e")});
  ReadCost cost;
  ScanRequest request;
  request.options.cost = &cost;
  EXPECT_EQ(Entries(*NewView(), request).size(), 7u);
  EXPECT_EQ(cost.keys, 7u);
  EXPECT_GE(cost.skipped, 3u);
}

TEST_P(ScanTest, CostCountsExpiredValuesThatItSteppedOver) {
  PutLetters();
  Must(
      {Owned(Mutation::Put("c", "", In(Duration::Micros(1)))), Owned(Mutation::Put("j", "", In(Duration::Micros(1))))});
  Wait(Duration::Seconds(1));
  ReadCost cost;
  ScanRequest request;
  request.options.cost = &cost;
  EXPECT_EQ(Entries(*NewView(), request).size(), 8u);
  EXPECT_EQ(cost.keys, 8u);
  EXPECT_EQ(cost.skipped, 2u);
}

TEST_P(ScanTest, ShowsEachKeyOnceInItsNewestState) {
  for (int round = 0; round < 5; ++round) {
    for (const char* key : {"a", "b", "c"}) Put(key, std::to_string(round));
    Add("n", 1);
    if (round == 2) {
      ASSERT_TRUE(engine().Compact(KeyRange::All()));
    }
  }
  const auto entries = Entries(*NewView());
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].value, "4");
  EXPECT_EQ(entries[3].value, CounterValue(5));
}

TEST_P(ScanTest, OfManyThousandKeysIsComplete) {
  constexpr int kKeys = 20'000;
  for (int i = 0; i < kKeys; i += 1000) {
    std::vector<Mutation> puts;
    for (int j = i; j < i + 1000; ++j) {
      Bytes key = "k";
      AppendBig(&key, static_cast<uint32_t>(j * 7919 % kKeys));  // in no order
      puts.push_back(Mutation::Put(key, std::to_string(j)));
    }
    Must(std::move(puts));
  }
  const auto view = NewView();
  for (const bool reverse : {false, true}) {
    ScanRequest request;
    request.reverse = reverse;
    request.max_entries = 777;
    const auto all = Entries(*view, request);
    ASSERT_EQ(all.size(), static_cast<size_t>(kKeys));
    for (int i = 0; i < kKeys; ++i) {
      const uint32_t at = LoadBig<uint32_t>(all.at(i).key.data() + 1);
      ASSERT_EQ(at, static_cast<uint32_t>(reverse ? kKeys - 1 - i : i));
    }
  }
}

}  // namespace
}  // namespace kvarts::test
