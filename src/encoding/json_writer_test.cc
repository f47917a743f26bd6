#include "encoding/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvarts {
namespace {

std::string Quoted(std::string_view text) {
  Bytes out;
  AppendJsonText(&out, text);
  return out;
}

template <class Number>
std::string NumberText(Number number) {
  Bytes out;
  JsonWriter(&out).Number(number);
  return out;
}

std::string BytesText(BytesView bytes) {
  Bytes out;
  JsonWriter(&out).BytesField("v", bytes);
  return out;
}

TEST(JsonWriterTest, SeparatesAndEscapes) {
  Bytes out;
  JsonWriter json(&out);
  json.BeginObject().Field("a", "x\"\\\n").Field("b", true).Name("c").BeginArray();
  json.Number(uint64_t{1}).Number(0.5).Null().BeginObject().EndObject().EndArray().Field("d", -7).EndObject();
  EXPECT_EQ(out, R"({"a":"x\"\\\u000a","b":true,"c":[1,0.5,null,{}],"d":-7})");
}

TEST(JsonWriterTest, WritesBehindWhatIsThere) {
  Bytes out = "HTTP/1.1 200 OK\r\n\r\n";
  JsonWriter(&out).BeginArray().EndArray();
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\n\r\n[]");
  JsonWriter(&out).Text("a");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\n\r\n[]\"a\"");
}

TEST(JsonWriterTest, EveryKindOfValueIsFollowedByAComma) {
  Bytes out;
  JsonWriter json(&out);
  json.BeginArray().Text("").Text("\n").Number(int64_t{-1}).Number(uint64_t{1}).Number(1.5).Bool(false).Null();
  json.Raw("{\"r\":1}").BeginArray().EndArray().BeginObject().BytesField("t", "x").BytesField("b", "\xff");
  json.BytesField("u", "Å").Name("n\n").Null().EndObject().Null().EndArray();
  EXPECT_EQ(out,
            R"(["","\u000a",-1,1,1.5,false,null,{"r":1},[],{"t":"x","b_base64":"/w==","u":"Å","n\u000a":null},null])");
}

TEST(JsonWriterTest, EscapesInEveryPlace) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\x7f /", 5)), "\"\\u0000\\u001f\\u007f /\"");
  EXPECT_EQ(Quoted("Åsa 漢 😀 \xc2\x80"), "\"Åsa 漢 😀 \xc2\x80\"");
  for (size_t before = 0; before < 40; ++before) {
    for (const size_t after : {0, 1, 15, 16, 17}) {
      const std::string a(before, 'a');
      const std::string z(after, 'z');
      ASSERT_EQ(Quoted(a + "\"" + z + "\\"), "\"" + a + "\\\"" + z + "\\\\\"");
      ASSERT_EQ(Quoted(a + "\t" + z), "\"" + a + "\\u0009" + z + "\"");
    }
  }
}

TEST(JsonWriterTest, NumbersReadBackAsThemselves) {
  EXPECT_EQ(NumberText(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(NumberText(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(1.0), "1");
  EXPECT_EQ(NumberText(-0.0), "-0");
  EXPECT_EQ(NumberText(1e300), "1e+300");
  EXPECT_EQ(NumberText(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
  EXPECT_EQ(NumberText(std::nan("")), "null");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriterTest, FieldsOfEveryType) {
  Bytes out;
  JsonWriter(&out).Field("a", int8_t{-1}).Field("b", uint16_t{2}).Field("c", size_t{3}).Field("d", 1.5f);
  EXPECT_EQ(out, R"("a":-1,"b":2,"c":3,"d":1.5)");
  out.clear();
  JsonWriter(&out).Field("a", std::string("x")).Field("b", std::string_view("y")).Field("c", "z");
  EXPECT_EQ(out, R"("a":"x","b":"y","c":"z")");
}

TEST(JsonWriterTest, BytesAreTextOrBase64) {
  EXPECT_EQ(BytesText(""), R"("v":"")");
  EXPECT_EQ(BytesText("text"), R"("v":"text")");
  EXPECT_EQ(BytesText("a\nb"), R"("v":"a\u000ab")");
  EXPECT_EQ(BytesText("Åsa"), R"("v":"Åsa")");
  EXPECT_EQ(BytesText(BytesView("\0", 1)), R"("v":"\u0000")");
  EXPECT_EQ(BytesText("\xff"), R"("v_base64":"/w==")");
  EXPECT_EQ(BytesText("\xed\xa0\x80"), R"("v_base64":"7aCA")") << "a surrogate is no text";
  EXPECT_EQ(BytesText("cut \xc3"), R"("v_base64":"Y3V0IMM=")");
  EXPECT_EQ(BytesText(std::string(50, 'x') + "\xfe"),
            "\"v_base64\":\"eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHj+\"");
}

}  // namespace
}  // namespace kvarts
