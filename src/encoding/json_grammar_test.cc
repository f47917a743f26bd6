// What is JSON and what is not, as tables; and that what is written is read back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/utf8.h"
#include "encoding/json_minify.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"

namespace kvarts {
namespace {

using std::string_view_literals::operator""sv;

// Reads everything through callbacks, as another way to the same answer as Raw.
void ReadAll(JsonReader& json) {
  switch (json.Peek()) {
    case JsonKind::kObject:
      return json.Object([&](std::string_view) { ReadAll(json); });
    case JsonKind::kArray:
      return json.Array([&] { ReadAll(json); });
    case JsonKind::kText:
      return (void)json.Text();
    case JsonKind::kNumber:
      return (void)json.Number();
    case JsonKind::kBool:
      return (void)json.Bool();
    case JsonKind::kNull:
      return (void)json.TakeNull();
    case JsonKind::kNone:
      return json.Skip();
  }
}

Status Checked(std::string_view text) {
  JsonReader raw(text);
  raw.Skip();
  const Status status = raw.Finish();
  JsonReader called(text);
  ReadAll(called);
  EXPECT_EQ(called.Finish().has_value(), status.has_value()) << text;
  return status;
}

TEST(JsonGrammarTest, WhatIsJsonIsTaken) {
  for (const std::string_view text : {
           R"(null)",
           R"(true)",
           R"(false)",
           R"(0)",
           R"(-0)",
           R"(-1)",
           R"(123456789012345678901234567890)",
           R"(0.0)",
           R"(0.10)",
           R"(1e5)",
           R"(1E+05)",
           R"(0e0)",
           R"(-1.5e-7)",
           R"(1e999999)",
           R"("")",
           R"("a")",
           R"("\u0000\uFFFF\u00Ff")",
           R"("\ud800\udc00\udbff\udfff")",
           "\"\x7f\"",
           "\"\xf4\x8f\xbf\xbf\xef\xbf\xbf\xe2\x80\xa8\"",
           R"([])",
           R"({})",
           R"([[],{},[[]]])",
           " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n",
           " { \"a\" : 1 , \"b\" : { } } ",
           R"({"":""})",
           R"([1,"a",null,{"b":[true,false]}])",
       }) {
    const Status status = Checked(text);
    EXPECT_TRUE(status.has_value()) << text << ": " << status.error();
  }
}

constexpr std::string_view kBad[] = {
    // Commas, brackets, colons.
    "[1,]",
    "[,1]",
    "[1,,2]",
    "[,]",
    "[1 2]",
    "[1",
    "[",
    "]",
    "[1}",
    "[1,",
    "1,",
    "[1]]",
    "[1],",
    "{\"a\":1,}",
    "{,}",
    "{,\"a\":1}",
    "{\"a\":1,,\"b\":2}",
    "{\"a\" 1}",
    "{\"a\":}",
    "{\"a\"}",
    "{\"a\":1",
    "{\"a\":",
    "{\"a\"",
    "{\"a",
    "{",
    "}",
    "{\"a\":1]",
    "{a:1}",
    "{1:1}",
    "{null:1}",
    "{'a':1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1}}",
    "{\"a\"::1}",
    "{[]:1}",
    "[\"a\":1]",
    ":",
    ",",
    "{\"a\":1}{",
    "[][]",
    "1 2",
    "{\"a\":1,\"b\"}",
    // Numbers.
    "01",
    "-01",
    "00",
    "-",
    "+",
    "+1",
    "--1",
    "-+1",
    "-a",
    ".5",
    "-.5",
    "1.",
    "1.e5",
    "0.e1",
    "1e",
    "1e+",
    "1E-",
    "1e5.5",
    "1e1e1",
    "1.2.3",
    "0x1F",
    "1_000",
    "1a",
    "1-",
    "Infinity",
    "-Infinity",
    "inf",
    "NaN",
    "nan",
    "-NaN",
    "１",
    "[-]",
    "[1.]",
    "{\"a\":01}",
    "1f",
    "1,000",
    // Words.
    "t",
    "tru",
    "truth",
    "True",
    "TRUE",
    "nul",
    "nulll",
    "Null",
    "falsy",
    "undefined",
    "truefalse",
    "[nul]",
    "[true false]",
    "n",
    "f",
    "none",
    // Texts.
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\",
    "\"\\x41\"",
    "\"\\'\"",
    "\"\\a\"",
    "\"\\0\"",
    "\"\\U0041\"",
    "\"\\u\"",
    "\"\\u1\"",
    "\"\\u12\"",
    "\"\\u123\"",
    "\"\\u123",
    "\"\\u12g4\"",
    "\"\\u 123\"",
    "\"\\u+123\"",
    "'a'",
    "a",
    "\"a\"b",
    "\"a\" \"b\"",
    "\"\t\"",
    "\"\n\"",
    "\"\r\"",
    "\"\x1f\"",
    "\"\\\n\"",
    "\"\0\""sv,
    "\"a\x01\"",
    "{\"a\n\":1}",
    "{\"\\x\":1}",
    // Surrogates by themselves.
    "\"\\ud800\"",
    "\"\\udbff\"",
    "\"\\udc00\"",
    "\"\\udfff\"",
    "\"\\ud800x\"",
    "\"\\ud800\\n\"",
    "\"\\ud800\\u0041\"",
    "\"\\ud800\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\ud800\\udc0\"",
    "\"\\ud800\\u\"",
    "\"\\ud800\\",
    "\"\\ud800",
    "{\"\\ud800\":1}",
    // What is not UTF-8.
    "\"\xff\"",
    "\"\xc3\"",
    "\"\xed\xa0\x80\"",
    "\"\xc0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\xff",
    "[1]\xff",
    "\"\xe2\x82\"",
    "\"\x80\"",
    "{\"\xff\":1}",
    // Around the value.
    "\xef\xbb\xbf{}",
    "\xef\xbb\xbf",
    "\xfe\xff\0[\0]"sv,
    "[\0]\0"sv,
    "\0"sv,
    "[]\0"sv,
    "\0[]"sv,
    "1\0"sv,
    "[1\0]"sv,
    "{}\x0b",
    "\x0c[]",
    "\xc2\xa0[]",
    "\xe2\x80\x83[]",
    "[]\xe2\x80\xa8",
    "",
    " ",
    "\n",
    // Other languages.
    "/**/1",
    "1//",
    "[1/**/]",
    "# 1",
    "<a/>",
    "--",
    "[1,...]",
    "*",
    "@",
    "`a`",
    "$",
};

TEST(JsonGrammarTest, WhatIsNotIsRefused) {
  for (const std::string_view text : kBad) {
    const Status status = Checked(text);
    ASSERT_FALSE(status.has_value()) << text;
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_LE(std::stoull(std::string(status.error().field("position"))), text.size());
    EXPECT_FALSE(Minified(text).has_value());
    // Nor inside of something, unless it closes that.
    const std::string inside = "[" + std::string(text) + "]";
    if (text.find_first_of(",]") == std::string_view::npos && !Minified(" " + std::string(text) + "1").has_value() &&
        text.find_first_not_of(" \n") != std::string_view::npos) {
      EXPECT_FALSE(Checked(inside).has_value()) << inside;
    }
  }
}

TEST(JsonGrammarTest, ErrorsSayWhere) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"[1,]", "a value was expected (position=3)"},
      {"[1 2]", "a comma or the end of the array was expected (position=3)"},
      {R"({"a":1 "b":2})", "a comma or the end of the object was expected (position=7)"},
      {R"({"a":1,})", "a name in quotes was expected (position=7)"},
      {R"({"a" 1})", "a colon was expected (position=5)"},
      {"01", "a number begins with a zero (position=0)"},
      {"[1e]", "a digit was expected (position=3)"},
      {"-", "the text ends too early (position=1)"},
      {R"("abc)", "the text ends too early (position=4)"},
      {"\"a\nb\"", "a control character in a text (position=2)"},
      {R"("a\q")", "there is no such escape (position=2)"},
      {R"("a\u12")", "four hexadecimal digits were expected (position=2)"},
      {R"("a\ud800b")", "half a surrogate pair (position=2)"},
      {"\"a\xff\"", "the text is not UTF-8 (position=2)"},
      {"\xef\xbb\xbf{}", "a value was expected (position=0)"},
      {"1 1", "something follows the value (position=2)"},
      {"", "the text ends too early (position=0)"},
  };
  for (const auto& [text, error] : wrong) {
    JsonReader json(text);
    json.Skip();
    const Status status = json.Finish();
    ASSERT_FALSE(status.has_value()) << text;
    EXPECT_EQ(status.error().ToString(), "invalid_argument: " + std::string(error));
  }
}

