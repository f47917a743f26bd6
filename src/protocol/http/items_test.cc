#include "protocol/http/items.h"

#include <gtest/gtest.h>

namespace kvarts::http {
namespace {

ValueHeader Header(ValueKind kind, Timestamp expiry = kNever) {
  ValueHeader header;
  header.kind = kind;
  header.expiry = expiry;
  header.version.stamp = 7;
  return header;
}

std::string Item(BytesView key, const ValueHeader& header, BytesView value) {
  Bytes out;
  JsonWriter json(&out);
  WriteItem(json, key, header, value);
  return out;
}

std::string Head(BytesView key, const ValueHeader& header) {
  Bytes out;
  JsonWriter json(&out);
  WriteItemHead(json, key, header);
  return out;
}

// Items of which nothing needs an escape are written another way than others: the form is the same.
TEST(ItemsTest, PlainAndOtherItemsHaveOneForm) {
  const ValueHeader bytes = Header(ValueKind::kBytes);
  EXPECT_EQ(Item("k", bytes, "v"), R"({"key":"k","value":"v","version":"7","expiry":null})");
  EXPECT_EQ(Item("k", bytes, ""), R"({"key":"k","value":"","version":"7","expiry":null})");
  EXPECT_EQ(Item("k\"", bytes, "v"), R"({"key":"k\"","value":"v","version":"7","expiry":null})");
  EXPECT_EQ(Item("k", bytes, "v\n"), R"({"key":"k","value":"v\u000a","version":"7","expiry":null})");
  EXPECT_EQ(Item("k", bytes, "\xff"), R"({"key":"k","value_base64":"/w==","version":"7","expiry":null})");
  const ValueHeader json = Header(ValueKind::kJson);
  EXPECT_EQ(Item("k", json, R"({"a":"\n"})"), R"({"key":"k","value":{"a":"\n"},"version":"7","expiry":null})");
  EXPECT_EQ(Item("\xff", json, "1"), R"({"key_base64":"/w==","value":1,"version":"7","expiry":null})");
  const ValueHeader expiring = Header(ValueKind::kBytes, Timestamp{0});
  EXPECT_EQ(Item("k", expiring, "v"),
            R"({"key":"k","value":"v","version":"7","expiry":")" + expiring.expiry.ToString() + R"("})");
}

TEST(ItemsTest, WhatAnAddHasMarkedSaysSo) {
  ValueHeader bytes = Header(ValueKind::kBytes);
  bytes.marks.misapplied = true;
  EXPECT_EQ(Item("k", bytes, "v"), R"({"key":"k","value":"v","version":"7","expiry":null,"marks":["misapplied"]})");
  EXPECT_EQ(Head("k", bytes), R"({"key":"k","version":"7","expiry":null,"marks":["misapplied"]})");
  ValueHeader counter = Header(ValueKind::kCounter);
  counter.marks = {.saturated = true, .misapplied = true};
  EXPECT_EQ(Item("k", counter, CounterValue(5)),
            R"({"key":"k","value":5,"counter":true,"version":"7","expiry":null,"marks":["misapplied","saturated"]})");
}

TEST(ItemsTest, HeadsAreItemsWithoutTheirValue) {
  for (const ValueKind kind : {ValueKind::kBytes, ValueKind::kJson, ValueKind::kTyped}) {
    EXPECT_EQ(Head("k", Header(kind)), R"({"key":"k","version":"7","expiry":null})");
    EXPECT_EQ(Head("\xff", Header(kind)), R"({"key_base64":"/w==","version":"7","expiry":null})");
  }
}

TEST(ItemsTest, ItemsInAnArrayAreSeparated) {
  Bytes out;
  JsonWriter json(&out);
  json.BeginArray();
  for (const BytesView key : {"a", "\"", "b", "c"}) WriteItemHead(json, key, Header(ValueKind::kBytes));
  json.EndArray();
  EXPECT_EQ(out, R"([{"key":"a","version":"7","expiry":null},{"key":"\"","version":"7","expiry":null},)"
                 R"({"key":"b","version":"7","expiry":null},{"key":"c","version":"7","expiry":null}])");
}

}  // namespace
}  // namespace kvarts::http
