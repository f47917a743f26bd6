// Users as they are stored; FORMAT.md's tables are read and tried.
#include "model/access/user_record.h"

#include <gtest/gtest.h>

#include <sstream>

#include "core/keyspace.h"
#include "support/format_table.h"
#include "support/printing.h"

namespace kvarts {
namespace {

const std::string kId = "12345678";

Bytes BytesOf(const std::string& cell) {
  const auto bytes = FromHex(WithoutTicks(cell));
  EXPECT_TRUE(bytes.has_value()) << cell;
  return bytes.value_or(Bytes());
}

// "on, password x, selector, reads r*, channel c, rule +@all": a user, put together word by word.
UserRecord UserOf(const std::string& cell) {
  UserRecord user;
  user.id = kId;
  std::istringstream parts(WithoutTicks(cell));
  for (std::string part; std::getline(parts, part, ',');) {
    part = TrimmedCell(part);
    const size_t space = std::min(part.find(' '), part.size());
    const std::string name = part.substr(0, space);
    const std::string value = TrimmedCell(part.substr(space));
    if (name == "on") user.flags |= UserRecord::kOn;
    if (name == "nopass") user.flags |= UserRecord::kNoPassword;
    if (name == "sanitize") user.flags |= UserRecord::kSanitizes;
    if (name == "skip") user.flags |= UserRecord::kSkipsSanitizing;
    if (name == "password") user.passwords.push_back(Sha256(value));
    if (name == "selector") user.selectors.emplace_back();
    if (user.selectors.empty()) continue;
    SelectorRecord& selector = user.selectors.back();
    if (name == "all-keys") selector.all_keys = true;
    if (name == "all-channels") selector.all_channels = true;
    if (name == "reads") selector.keys.push_back({value, KeyPattern::kReads});
    if (name == "writes") selector.keys.push_back({value, KeyPattern::kWrites});
    if (name == "both") selector.keys.push_back({value, KeyPattern::kBoth});
    if (name == "channel") selector.channels.push_back(value);
    if (name == "rule") selector.commands.push_back(value);
  }
  return user;
}

TEST(UserFormatTest, EveryVectorEncodesAndDecodesAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of users")) {
    const UserRecord user = UserOf(row.at(0));
    const Bytes bytes = BytesOf(row.at(1));
    const auto encoded = user.Encode();
    ASSERT_TRUE(encoded.has_value()) << encoded.error();
    EXPECT_EQ(ToHex(*encoded), ToHex(bytes)) << row.at(0);
    const auto decoded = UserRecord::Decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(*decoded, user) << row.at(0);
  }
}

TEST(UserFormatTest, WhatIsNoUserIsRefused) {
  for (const FormatRow& row : FormatTableUnder("### Refused as users")) {
    const auto decoded = UserRecord::Decode(BytesOf(row.at(0)));
    ASSERT_FALSE(decoded.has_value()) << row.at(1);
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorruption) << row.at(1);
  }
}

TEST(UserFormatTest, TheKeyIsTheOneInTheMap) {
  const KeyBuffer key = UserKeyOfName("ada");
  EXPECT_EQ(DescribeKey(key), "settings: (1, \"user\", x'616461')");
  EXPECT_TRUE(UserKeys().Contains(key.view()));
  EXPECT_EQ(UserNameOfKey(key).value(), "ada");
  const Bytes odd("a\0\xff", 3);
  EXPECT_EQ(UserNameOfKey(UserKeyOfName(odd)).value(), odd);
  EXPECT_FALSE(UserKeys().Contains(UserKey("user").view()));
}

TEST(UserFormatTest, NamesAndRulesHaveLimits) {
  UserRecord user = UserOf("on, selector");
  user.name = Bytes(UserRecord::kMaxNameBytes, 'x');
  EXPECT_TRUE(user.Encode().has_value());
  user.name.push_back('x');
  EXPECT_EQ(user.Encode().error().code(), ErrorCode::kTooLarge);
  user.name = "ada";
  const size_t around = user.Encode()->size() + 3;  // what says how long the pattern is
  user.selectors[0].channels.emplace_back(UserRecord::kMaxBytes - around, 'x');
  const auto largest = user.Encode();
  ASSERT_TRUE(largest.has_value()) << largest.error();
  EXPECT_EQ(largest->size(), UserRecord::kMaxBytes);
  EXPECT_TRUE(UserRecord::Decode(*largest).has_value());
  user.selectors[0].channels[0].push_back('x');
  EXPECT_EQ(user.Encode().error().code(), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace kvarts
