#include "kvarts/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/commits.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;

TEST(DocumentTest, IsWrittenDownInPlace) {
  const Document order = {{"customer", "ada"},
                          {"n", 7},
                          {"total", Number{"12.50"}},
                          {"rate", 0.1},
                          {"big", std::numeric_limits<uint64_t>::max()},
                          {"paid", false},
                          {"note", nullptr},
                          {"lines", Document::List({Document{{"sku", "x-1"}}, 2})},
                          {"tags", Document::Set({"b", "a"})},
                          {"raw", Binary{"\x01\x02"}}};
  ASSERT_TRUE(order.status()) << order.status().error();
  EXPECT_EQ(order.size(), 10U);
  EXPECT_EQ(order.kind(), "map");
  EXPECT_EQ(order.Text("customer"), "ada");
  EXPECT_EQ(order.Int("n"), 7);
  EXPECT_EQ(order.Decimal("total"), "12.5");
  EXPECT_EQ(order.Double("rate"), 0.1);
  EXPECT_EQ(order.Decimal("big"), "18446744073709551615");
  EXPECT_FALSE(order.Int("big"));
  EXPECT_EQ(order.Bool("paid"), false);
  EXPECT_TRUE(order.Has("note"));
  EXPECT_EQ(order.At("note")->kind(), "null");
  EXPECT_EQ(order.Text("lines[0].sku"), "x-1");
  EXPECT_EQ(order.Int("lines[1]"), 2);
  EXPECT_EQ(order.At("tags")->ToJson(), R"({"$set":["a","b"]})");
  EXPECT_EQ(order.Bytes("raw"), "\x01\x02");
  EXPECT_THAT(order.At("lines")->At("[0]"), testing::Eq(std::nullopt));  // a path begins with a name
  const auto again = Document::FromJson(order.ToJson());
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, order);
}

TEST(DocumentTest, SaysNothingOfWhatIsNotThere) {
  const Document document = {{"a", "text"}, {"n", Number{"1.5"}}};
  EXPECT_FALSE(document.Has("b"));
  EXPECT_FALSE(document.Text("n"));
  EXPECT_FALSE(document.Int("n"));
  EXPECT_FALSE(document.Int("a"));
  EXPECT_FALSE(document.Time("a"));
  EXPECT_FALSE(document.Text("a.b"));
  EXPECT_FALSE(document.Has("a..b"));
  EXPECT_THAT(document.names(), ElementsAre("a", "n"));
  EXPECT_EQ(Document::Of(3).size(), 0U);
  EXPECT_EQ(Document::Of(3).Int(""), 3);
  EXPECT_TRUE(Document::Of(3).names().empty());
}

TEST(DocumentTest, ATimeIsAText) {
  const Timestamp at = *Timestamp::Parse("2026-07-05T10:15:30.25Z");
  const Document document = {{"at", at}};
  EXPECT_EQ(document.Text("at"), "2026-07-05T10:15:30.250000Z");
  EXPECT_EQ(document.Time("at"), at);
}

TEST(DocumentTest, CarriesTheErrorOfWhatItCannotHold) {
  const double none = std::nan("");
  for (const Document& document :
       {Document{{"a", "\xff"}}, Document{{"\xff", 1}}, Document{{"a", 1}, {"a", 2}}, Document::Set({}),
        Document::Set({"a", "a"}), Document::Set({"a", 1}), Document::Of(none), Document::Of(Number{"twelve"}),
        Document{{"a", Document::Of(none)}}, Document::List({Document::Set({Document()})})}) {
    EXPECT_EQ(CodeOf(document.status()), "invalid_argument");
    EXPECT_EQ(document.ToJson(), "null");
    EXPECT_EQ(document.size(), 0U);
    EXPECT_FALSE(document.Has("a"));
  }
  Document deep = Document::List({});
  for (int i = 0; i < 63; ++i) deep = Document::List({deep});
  EXPECT_TRUE(deep.status());
  EXPECT_EQ(CodeOf(Document::List({deep}).status()), "invalid_argument");
}

}  // namespace
}  // namespace kvarts::test
