// The map of the keyspace: numbers, ranges of spaces, and the user's keys in theirs.
#include "core/keyspace.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvarts {
namespace {

TEST(KeyspaceTest, NumbersAreTheOnesThatAreOnDisk) {
  EXPECT_EQ(static_cast<int>(Space::kSettings), 1);
  EXPECT_EQ(static_cast<int>(Space::kKeys), 2);
  EXPECT_EQ(static_cast<int>(Space::kFeed), 3);
  EXPECT_EQ(static_cast<int>(Space::kJobs), 4);
  EXPECT_EQ(static_cast<int>(Space::kExpiry), 5);
  EXPECT_EQ(static_cast<int>(Space::kJobQueue), 6);
}

TEST(KeyspaceTest, EverySpaceHasANameAndARangeOfItsOwn) {
  std::vector<KeyRange> ranges;
  constexpr int kSpaces = 12;
  for (int number = 1; number <= kSpaces; ++number) {
    const auto space = static_cast<Space>(number);
    EXPECT_FALSE(SpaceName(space).empty()) << number;
    for (const KeyRange& other : ranges) EXPECT_FALSE(other.Intersects(SpaceRange(space))) << number;
    ranges.push_back(SpaceRange(space));
    KeyBuffer key;
    BeginKey(&key, space).Text("a");
    EXPECT_TRUE(ranges.back().Contains(key.view())) << number;
  }
  EXPECT_TRUE(SpaceName(static_cast<Space>(0)).empty());
  EXPECT_TRUE(SpaceName(static_cast<Space>(kSpaces + 1)).empty());
}

TEST(KeyspaceTest, AUsersKeyComesBackFromItsPhysicalKey) {
  for (const Bytes& key : {Bytes(""), Bytes("a"), Bytes("user:1"), Bytes("\0\x01\xff", 3), Bytes(300, 'x')}) {
    const KeyBuffer physical = UserKey(key);
    EXPECT_TRUE(SpaceRange(Space::kKeys).Contains(physical.view()));
    ASSERT_TRUE(UserKeyOf(physical));
    EXPECT_EQ(*UserKeyOf(physical), key);
  }
}

TEST(KeyspaceTest, AKeyOfAnotherSpaceIsNoUsersKey) {
  KeyBuffer key;
  BeginKey(&key, Space::kJobs).Tail("a");
  EXPECT_FALSE(UserKeyOf(key));
  EXPECT_FALSE(UserKeyOf(""));
}

TEST(KeyspaceTest, UsersKeysKeepTheirOrder) {
  const std::vector<Bytes> keys = {Bytes(""),       Bytes("\0", 1), Bytes("\x01"), Bytes("a"),
                                   Bytes("a\0", 2), Bytes("a\x01"), Bytes("b"),    Bytes("\xff\xff")};
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_LT(UserKey(keys[i - 1]).view(), UserKey(keys[i]).view()) << i;
}

TEST(KeyspaceTest, AUsersRangeHoldsExactlyItsKeys) {
  const std::vector<Bytes> keys = {"", "a", "a1", "b", "\xff", "\xff\xff\xff"};
  const std::vector<KeyRange> ranges = {
      KeyRange::All(), {"a", "b"}, {"", "a"}, {"b", ""}, KeyRange::Prefix("\xff"), {"b", "a"}, KeyRange::Single("a")};
  for (const KeyRange& range : ranges) {
    for (const Bytes& key : keys) {
      EXPECT_EQ(UserRange(range).Contains(UserKey(key).view()), range.Contains(BytesView(key))) << range << " " << key;
    }
    EXPECT_TRUE(SpaceRange(Space::kKeys).Contains(UserRange(range))) << range;
  }
}

TEST(KeyspaceTest, KeysAreDescribedForPeople) {
  EXPECT_EQ(DescribeKey(UserKey("user:1")), "keys: user:1");
  EXPECT_EQ(DescribeKey(UserKey(Bytes("\0", 1))), "keys: \\x00");
  KeyBuffer settings;
  BeginKey(&settings, Space::kSettings).Text("feed").Uint(3);
  EXPECT_EQ(DescribeKey(settings), "settings: (1, \"feed\", 3)");
  Bytes unknown;
  TupleWriter(&unknown).Int(200).Text("a");
  EXPECT_EQ(DescribeKey(unknown), "unknown: (200, \"a\")");
  EXPECT_EQ(DescribeKey("\xff"), "unknown: (!x'ff')");
  EXPECT_EQ(DescribeKey(""), "unknown: ()");
}

}  // namespace
}  // namespace kvarts
