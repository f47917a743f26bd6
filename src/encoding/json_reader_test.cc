#include "encoding/json_reader.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace kvarts {
namespace {

using enum JsonKind;

// What is wrong with a text, read as a whole; nothing if it is JSON.
std::string Wrong(std::string_view text, JsonOptions options = {}) {
  JsonReader json(text, options);
  json.Skip();
  const Status status = json.Finish();
  return status.has_value() ? "" : status.error().ToString();
}

template <class Read>
std::string WrongWith(std::string_view text, Read read) {
  JsonReader json(text);
  read(json);
  const Status status = json.Finish();
  return status.has_value() ? "" : status.error().ToString();
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonReaderTest, AnObjectIsReadFieldByField) {
  std::string_view value;
  uint64_t ttl = 0;
  bool sync = false;
  std::vector<std::string> tags;
  JsonReader json(R"( { "value" : {"a":[1, 2.50]} , "ttl":60,"tags":["x","y\n"],"sync":true,"none":null } )");
  json.Object([&](std::string_view name) {
    if (name == "value") {
      value = json.Raw();
    } else if (name == "ttl") {
      ttl = json.Uint();
    } else if (name == "tags") {
      json.Array([&] { tags.emplace_back(json.Text()); });
    } else if (name == "sync") {
      sync = json.Bool();
    } else if (name == "none") {
      EXPECT_TRUE(json.TakeNull());
    } else {
      json.Unknown(name);
    }
  });
  ASSERT_TRUE(json.Finish().has_value());
  EXPECT_EQ(value, R"({"a":[1, 2.50]})") << "as it is written";
  EXPECT_EQ(ttl, 60u);
  EXPECT_TRUE(sync);
  EXPECT_EQ(tags, (std::vector<std::string>{"x", "y\n"}));
}

TEST(JsonReaderTest, PeekTellsTheKindAndTakesNothing) {
  JsonReader json(R"([{}, [], "", 0, -1, true, false, null])");
  std::vector<JsonKind> kinds;
  EXPECT_EQ(json.Peek(), kArray);
  json.Array([&](size_t i) {
    EXPECT_EQ(i, kinds.size());
    kinds.push_back(json.Peek());
    EXPECT_EQ(json.Peek(), kinds.back());
  });
  EXPECT_EQ(json.Peek(), kNone);
  EXPECT_TRUE(json.Finish().has_value());
  EXPECT_EQ(kinds, (std::vector<JsonKind>{kObject, kArray, kText, kNumber, kNumber, kBool, kBool, kNull}));
  EXPECT_EQ(JsonReader("").Peek(), kNone);
  EXPECT_EQ(JsonReader(" +1").Peek(), kNone);
}

TEST(JsonReaderTest, WhatACallbackLeavesIsSkippedAndChecked) {
  EXPECT_EQ(WrongWith(R"({"a":[1,{"b":2}],"c":"x"})", [](auto& json) { json.Object([](auto) {}); }), "");
  EXPECT_NE(WrongWith(R"({"a":[1,{"b":2}],"c":"\x"})", [](auto& json) { json.Object([](auto) {}); }), "");
  EXPECT_NE(WrongWith(R"([1,01])", [](auto& json) { json.Array([] {}); }), "");
}

TEST(JsonReaderTest, TextIsBorrowedUntilAnEscapeHasToBeUndone) {
  const std::string text = R"(["plain","Åsa","\"\\\/\b\f\n\r\t","\u00e5\u6f22\ud83d\ude00","\u0000","a\nb",""])";
  JsonReader json(text);
  std::vector<std::string_view> texts;
  json.Array([&] { texts.push_back(json.Text()); });
  ASSERT_TRUE(json.Finish().has_value());
  const std::vector<std::string> expected = {"plain", "Åsa", "\"\\/\b\f\n\r\t", "å漢😀", std::string(1, '\0'),
                                             "a\nb",  ""};
  ASSERT_EQ(texts.size(), expected.size());
  // All of them last as long as the reader.
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], expected[i]);
  const auto in_text = [&](std::string_view part) { return part.data() >= text.data() && part.data() < &text.back(); };
  EXPECT_TRUE(in_text(texts[0]) && in_text(texts[1]) && in_text(texts[6]));
  EXPECT_FALSE(in_text(texts[2]));
}

