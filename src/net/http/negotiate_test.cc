#include "net/http/negotiate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace kvarts::http {
namespace {

constexpr std::string_view kOffered[] = {"application/json", "application/octet-stream", "text/event-stream"};
constexpr std::optional<size_t> kNone;

TEST(ChooseMediaTest, WhatClientsSend) {
  const std::pair<const char*, std::optional<size_t>> cases[] = {
      {"", 0},
      {"*/*", 0},
      {"application/json", 0},
      {"application/octet-stream", 1},
      {"text/event-stream", 2},
      {"text/html", kNone},
      {"Application/JSON", 0},
      {"application/json; charset=utf-8", 0},
      {"application/json, text/plain, */*", 0},
      {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", 0},
      {"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", 0},
      {"text/*", 2},
      {"text/event-stream, */*", 2},
      {"text/*, */*", 2},
  };
  for (const auto& [accept, choice] : cases) EXPECT_EQ(ChooseMedia(accept, kOffered), choice) << accept;
}

TEST(ChooseMediaTest, WeightsDecide) {
  const std::pair<const char*, std::optional<size_t>> cases[] = {
      {"application/json;q=0.5, application/octet-stream", 1},
      {"application/json;q=0.5, application/octet-stream;q=0.4", 0},
      {"application/json;q=0.500, application/octet-stream;q=0.501", 1},
      {"application/json ; Q=0.1 , text/event-stream ; q=0.2", 2},
      {"application/json;q=0", kNone},
      {"application/json;q=0.0, */*", 1},
      {"application/*;q=0, */*;q=0.1", 2},
      {"*/*;q=0", kNone},
      {"*/*;q=0.9, application/octet-stream;q=0.1", 0},
      {"application/json;q=0.1;ext=1, text/event-stream;q=0.2", 2},
      {"application/json;a=\"x,y;q=0\", text/html", 0},
  };
  for (const auto& [accept, choice] : cases) EXPECT_EQ(ChooseMedia(accept, kOffered), choice) << accept;
}

TEST(ChooseMediaTest, WhatCannotBeUnderstoodIsSkipped) {
  const std::pair<const char*, std::optional<size_t>> cases[] = {
      {",", kNone},
      {";", kNone},
      {"application/json;q=x, text/event-stream;q=0.1", 2},
      {"application/json;q=-1", kNone},
      {"application/json;q=", kNone},
      {"application/json;q=9", 0},
      {"/, */, /*, application/, application/json", 0},
      {"\"", kNone},
      {"a\"b, application/json", kNone},
      {"\"\\", kNone},
  };
  for (const auto& [accept, choice] : cases) EXPECT_EQ(ChooseMedia(accept, kOffered), choice) << accept;
}

TEST(AcceptsGzipTest, AsTheHeaderSays) {
  for (const char* yes : {"gzip", "GZIP", "x-gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "*",
                          "identity, *", "deflate,gzip;q=0.001"}) {
    EXPECT_TRUE(AcceptsGzip(yes)) << yes;
  }
  for (const char* no :
       {"", "identity", "br", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "gzipped", "deflate", "gzip;q=x", ","}) {
    EXPECT_FALSE(AcceptsGzip(no)) << no;
  }
}

TEST(EntityTagsTest, AnyAndLists) {
  const auto any = EntityTags::Parse("*", "If-Match");
  ASSERT_TRUE(any.has_value());
  EXPECT_TRUE(any->any());
  EXPECT_TRUE(any->HoldsStrongly("x"));
  EXPECT_TRUE(any->HoldsWeakly("x"));

  const auto one = EntityTags::Parse("\"17\"", "If-Match");
  ASSERT_TRUE(one.has_value());
  EXPECT_FALSE(one->any());
  EXPECT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front(), (EntityTag{"17", false}));
  EXPECT_TRUE(one->HoldsStrongly("17"));
  EXPECT_FALSE(one->HoldsStrongly("1"));
  EXPECT_FALSE(one->HoldsStrongly("\"17\""));

  const auto list = EntityTags::Parse("\"a\", W/\"b\"\t,\"c,d\" , \"\"", "If-Match");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->size(), 4u);
  EXPECT_TRUE(list->HoldsStrongly("a"));
  EXPECT_FALSE(list->HoldsStrongly("b"));
  EXPECT_TRUE(list->HoldsWeakly("b"));
  EXPECT_TRUE(list->HoldsStrongly("c,d"));
  EXPECT_TRUE(list->HoldsStrongly(""));
  EXPECT_FALSE(list->HoldsWeakly("d"));
  EXPECT_FALSE(list->HoldsWeakly("W/\"b\""));
}