TEST(JsonGrammarTest, EveryPrefixAndEveryChangedByteIsSafe) {
  const std::string good =
      R"({"a\u00e5":[1,-2.5e+3,"x\ud83d\ude00\n",true,null,{"Å":{}}],"b":"0123456789abcdef0123456789"})";
  ASSERT_TRUE(Checked(good).has_value());
  for (size_t i = 0; i < good.size(); ++i) {
    // Of its own size, so that AddressSanitizer sees a read behind it.
    const std::vector<char> prefix(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i));
    ASSERT_FALSE(Checked({prefix.data(), prefix.size()}).has_value()) << i;
    for (const char c : "\0\"\\,:]}{[ 0-e.u\xff"sv) {
      std::string changed = good;
      changed[i] = c;
      IgnoreError(Checked(changed));
    }
  }
}

TEST(JsonMinifyTest, DropsWhatMeansNothing) {
  EXPECT_EQ(Minified(" { \"a b\" : [ 1 , 2.50 ,\n\"\\\" x \\\\\" ] ,\t\"c\" : null }\r\n").value_or(""),
            R"({"a b":[1,2.50,"\" x \\"],"c":null})");
  EXPECT_EQ(Minified(R"({"a":[1,"b  c"]})").value_or(""), R"({"a":[1,"b  c"]})");
  EXPECT_EQ(Minified("  1E+5  ").value_or(""), "1E+5");
  EXPECT_FALSE(Minified("[[1]]", {.max_depth = 1}).has_value());
  Bytes out = "data: ";
  AppendMinified(&out, "[ 1 ]");
  EXPECT_EQ(out, "data: [1]");
}