TEST(JsonReaderTest, EscapesFillTheRoomTheyAreGivenAndNoMore) {
  // The longest results for their source: characters as they are, behind the one escape that is written as long.
  std::string text = R"(["\n")";
  for (int i = 0; i < 100; ++i) text += ",\"\\t" + std::string(static_cast<size_t>(i), 'x') + "😀\\ud83d\\ude00\"";
  text += "]";
  JsonReader json(text);
  size_t bytes = 0;
  json.Array([&] { bytes += json.Text().size(); });
  EXPECT_TRUE(json.Finish().has_value());
  EXPECT_EQ(bytes, 1u + 100 * 9 + 99 * 100 / 2);
}

TEST(JsonReaderTest, EveryCharacterByItsEscape) {
  for (uint32_t number = 0; number <= 0x10ffff; number += number < 0x800 ? 1 : 37) {
    if (number >= 0xd800 && number < 0xe000) continue;
    std::array<char, 32> escape;
    if (number < 0x10000) {
      std::snprintf(escape.data(), escape.size(), "\"\\u%04x\"", number);
    } else {
      const uint32_t rest = number - 0x10000;
      std::snprintf(escape.data(), escape.size(), "\"\\u%04X\\u%04x\"", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
    }
    std::array<char, 4> written;
    JsonReader json(escape.data());
    ASSERT_EQ(json.Text(), std::string_view(written.data(), WriteCharacter(written.data(), number))) << escape.data();
    ASSERT_TRUE(json.Finish().has_value());
  }
}

TEST(JsonReaderTest, IntegersAreExactAndInRange) {
  const auto read = [](std::string_view text, int64_t low = INT64_MIN, int64_t high = INT64_MAX) -> std::string {
    JsonReader json(text);
    const int64_t value = json.Int(low, high);
    const Status status = json.Finish();
    EXPECT_TRUE(status.has_value() || value == 0) << text;
    return status.has_value() ? std::to_string(value) : std::string(status.error().text());
  };
  EXPECT_EQ(read("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(read("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(read("-0"), "0");
  EXPECT_EQ(read("9223372036854775808"), "the number is out of range");
  EXPECT_EQ(read("-9223372036854775809"), "the number is out of range");
  EXPECT_EQ(read("1" + std::string(1000, '0')), "the number is out of range");
  EXPECT_EQ(read("5", 5, 6), "5");
  EXPECT_EQ(read("7", 5, 6), "the number is out of range");
  EXPECT_EQ(read("4", 5, 6), "the number is out of range");
  for (const char* text : {"1.0", "1e2", "0.5", "1E-1"}) {
    EXPECT_EQ(read(text), "a number without fraction and exponent was expected") << text;
  }
  for (const char* text : {"\"1\"", "null", "true", "{}", "[1]", "+1"}) {
    EXPECT_EQ(read(text), "a number was expected") << text;
  }
}

TEST(JsonReaderTest, UnsignedIntegersHaveAllTheirBits) {
  const auto read = [](std::string_view text, uint64_t high = UINT64_MAX) -> std::string {
    JsonReader json(text);
    const uint64_t value = json.Uint(high);
    const Status status = json.Finish();
    return status.has_value() ? std::to_string(value) : std::string(status.error().text());
  };
  EXPECT_EQ(read("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read("-0"), "0");
  EXPECT_EQ(read("18446744073709551616"), "the number is out of range");
  EXPECT_EQ(read("-1"), "the number is out of range");
  EXPECT_EQ(read("10", 10), "10");
  EXPECT_EQ(read("11", 10), "the number is out of range");
}

TEST(JsonReaderTest, BoundsThatWereSetAreTold) {
  EXPECT_EQ(WrongWith("11", [](auto& json) { json.Uint(10); }),
            "invalid_argument: the number is out of range (at_most=10, position=0)");
  EXPECT_EQ(WrongWith("[0]", [](auto& json) { json.Array([&] { json.Int(1, 10); }); }),
            "invalid_argument: the number is out of range (field=[0], at_least=1, at_most=10, position=1)");
  EXPECT_EQ(WrongWith("-1", [](auto& json) { json.Uint(); }),
            "invalid_argument: the number is out of range (position=0)");
  EXPECT_EQ(WrongWith("x", [](auto& json) { json.Int(1, 10); }),
            "invalid_argument: a number was expected (position=0)");
}

TEST(JsonReaderTest, DoublesAreTheNearest) {
  const auto read = [](std::string_view text) { return JsonReader(text).Double(); };
  EXPECT_EQ(read("0.1"), 0.1);
  EXPECT_EQ(read("-1.5e3"), -1500);
  EXPECT_EQ(read("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(read("5e-324"), 5e-324);
  EXPECT_EQ(read("0e999999999999"), 0);
  EXPECT_EQ(WrongWith("1e309", [](auto& json) { json.Double(); }),
            "invalid_argument: the number is out of range (position=0)");
  EXPECT_NE(WrongWith("1e-9999", [](auto& json) { json.Double(); }), "");
  EXPECT_EQ(JsonReader(" 1.50E+400 ").Number(), "1.50E+400") << "any number, as it is written";
}

TEST(JsonReaderTest, Base64IsDecoded) {
  EXPECT_EQ(JsonReader(R"("\/w==")").Base64(), "\xff");
  EXPECT_EQ(JsonReader(R"("")").Base64(), "");
  EXPECT_EQ(WrongWith(R"("_w")", [](auto& json) { json.Base64(); }),
            "invalid_argument: base64 with padding was expected (position=0)");
  EXPECT_EQ(WrongWith("1", [](auto& json) { json.Base64(); }), "invalid_argument: a text was expected (position=0)");
}

TEST(JsonReaderTest, TheFirstThingThatIsWrongSticks) {
  JsonReader json(R"({"a":{"b":[0,{"c":"x"}]},"d":1})");
  int after = 0;
  json.Object([&](std::string_view) {
    json.Object([&](std::string_view) {
      json.Array([&](size_t i) {
        if (i == 0) return;
        json.Object([&](std::string_view) { EXPECT_EQ(json.Int(), 0); });
        ++after;
      });
    });
    ++after;
  });
  EXPECT_EQ(after, 2) << "what surrounds it ends, and no other callback is called";
  EXPECT_FALSE(json.ok());
  EXPECT_EQ(json.Peek(), kNone);
  EXPECT_EQ(json.Text(), "");
  EXPECT_EQ(json.Raw(), "");
  EXPECT_EQ(json.Int(5, 6), 0);
  EXPECT_FALSE(json.TakeNull());
  json.Require(false, "something else");
  const Status status = json.Finish();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().text(), "a number was expected");
  EXPECT_EQ(status.error().field("field"), "a.b[1].c");
  EXPECT_EQ(status.error().field("position"), "18");
}

TEST(JsonReaderTest, TheCallerCanObjectToo) {
  EXPECT_EQ(
      WrongWith(R"({"ttl": 0})",
                [](auto& json) { json.Object([&](auto) { json.Require(json.Int() > 0, "a ttl is positive"); }); }),
      "invalid_argument: a ttl is positive (field=ttl, position=8)");
  EXPECT_EQ(WrongWith(R"({"ttl":1, "tll":2})",
                      [](auto& json) {
                        json.Object([&](auto name) { name == "ttl" ? (void)json.Int() : json.Unknown(name); });
                      }),
            "invalid_argument: there is no such field (field=tll, position=10)");
}

TEST(JsonReaderTest, WhatSomebodyElseRefusesKeepsItsError) {
  const Error error(ErrorCode::kTooLarge, "it is too long", {{"limit", "max_words"}, {"position", "3"}});
  const auto read = [&](auto& json) {
    json.Object([&](auto) {
      json.Text();
      json.Refuse(error);
      json.Refuse(Error(ErrorCode::kInternal, "another"));
      json.Require(false, "something else");
      EXPECT_FALSE(json.ok());
      EXPECT_EQ(json.Text(), "") << "and nothing is read behind it";
    });
  };
  EXPECT_EQ(WrongWith(R"({"words": "a b c", "b": 1})", read),
            "too_large: it is too long (field=words, limit=max_words, position=3)")
      << "the position is that in the text";
  EXPECT_EQ(WrongWith(R"("a b c")", [&](auto& json) { json.Refuse(error); }), error.ToString()) << "of the whole";
  EXPECT_EQ(WrongWith(R"({"words": 1})", read), "invalid_argument: a text was expected (field=words, position=10)")
      << "the first thing that is wrong sticks";
  // A field that it has itself is about something in the value.
  EXPECT_EQ(WrongWith(R"({"words": "a"})",
                      [](auto& json) {
                        json.Object([&](auto) { json.Refuse(Error(ErrorCode::kConflict, "no", {{"field", "x"}})); });
                      }),
            "conflict: no (field=x)");
}

TEST(JsonReaderTest, LongNamesAreCutInErrors) {
  const std::string name(100'000, 'x');
  const std::string wrong =
      WrongWith("{\"" + name + "\":1}", [](auto& json) { json.Object([&](auto) { json.Text(); }); });
  EXPECT_EQ(wrong, "invalid_argument: a text was expected (field=" + std::string(64, 'x') + ", position=100004)");
}

TEST(JsonReaderTest, ANameTwiceIsRefusedOnlyWhereItIsRead) {
  const auto read = [](auto& json) { json.Object([](auto) {}); };
  EXPECT_EQ(WrongWith(R"({"a":1,"b":2,"a":3})", read),
            "invalid_argument: the name is there twice (field=a, position=13)");
  EXPECT_EQ(WrongWith(R"({"a":1,"\u0061":3})", read),
            "invalid_argument: the name is there twice (field=a, position=7)");
  EXPECT_EQ(WrongWith(R"({"":1,"":3})", read), "invalid_argument: the name is there twice (position=6)");
  EXPECT_EQ(WrongWith(R"({"x":{"a":1,"a":2},"y":{"a":1}})", read), "");
  EXPECT_EQ(Wrong(R"({"a":1,"a":2})"), "");
  // Among many: each pair of places.
  for (size_t first = 0; first < 40; ++first) {
    for (size_t second = first + 1; second < 40; ++second) {
      std::string text = "{";
      for (size_t i = 0; i < 40; ++i) {
        text += (i == 0 ? "\"n" : ",\"n") + std::to_string(i == second ? first : i) + "\":0";
      }
      const std::string wrong = WrongWith(text + "}", read);
      ASSERT_TRUE(wrong.starts_with("invalid_argument: the name is there twice (field=n" + std::to_string(first) + ","))
          << wrong;
    }
  }
}

TEST(JsonReaderTest, DepthIsLimitedInEveryWayOfReading) {
  EXPECT_EQ(Wrong(Nested(64)), "");
  EXPECT_EQ(Wrong(Nested(65)), "invalid_argument: too many objects and arrays inside each other (position=64)");
  EXPECT_EQ(Wrong(Nested(3), {.max_depth = 3}), "");
  EXPECT_NE(Wrong(Nested(4), {.max_depth = 3}), "");
  EXPECT_EQ(Wrong("1", {.max_depth = 0}), "");
  EXPECT_NE(Wrong("[]", {.max_depth = 0}), "");
  EXPECT_EQ(Wrong(Nested(JsonReader::kDeepest), {.max_depth = SIZE_MAX}), "");
  EXPECT_NE(Wrong(Nested(JsonReader::kDeepest + 1), {.max_depth = SIZE_MAX}), "");
  EXPECT_NE(Wrong(std::string(1'000'000, '[')), "");
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"a\":";
  EXPECT_EQ(Wrong(objects), "invalid_argument: too many objects and arrays inside each other (position=320)");
  // Part by callbacks, part by Raw: it is the sum that counts.
  for (const size_t depth : {3, 4}) {
    const std::string text = Nested(depth);
    JsonReader json(text, {.max_depth = 3});
    json.Array([&] { json.Array([&] { json.Raw(); }); });
    EXPECT_EQ(json.Finish().has_value(), depth == 3);
    JsonReader called(text, {.max_depth = 3});
    const auto down = [&](auto self) -> void { called.Array([&] { self(self); }); };
    down(down);
    EXPECT_EQ(called.Finish().has_value(), depth == 3);
  }
}

static_assert(!std::is_constructible_v<JsonReader, std::string>, "the text is borrowed");

TEST(JsonReaderTest, NothingIsNoValue) {
  for (const char* text : {"", " ", "\n\t\r "}) {
    EXPECT_NE(Wrong(text), "") << text;
    EXPECT_FALSE(JsonReader(text).Finish().has_value());
    EXPECT_NE(WrongWith(text, [](auto& json) { json.TakeNull(); }), "");
    EXPECT_NE(WrongWith(text, [](auto& json) { json.Peek(); }), "");
    EXPECT_NE(WrongWith(text, [](auto& json) { json.Object([](auto) {}); }), "");
  }
  EXPECT_FALSE(JsonReader("1").Finish().has_value()) << "a value that nobody read";
}

TEST(JsonReaderTest, LargeObjectsAreReadInTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"name" + std::to_string(i) + "\":0,";
  text += "\"last\":0}";
  size_t fields = 0;
  JsonReader json(text);
  json.Object([&](auto) { ++fields; });
  EXPECT_TRUE(json.Finish().has_value());
  EXPECT_EQ(fields, 200'001u);
}

}  // namespace
}  // namespace kvarts