TEST(EntityTagsTest, AnythingElseIsRefused) {
  for (const std::string& text :
       std::initializer_list<std::string>{"",        "17",           "\"",          "\"a",
                                          "a\"",     "\"a\"\"b\"",   "\"a\" \"b\"", "\"a\",",
                                          ",\"a\"",  "\"a\",,\"b\"", "*, \"a\"",    "\"a\", *",
                                          "**",      "w/\"a\"",      "W\"a\"",      "W/ \"a\"",
                                          "W/a",     "W/",           "\"a b\"",     "\"a\tb\"",
                                          "'a'",     "\"a\"x",       " \"a\"",      std::string("\"\0\"", 3),
                                          "\"\x7f\""}) {
    const auto tags = EntityTags::Parse(text, "If-None-Match");
    ASSERT_FALSE(tags.has_value()) << text;
    EXPECT_EQ(tags.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(tags.error().field("header"), "If-None-Match");
  }
}

TEST(EntityTagsTest, AreBounded) {
  std::string text = "\"0\"";
  for (size_t i = 1; i < EntityTags::kMaxTags; ++i) text += ", \"" + std::to_string(i) + "\"";
  const auto full = EntityTags::Parse(text, "If-Match");
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->size(), EntityTags::kMaxTags);
  EXPECT_TRUE(full->HoldsStrongly(std::to_string(EntityTags::kMaxTags - 1)));
  EXPECT_FALSE(EntityTags::Parse(text + ",\"more\"", "If-Match").has_value());
}

TEST(MediaTypeTest, TypesAndCharsets) {
  const auto json = MediaType::Parse("Application/JSON; Charset=\"UTF-8\"; x=y");
  ASSERT_TRUE(json.has_value());
  EXPECT_TRUE(json->Is("application/json"));
  EXPECT_TRUE(json->IsJson());
  EXPECT_EQ(json->ToLower(), "application/json");
  EXPECT_EQ(json->charset(), "UTF-8");
  EXPECT_TRUE(json->IsUtf8());
  EXPECT_FALSE(json->absent());

  EXPECT_TRUE(MediaType::Parse("application/json")->IsJson());
  EXPECT_TRUE(MediaType::Parse("application/json;")->IsJson());
  EXPECT_TRUE(MediaType::Parse("application/merge-patch+JSON")->IsJson());
  EXPECT_FALSE(MediaType::Parse("application/octet-stream")->IsJson());
  EXPECT_FALSE(MediaType::Parse("application/jsonp")->IsJson());
  EXPECT_FALSE(MediaType::Parse("text/plain; charset=latin1")->IsUtf8());
  EXPECT_TRUE(MediaType::Parse("text/plain;charset=utf-8")->IsUtf8());
  const auto absent = MediaType::Parse("");
  ASSERT_TRUE(absent.has_value());
  EXPECT_TRUE(absent->absent());
  EXPECT_FALSE(absent->Is("application/json"));
}

TEST(MediaTypeTest, AnythingElseIsRefused) {
  for (const char* text :
       {"json", "/", "/json", "application/", "application/json/x", "application json", "a/b c", ";charset=utf-8", ";",
        "a/b;charset", "a/b;=x", "a/b;charset=", "a/b;charset=a b", "a/b;charset=a;charset=b",
        "a/b;charset=a;CHARSET=a", "a/b, c/d", "a/b;x=\"y", "a/\xc3\xa5", "a/b;charset=\"a\";charset=\"\""}) {
    EXPECT_FALSE(MediaType::Parse(text).has_value()) << text;
  }
}

RC_GTEST_PROP(NegotiateProperty, AnyTextHasAnAnswer, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("aq=0.19;,/*\"\\ W\tgzip")));
  const auto choice = ChooseMedia(text, kOffered);
  RC_ASSERT(!choice || *choice < std::size(kOffered));
  AcceptsGzip(text);
  if (const auto tags = EntityTags::Parse(text, "If-Match"); tags.has_value() && !tags->any()) {
    RC_ASSERT(tags->HoldsWeakly(tags->front().text));
  }
  if (const auto type = MediaType::Parse(text); type.has_value()) RC_ASSERT(type->Is(type->ToLower()));
}

}  // namespace
}  // namespace kvarts::http
