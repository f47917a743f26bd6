#include "encoding/key_range.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kvarts {
namespace {

using std::string_literals::operator""s;

// Short keys over few bytes, so that they meet.
rc::Gen<Bytes> AnyKey() {
  const auto byte = rc::gen::element('\0', 'a', 'b', '\xff');
  return rc::gen::resize(3, rc::gen::container<Bytes>(byte));
}
rc::Gen<KeyRange> AnyRange() { return rc::gen::construct<KeyRange>(AnyKey(), AnyKey()); }

TEST(KeyRangeTest, AllHoldsEverything) {
  EXPECT_TRUE(KeyRange::All().Contains(""));
  EXPECT_TRUE(KeyRange::All().Contains("\xff\xff"));
  EXPECT_FALSE(KeyRange::All().IsEmpty());
  EXPECT_FALSE(KeyRange::All().HasEnd());
}

TEST(KeyRangeTest, HoldsItsStartAndNotItsEnd) {
  const KeyRange range{"b", "d"};
  EXPECT_FALSE(range.Contains("a\xff"));
  EXPECT_TRUE(range.Contains("b"));
  EXPECT_TRUE(range.Contains("c\xff"));
  EXPECT_FALSE(range.Contains("d"));
}

TEST(KeyRangeTest, BytesCompareAsUnsigned) { EXPECT_TRUE((KeyRange{"a", "\xff"}.Contains("\x80"))); }

TEST(KeyRangeTest, SingleHoldsOneKey) {
  const KeyRange range = KeyRange::Single("k");
  EXPECT_TRUE(range.Contains("k"));
  EXPECT_FALSE(range.Contains("k\0"s));
  EXPECT_FALSE(range.Contains("j"));
  EXPECT_TRUE(KeyRange::Single("").Contains(""));
  EXPECT_FALSE(KeyRange::Single("").Contains("\0"s));
}

TEST(KeyRangeTest, PrefixOfTheLastBytesHasNoEnd) {
  EXPECT_FALSE(KeyRange::Prefix("\xff").HasEnd());
  EXPECT_TRUE(KeyRange::Prefix("\xff").Contains("\xff\xff\xff"));
  EXPECT_EQ(KeyRange::Prefix(""), KeyRange::All());
}

TEST(KeyRangeTest, IsEmptyWhenTheStartIsNotBeforeTheEnd) {
  EXPECT_TRUE((KeyRange{"b", "b"}.IsEmpty()));
  EXPECT_TRUE((KeyRange{"b", "a"}.IsEmpty()));
  EXPECT_FALSE((KeyRange{"b", "b\0"s}.IsEmpty()));
  EXPECT_FALSE((KeyRange{"b", ""}.IsEmpty()));
}

TEST(KeyRangeTest, TouchingRangesDoNotIntersect) {
  EXPECT_FALSE((KeyRange{"a", "b"}.Intersects({"b", "c"})));
  EXPECT_TRUE((KeyRange{"a", "b\0"s}.Intersects({"b", "c"})));
}

TEST(KeyRangeTest, PrintsEscaped) { EXPECT_EQ((KeyRange{"a", "b\0"s}.ToString()), "[\"a\", \"b\\x00\")"); }

RC_GTEST_PROP(KeyRangeTest, PrefixHoldsExactlyTheKeysWithIt, ()) {
  const Bytes prefix = *AnyKey();
  const Bytes key = *AnyKey();
  RC_ASSERT(KeyRange::Prefix(prefix).Contains(key) == key.starts_with(prefix));
}

RC_GTEST_PROP(KeyRangeTest, IntersectionHoldsWhatBothHold, ()) {
  const KeyRange a = *AnyRange();
  const KeyRange b = *AnyRange();
  const Bytes key = *AnyKey();
  RC_ASSERT(a.Intersect(b).Contains(key) == (a.Contains(key) && b.Contains(key)));
  RC_ASSERT(a.Intersects(b) == b.Intersects(a));
  RC_ASSERT(!(a.Contains(key) && b.Contains(key)) || a.Intersects(b));
}

RC_GTEST_PROP(KeyRangeTest, AnEmptyRangeHoldsNothing, ()) {
  const KeyRange range = *AnyRange();
  RC_ASSERT(!range.IsEmpty() || !range.Contains(*AnyKey()));
  RC_ASSERT(range.IsEmpty() || range.Contains(range.start));
}

RC_GTEST_PROP(KeyRangeTest, ARangeThatContainsAnotherHoldsAllItsKeys, ()) {
  const KeyRange a = *AnyRange();
  const KeyRange b = *AnyRange();
  const Bytes key = *AnyKey();
  RC_ASSERT(!a.Contains(b) || !b.Contains(key) || a.Contains(key));
  RC_ASSERT(a.Contains(a.Intersect(b)));
}

}  // namespace
}  // namespace kvarts
