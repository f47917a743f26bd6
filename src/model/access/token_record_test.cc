// Tokens as they are stored and as their bearers have them; FORMAT.md's tables are read and tried.
#include "model/access/token_record.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "core/keyspace.h"
#include "support/format_table.h"
#include "support/printing.h"

namespace kvarts {
namespace {

const std::string kSecret = "Qm9iJ3Mgc2VjcmV0IGlzIHRoaXJ0eS10d28gYnl0ZXM";

Bytes BytesOf(const std::string& cell) {
  const auto bytes = FromHex(WithoutTicks(cell));
  EXPECT_TRUE(bytes.has_value()) << cell;
  return bytes.value_or(Bytes());
}

// "name ci, scope read": a token, put together word by word.
TokenRecord TokenOf(const std::string& cell) {
  TokenRecord token;
  std::istringstream parts(WithoutTicks(cell));
  for (std::string part; std::getline(parts, part, ',');) {
    part = TrimmedCell(part);
    const size_t space = std::min(part.find(' '), part.size());
    const std::string name = part.substr(0, space);
    std::string value = TrimmedCell(part.substr(space));
    if (name == "name") token.info.name = value;
    if (name == "created") token.info.created = {std::stoull(value)};
    if (name == "secret") token.hash = Sha256(value);
    if (name == "disabled") token.info.disabled = true;
    if (name == "per-second") token.info.limit.emplace().per_second = static_cast<uint32_t>(std::stoul(value));
    if (name == "burst") token.info.limit->burst = static_cast<uint32_t>(std::stoul(value));
    if (!name.starts_with("scope")) continue;
    std::ranges::replace(value, ';', ',');
    token.info.scopes.push_back(Scope::Parse(value).value());
  }
  return token;
}

TEST(TokenFormatTest, EveryVectorEncodesAndDecodesAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of tokens")) {
    const TokenRecord token = TokenOf(row.at(0));
    const Bytes bytes = BytesOf(row.at(1));
    const auto encoded = token.Encode();
    ASSERT_TRUE(encoded.has_value()) << encoded.error();
    EXPECT_EQ(ToHex(*encoded), ToHex(bytes)) << row.at(0);
    const auto decoded = TokenRecord::Decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(*decoded, token) << row.at(0);
  }
}

TEST(TokenFormatTest, WhatIsNoTokenIsRefused) {
  for (const FormatRow& row : FormatTableUnder("### Refused as tokens")) {
    const auto decoded = TokenRecord::Decode(BytesOf(row.at(0)));
    ASSERT_FALSE(decoded.has_value()) << row.at(1);
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorruption) << row.at(1);
  }
}

TEST(TokenFormatTest, TheKeyIsTheOneInTheMap) {
  const TokenId id{"0123456789ab"};
  const KeyBuffer key = TokenKey(id);
  EXPECT_EQ(DescribeKey(key), "settings: (1, \"token\", \"0123456789ab\")");
  EXPECT_TRUE(TokenKeys().Contains(key.view()));
  EXPECT_EQ(TokenOfKey(key).value(), id);
  KeyBuffer wrong;
  BeginKey(&wrong, Space::kSettings).Text("token").Text("short");
  EXPECT_EQ(TokenOfKey(wrong).error().code(), ErrorCode::kCorruption);
  EXPECT_FALSE(TokenKeys().Contains(UserKey("token").view()));
}

TEST(TokenTextTest, IsItsParts) {
  const std::string text = TokenText::Make({"0123456789ab"}, kSecret);
  EXPECT_EQ(text, "kv_0123456789ab_" + kSecret);
  const auto parts = TokenText::Parse(text);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->id, "0123456789ab");
  EXPECT_EQ(parts->secret, kSecret);
}

TEST(TokenTextTest, ASecretMayHoldAnyCharacterOfItsAlphabet) {
  const std::string secret = "-_" + kSecret.substr(2);
  EXPECT_EQ(TokenText::Parse("kv_0123456789ab_" + secret)->secret, secret);
}

TEST(TokenTextTest, AnythingElseIsNone) {
  const std::string text = "kv_0123456789ab_" + kSecret;
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(TokenText::Parse(text.substr(0, size))) << size;
  for (const std::string& bad :
       {text + "A", "KV_0123456789ab_" + kSecret, "kv-0123456789ab_" + kSecret, "kv_0123456789ab-" + kSecret,
        "kv_0123456789aB_" + kSecret, "kv_0123456789al_" + kSecret, "kv_0123456789a__" + kSecret,
        "kv_0123456789ab_" + kSecret.substr(1) + "=", "kv_0123456789ab_" + kSecret.substr(1) + " ",
        "kv_0123456789ab_" + kSecret.substr(1) + std::string(1, '\0'), "Bearer " + text, " " + text.substr(1)}) {
    EXPECT_FALSE(TokenText::Parse(bad)) << bad;
  }
}

TEST(TokenIdTest, RandomOnesAreIdsAndDiffer) {
  std::set<TokenId> seen;
  std::set<char> characters;
  for (int i = 0; i < 1000; ++i) {
    const TokenId id = TokenId::Random();
    EXPECT_EQ(TokenId::Parse(id.text).value(), id);
    seen.insert(id);
    characters.insert(id.text.begin(), id.text.end());
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(characters.size(), 32u);
}

TEST(TokenInfoTest, FieldsHaveLimits) {
  TokenInfo info{.id = {}, .name = "ci", .created = {}, .expiry = kNever, .scopes = {}, .limit = {}, .disabled = false};
  EXPECT_EQ(info.Check().error().code(), ErrorCode::kInvalidArgument) << "no scope";
  info.scopes.assign(TokenInfo::kMaxScopes, Scope::Everything(Right::kRead));
  EXPECT_TRUE(info.Check().has_value());
  info.scopes.push_back(info.scopes[0]);
  EXPECT_EQ(info.Check().error().code(), ErrorCode::kTooLarge);
  info.scopes.resize(1);
  info.name = std::string(TokenInfo::kMaxNameBytes, 'x');
  EXPECT_TRUE(info.Check().has_value());
  info.name.push_back('x');
  EXPECT_EQ(info.Check().error().code(), ErrorCode::kTooLarge);
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string("a\0", 2), std::string("\x7f")}) {
    info.name = name;
    EXPECT_EQ(info.Check().error().code(), ErrorCode::kInvalidArgument) << Escaped(name);
  }
  info.name = "Ådas Laptop";
  EXPECT_TRUE(info.Check().has_value());
  info.limit = RateLimit{1, 0};
  EXPECT_FALSE(info.Check().has_value());
  info.limit = RateLimit{1, 1};
  EXPECT_TRUE(info.Check().has_value());
}

}  // namespace
}  // namespace kvarts
