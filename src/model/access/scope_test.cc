// What scopes allow, tried from every side.
#include "model/access/scope.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvarts {
namespace {

using Scopes = std::vector<Scope>;

constexpr Rights kReadWrite = Rights(Right::kRead) | Right::kWrite;

bool May(const Scopes& scopes, Right right, BytesView key, std::string_view name_space = {}) {
  return Allows(scopes, right, key, name_space);
}
bool MayAll(const Scopes& scopes, Right right, const KeyRange& range, std::string_view name_space = {}) {
  return Allows(scopes, right, range, name_space);
}

TEST(ScopeTest, WithoutScopesNothingIsAllowed) {
  EXPECT_FALSE(May({}, Right::kRead, "a"));
  EXPECT_FALSE(MayAll({}, Right::kRead, KeyRange::All()));
  EXPECT_FALSE(AllowsAdmin(Scopes{}));
  EXPECT_FALSE(AllowsAdmin(Scopes{}, "cases"));
}

TEST(ScopeTest, SomeRightIsARightOverAnything) {
  const Scopes scopes = {Scope::Prefix(Right::kRead, "p/"), Scope::Namespace(Right::kAdmin, "cases")};
  EXPECT_TRUE(AllowsSome(scopes, Right::kRead));
  EXPECT_FALSE(AllowsSome(scopes, Right::kWrite));
  EXPECT_TRUE(AllowsSome(scopes, Right::kAdmin));
  EXPECT_FALSE(AllowsSome(Scopes{}, Right::kRead));
  for (const Right right : {Right::kRead, Right::kWrite, Right::kAdmin}) {
    EXPECT_TRUE(AllowsSome(Scopes{Scope::Everything(Right::kAdmin)}, right));
  }
}

TEST(ScopeTest, ReadAndWriteDoNotImplyEachOther) {
  const Scopes reader = {Scope::Everything(Right::kRead)};
  const Scopes writer = {Scope::Everything(Right::kWrite)};
  EXPECT_TRUE(May(reader, Right::kRead, "a"));
  EXPECT_FALSE(May(reader, Right::kWrite, "a"));
  EXPECT_FALSE(May(writer, Right::kRead, "a"));
  EXPECT_TRUE(May(writer, Right::kWrite, "a"));
  EXPECT_TRUE(MayAll(writer, Right::kWrite, KeyRange::All()));
  EXPECT_FALSE(MayAll(writer, Right::kRead, KeyRange::All()));
  for (const Scopes& scopes : {reader, writer}) EXPECT_FALSE(AllowsAdmin(scopes));
}

TEST(ScopeTest, AdminOverEverythingIsAllThereIs) {
  const Scopes admin = {Scope::Everything(Right::kAdmin)};
  EXPECT_TRUE(May(admin, Right::kRead, "a"));
  EXPECT_TRUE(May(admin, Right::kWrite, "a", "cases"));
  EXPECT_TRUE(MayAll(admin, Right::kWrite, KeyRange::All()));
  EXPECT_TRUE(AllowsAdmin(admin));
  EXPECT_TRUE(AllowsAdmin(admin, "cases"));
}

TEST(ScopeTest, AdminOfANamespaceSaysNothingAboutKeys) {
  const Scopes admin = {Scope::Namespace(Right::kAdmin, "cases")};
  EXPECT_FALSE(May(admin, Right::kRead, "a", "cases"));
  EXPECT_FALSE(May(admin, Right::kWrite, "a", "cases"));
  EXPECT_FALSE(MayAll(admin, Right::kRead, {"a", "b"}, "cases"));
  EXPECT_TRUE(AllowsAdmin(admin, "cases"));
  EXPECT_FALSE(AllowsAdmin(admin, "case"));
  EXPECT_FALSE(AllowsAdmin(admin, ""));
  EXPECT_FALSE(AllowsAdmin(admin));
}

TEST(ScopeTest, ANamespaceIsMatchedByItsWholeName) {
  const Scopes scopes = {Scope::Namespace(kReadWrite, "cases")};
  EXPECT_TRUE(May(scopes, Right::kWrite, "anything", "cases"));
  EXPECT_TRUE(MayAll(scopes, Right::kRead, KeyRange::All(), "cases")) << "who asks says where the range lies";
  for (const std::string_view other : {"", "case", "cases2", "Cases"}) {
    EXPECT_FALSE(May(scopes, Right::kRead, "anything", other)) << other;
    EXPECT_FALSE(MayAll(scopes, Right::kRead, {"a", "b"}, other)) << other;
  }
}

TEST(ScopeTest, APrefixHoldsTheKeysThatBeginWithIt) {
  const Scopes scopes = {Scope::Prefix(Right::kRead, "user:1")};
  for (const BytesView key : {"user:1", "user:12", "user:1/a"}) EXPECT_TRUE(May(scopes, Right::kRead, key)) << key;
  for (const BytesView key : {"", "user:", "user:0", "user:2", "User:1", "xuser:1"}) {
    EXPECT_FALSE(May(scopes, Right::kRead, key)) << key;
  }
  EXPECT_FALSE(May(scopes, Right::kWrite, "user:1"));
  EXPECT_TRUE(May(scopes, Right::kRead, "user:1", "cases")) << "also within a namespace";
}

TEST(ScopeTest, ARangeMustLieWithinThePrefixAsAWhole) {
  const Scopes scopes = {Scope::Prefix(kReadWrite, "b")};
  for (const KeyRange& range : {KeyRange::Prefix("b"), KeyRange{"b", "c"}, KeyRange{"b1", "b2"}, KeyRange{"bzz", "c"},
                                KeyRange::Single("b"), KeyRange::Prefix("b\xff")}) {
    EXPECT_TRUE(MayAll(scopes, Right::kWrite, range)) << range;
  }
  for (const KeyRange& range :
       {KeyRange::All(), KeyRange{"b", ""}, KeyRange{"", "c"}, KeyRange{"a", "c"}, KeyRange{"a\xff", "c"},
        KeyRange{"b", Bytes("c\0", 2)}, KeyRange{"b1", "d"}, KeyRange{"a", "b"}, KeyRange{"c", "d"}}) {
    EXPECT_FALSE(MayAll(scopes, Right::kWrite, range)) << range;
  }
}

TEST(ScopeTest, APrefixWithoutAnEndHoldsRangesWithoutOne) {
  const Scopes scopes = {Scope::Prefix(Right::kRead, "\xff\xff")};
  EXPECT_TRUE(MayAll(scopes, Right::kRead, {"\xff\xff", ""}));
  EXPECT_TRUE(MayAll(scopes, Right::kRead, {"\xff\xff\x01", ""}));
  EXPECT_FALSE(MayAll(scopes, Right::kRead, {"\xff", ""}));
}

TEST(ScopeTest, ARangeThatHoldsNothingIsInNoPlace) {
  for (const KeyRange& empty : {KeyRange{"c", "b"}, KeyRange{"b", "b"}}) {
    EXPECT_FALSE(MayAll({Scope::Prefix(Right::kRead, "b")}, Right::kRead, empty));
    EXPECT_FALSE(MayAll({Scope::Namespace(Right::kRead, "cases")}, Right::kRead, empty, "cases"));
    EXPECT_TRUE(MayAll({Scope::Everything(Right::kRead)}, Right::kRead, empty));
  }
}

TEST(ScopeTest, ScopesAllowOneByOneAndNotTogether) {
  const Scopes scopes = {Scope::Prefix(Right::kRead, "a"), Scope::Prefix(kReadWrite, "b"),
                         Scope::Namespace(Right::kWrite, "cases")};
  EXPECT_TRUE(MayAll(scopes, Right::kRead, {"a", "b"}));
  EXPECT_TRUE(MayAll(scopes, Right::kRead, {"b", "c"}));
  EXPECT_FALSE(MayAll(scopes, Right::kRead, {"a", "c"})) << "side by side";
  EXPECT_FALSE(May(scopes, Right::kWrite, "a1"));
  EXPECT_TRUE(May(scopes, Right::kWrite, "a1", "cases"));
  EXPECT_FALSE(May(scopes, Right::kRead, "x", "cases"));
}

TEST(ScopeTest, TablesAreAProjectADatasetOrOneOfThem) {
  const std::vector<Scope> scopes = {Scope::Tables(Right::kRead, "acme"), Scope::Tables(kReadWrite, "acme/metrics"),
                                     Scope::Tables(Right::kAdmin, "other/shop/orders")};
  const auto may = [&](Right right, std::string_view path) { return AllowsTables(scopes, right, path); };
  EXPECT_TRUE(may(Right::kRead, "acme"));
  EXPECT_TRUE(may(Right::kRead, "acme/shop/orders"));
  EXPECT_FALSE(may(Right::kRead, "acme2")) << "a name is no prefix";
  EXPECT_FALSE(may(Right::kRead, "")) << "all projects";
  EXPECT_FALSE(may(Right::kWrite, "acme"));
  EXPECT_FALSE(may(Right::kWrite, "acme/shop/orders"));
  EXPECT_TRUE(may(Right::kWrite, "acme/metrics/events"));
  EXPECT_FALSE(may(Right::kWrite, "acme/metrics2/events"));
  EXPECT_TRUE(may(Right::kAdmin, "other/shop/orders"));
  EXPECT_FALSE(may(Right::kRead, "other/shop/orders")) << "admin over tables says nothing about rows";
  EXPECT_FALSE(may(Right::kAdmin, "other/shop"));
  // Rows are no keys, and keys no rows.
  EXPECT_FALSE(May(scopes, Right::kRead, "acme"));
  EXPECT_FALSE(May(scopes, Right::kRead, "acme", "acme"));
  EXPECT_FALSE(AllowsAdmin(scopes));
  EXPECT_FALSE(AllowsTables(std::vector{Scope::Prefix(Right::kRead, "acme")}, Right::kRead, "acme"));
  EXPECT_TRUE(AllowsTables(std::vector{Scope::Everything(Right::kRead)}, Right::kRead, ""));
  EXPECT_TRUE(AllowsTables(std::vector{Scope::Everything(Right::kAdmin)}, Right::kWrite, "acme/metrics/events"));
}

TEST(ScopeTest, WhatIsNoScopeIsRefused) {
  EXPECT_FALSE(Scope::Everything({}).Check().has_value());
  EXPECT_FALSE(Scope::Namespace(Right::kRead, "").Check().has_value());
  EXPECT_FALSE(Scope::Prefix(Right::kRead, "").Check().has_value());
  EXPECT_FALSE(Scope::Prefix(Right::kAdmin, "a").Check().has_value());
  EXPECT_FALSE(Scope::Prefix(Rights::All(), "a").Check().has_value());
  EXPECT_FALSE((Scope{Right::kRead, Scope::Where::kEverything, "a"}).Check().has_value());
  EXPECT_TRUE(Scope::Namespace(Rights::All(), "a").Check().has_value());
}

TEST(ScopeTest, PlacesHaveALimit) {
  const auto prefix = [](size_t size) { return Scope::Prefix(Right::kRead, Bytes(size, 'a')).Check(); };
  const auto name = [](size_t size) { return Scope::Namespace(Right::kRead, Bytes(size, 'a')).Check(); };
  EXPECT_TRUE(prefix(Scope::kMaxPrefixBytes).has_value());
  EXPECT_TRUE(name(Scope::kMaxNamespaceBytes).has_value());
  ASSERT_FALSE(prefix(Scope::kMaxPrefixBytes + 1).has_value());
  EXPECT_EQ(prefix(Scope::kMaxPrefixBytes + 1).error().code(), ErrorCode::kTooLarge);
  EXPECT_FALSE(name(Scope::kMaxNamespaceBytes + 1).has_value());
  EXPECT_TRUE(Scope::Tables(Right::kRead, Bytes(Scope::kMaxTablesBytes, 'a')).Check().has_value());
  EXPECT_FALSE(Scope::Tables(Right::kRead, Bytes(Scope::kMaxTablesBytes + 1, 'a')).Check().has_value());
}

TEST(ScopeTest, TextsAreReadBack) {
  const std::vector<std::pair<Scope, std::string>> texts = {
      {Scope::Everything(Right::kRead), "read"},
      {Scope::Everything(Rights::All()), "read,write,admin"},
      {Scope::Namespace(Right::kAdmin, "cases"), "admin:namespace=cases"},
      {Scope::Prefix(kReadWrite, "user:"), "read,write:prefix=user:"},
      {Scope::Prefix(Right::kWrite, Bytes("\0=\\,", 4)), "write:prefix=\\x00=\\\\,"},
      {Scope::Tables(Rights::All(), "acme/metrics/events"), "read,write,admin:tables=acme/metrics/events"},
  };
  for (const auto& [scope, text] : texts) {
    EXPECT_EQ(scope.ToString(), text);
    const auto parsed = Scope::Parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(*parsed, scope);
  }
  EXPECT_EQ(Scope::Parse("write,read")->ToString(), "read,write") << "in any order";
}

TEST(ScopeTest, TextsThatAreNoScopeAreRefused) {
  for (const std::string_view text : {"",
                                      ",",
                                      "read,",
                                      "Read",
                                      "reading",
                                      "read,read",
                                      "all",
                                      "read:",
                                      "read:cases",
                                      "read:namespace=",
                                      "read:prefix=",
                                      ":prefix=a",
                                      "admin:prefix=a",
                                      "read:prefix=\\x0",
                                      "read prefix=a",
                                      "read:Prefix=a",
                                      "read:tables=",
                                      "read:tables=/a",
                                      "read:tables=a/",
                                      "read:tables=a//b",
                                      "read:tables=a/b/c/d"}) {
    const auto parsed = Scope::Parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace kvarts