TEST(JsonMinifyTest, AnyBytesAreSafe) {
  for (const std::string_view text : {"\"", "\"\\", "\"\\\"", "\\", "  ", "", "\" \" \""}) {
    const std::vector<char> exact(text.begin(), text.end());
    Bytes out;
    AppendMinified(&out, {exact.data(), exact.size()});
    EXPECT_LE(out.size(), text.size());
  }
}

// A value, written and read back in step.
struct Value {
  int kind = 0;
  int64_t number = 0;
  double real = 0;
  std::string text;
  std::vector<Value> parts;
};

rc::Gen<Value> AnyValue(int depth) {
  return rc::gen::exec([depth] {
    Value value;
    value.kind = *rc::gen::inRange(0, depth > 0 ? 8 : 6);
    value.number = *rc::gen::arbitrary<int64_t>();
    value.real = *rc::gen::arbitrary<double>();
    value.text = *rc::gen::arbitrary<std::string>();
    if (value.kind >= 6) value.parts = *rc::gen::container<std::vector<Value>>(AnyValue(depth - 1));
    return value;
  });
}

void Write(JsonWriter& json, const Value& value) {
  switch (value.kind) {
    case 0:
      json.Number(value.number);
      return;
    case 1:
      json.Number(static_cast<uint64_t>(value.number));
      return;
    case 2:
      json.Number(value.real);
      return;
    case 3:
      json.Bool(value.number % 2 == 0);
      return;
    case 4:
      json.Null();
      return;
    case 5:
      json.BeginObject().BytesField("bytes", value.text).EndObject();
      return;
    case 6:
      json.BeginArray();
      break;
    default:
      json.BeginObject();
      break;
  }
  for (size_t i = 0; i < value.parts.size(); ++i) {
    if (value.kind == 7) json.Name("n\n" + std::to_string(i));
    Write(json, value.parts[i]);
  }
  value.kind == 6 ? json.EndArray() : json.EndObject();
}

void ReadSame(JsonReader& json, const Value& value) {
  switch (value.kind) {
    case 0:
      RC_ASSERT(json.Int() == value.number);
      return;
    case 1:
      RC_ASSERT(json.Uint() == static_cast<uint64_t>(value.number));
      return;
    case 2:
      RC_ASSERT(json.Double() == value.real);
      return;
    case 3:
      RC_ASSERT(json.Bool() == (value.number % 2 == 0));
      return;
    case 4:
      RC_ASSERT(json.TakeNull());
      return;
    case 5:
      json.Object([&](std::string_view name) {
        RC_ASSERT(name == (IsUtf8(value.text) ? "bytes" : "bytes_base64"));
        RC_ASSERT((name == "bytes" ? Bytes(json.Text()) : json.Base64()) == value.text);
      });
      return;
    case 6:
      json.Array([&](size_t i) { ReadSame(json, value.parts.at(i)); });
      return;
    default:
      break;
  }
  size_t i = 0;
  json.Object([&](std::string_view name) {
    RC_ASSERT(name == "n\n" + std::to_string(i));
    ReadSame(json, value.parts.at(i++));
  });
  RC_ASSERT(i == value.parts.size());
}

RC_GTEST_PROP(JsonPropertyTest, WhatIsWrittenIsReadBack, ()) {
  const Value value = *AnyValue(3);
  Bytes text;
  JsonWriter writer(&text);
  Write(writer, value);
  JsonReader json(text);
  ReadSame(json, value);
  RC_ASSERT(json.Finish().has_value());
  RC_ASSERT(Minified(text).value_or("") == text);
}

RC_GTEST_PROP(JsonPropertyTest, AnyTextIsReadBack, (const std::string& bytes)) {
  Bytes text;
  JsonWriter(&text).BeginArray().Text(IsUtf8(bytes) ? bytes : "").EndArray();
  JsonReader json(text);
  json.Array([&] { RC_ASSERT(json.Text() == (IsUtf8(bytes) ? bytes : "")); });
  RC_ASSERT(json.Finish().has_value());
}

}  // namespace
}  // namespace kvarts
