// Grammars: what is one, what follows one, and which share a key.
#include "model/catalog/grammar.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kvarts {
namespace {

constexpr const char* kEvents = "t/<tenant>/case/<case_id>/event/<occurred_at:timestamp>/<event_id>";

Grammar Must(std::string_view text) {
  auto grammar = Grammar::Parse(text);
  EXPECT_TRUE(grammar) << grammar.error();
  return grammar ? *std::move(grammar) : Grammar();
}

// "tenant=acme id=1", or "why position".
std::string Fields(const Grammar& grammar, BytesView key) {
  KeyFields fields;
  KeyMismatch why;
  std::string text;
  if (grammar.Match(key, &fields, &why)) {
    EXPECT_EQ(fields.size(), grammar.fields().size());
    for (size_t i = 0; i < fields.size(); ++i) {
      text += (i == 0 ? "" : " ") + grammar.fields()[i].name + "=" + Escaped(fields[i]);
    }
    return text;
  }
  const char* names[] = {"literal", "value", "empty", "delimiter", "ends early", "goes on"};
  return std::string(names[static_cast<size_t>(why.why)]) + " " + std::to_string(why.position);
}
std::string Fields(std::string_view grammar, BytesView key) { return Fields(Must(grammar), key); }

// The text of the error and where, or what the grammar prints as.
std::string Parsed(std::string_view text) {
  const auto grammar = Grammar::Parse(text);
  if (grammar) return grammar->ToString();
  EXPECT_FALSE(grammar.error().text().empty());
  return std::string(ErrorCodeName(grammar.error().code())) + " " + std::string(grammar.error().field("position"));
}

TEST(GrammarTest, IsPrintedAsItIsRead) {
  for (const char* text :
       {kEvents, "<id>", "<id:path>", "user:<id:uuid>", "<a:int(10)><b:hex(128)><c:date>x",
        "m/<d:timestamp_ms>/<e:timestamp_us>/<f:path>", "a\\<b\\>\\\\\\x00\\xff<id>", "a b<id>/current"}) {
    EXPECT_EQ(Parsed(text), text);
    EXPECT_EQ(Must(text), Must(Must(text).ToString()));
  }
  EXPECT_EQ(Parsed("a\\x62<id:text>"), "ab<id>") << "what need not be said is left out";
  EXPECT_EQ(Parsed("caf\xc3\xa9/<id>"), "caf\\xc3\\xa9/<id>");
}

TEST(GrammarTest, WhatIsNoneIsRefusedWithItsPlace) {
  EXPECT_EQ(Parsed(""), "invalid_argument 0");
  EXPECT_EQ(Parsed("abc"), "invalid_argument 3") << "no field";
  EXPECT_EQ(Parsed("a<b"), "invalid_argument 1") << "no end";
  EXPECT_EQ(Parsed("a>b<c>"), "invalid_argument 1") << "no beginning";
  EXPECT_EQ(Parsed("a<>"), "invalid_argument 2") << "no name";
  EXPECT_EQ(Parsed("a<bC>"), "invalid_argument 3");
  EXPECT_EQ(Parsed("a<1b>"), "invalid_argument 2");
  EXPECT_EQ(Parsed("<a>/<a>"), "invalid_argument 5") << "twice";
  EXPECT_EQ(Parsed("<a><b>"), "invalid_argument 3") << "where does a end?";
  EXPECT_EQ(Parsed("<a:path>/x"), "invalid_argument 10");
  EXPECT_EQ(Parsed("<a:path><b>"), "invalid_argument 8");
  EXPECT_EQ(Parsed("<a:uint>"), "invalid_argument 3");
  for (const char* type : {"int", "int()", "int(0)", "int(20)", "int(01)", "int(1", "int(1))", "int( 1)", "int(-1)",
                           "hex", "hex(129)", "hex(99999999999999999999)", "date(1)", "Text", "", "timestamp_ns"}) {
    EXPECT_EQ(Parsed("x<abc:" + std::string(type) + ">"), "invalid_argument 6") << type;
  }
  EXPECT_EQ(Parsed("a\\"), "invalid_argument 1");
  EXPECT_EQ(Parsed("a\\n<b>"), "invalid_argument 1");
  EXPECT_EQ(Parsed("a\\x1<b>"), "invalid_argument 1");
  EXPECT_EQ(Parsed("a\n<b>"), "invalid_argument 1");
}

TEST(GrammarTest, HoldsItsLimits) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += "<f" + std::to_string(i) + ">/";
  EXPECT_EQ(Parsed(text), text);
  EXPECT_EQ(Parsed(text + "<g>"), "invalid_argument " + std::to_string(text.size()));
  const std::string name(32, 'n');
  EXPECT_EQ(Parsed("<" + name + ">"), "<" + name + ">");
  EXPECT_EQ(Parsed("<" + name + "n>"), "invalid_argument 1");
  EXPECT_EQ(Parsed(std::string(1021, 'x') + "<a>").size(), 1024u);
  EXPECT_EQ(Parsed(std::string(1022, 'x') + "<a>"), "too_large ");
  EXPECT_EQ(Parsed(std::string(256, '\xff') + "<a>"), "too_large ") << "as it is stored it is four times as long";
}

TEST(GrammarTest, AKeyIsReadFieldByField) {
  EXPECT_EQ(Fields(kEvents, "t/acme/case/7/event/2026-07-05T10:15:30Z/e1"),
            "tenant=acme case_id=7 occurred_at=2026-07-05T10:15:30Z event_id=e1");
  EXPECT_EQ(Fields("<tenant>#idem#<op>#<key>", "acme#idem#create#a/b"), "tenant=acme op=create key=a/b");
  EXPECT_EQ(Fields("f/<dir>/<rest:path>", "f/a/b/c/"), "dir=a rest=b/c/");
  EXPECT_EQ(Fields("<a:int(3)><b:hex(2)><c>", "007ffrest"), "a=007 b=ff c=rest");
  EXPECT_EQ(Fields("<id>", Bytes("\0/\xff", 3)), "id=\\x00/\\xff") << "without literals there is no delimiter";
  EXPECT_EQ(Fields("k/<id>/current", "k/1/current"), "id=1");
}

TEST(GrammarTest, AMismatchSaysWhere) {
  EXPECT_EQ(Fields(kEvents, "u/acme"), "literal 0");
  EXPECT_EQ(Fields(kEvents, ""), "ends early 0");
  EXPECT_EQ(Fields(kEvents, "t//case/1"), "empty 2");
  EXPECT_EQ(Fields(kEvents, "t/acme/idem/1"), "literal 7");
  EXPECT_EQ(Fields(kEvents, "t/acme/ca"), "ends early 9");
  EXPECT_EQ(Fields(kEvents, "t/acme"), "ends early 6");
  EXPECT_EQ(Fields(kEvents, "t/a/case/1/event/2026-07-05 10:15:30Z/e"), "value 27");
  EXPECT_EQ(Fields(kEvents, "t/a/case/1/event/2026-07-05T10:15:30Z/"), "ends early 38");
  EXPECT_EQ(Fields(kEvents, "t/a/case/1/event/2026-07-05T10:15:30Z/e/f"), "delimiter 39");
  EXPECT_EQ(Fields("k/<id>/current", "k/1/current2"), "goes on 11");
  EXPECT_EQ(Fields("f/<dir>/<rest:path>", "f/a/"), "ends early 4");
  EXPECT_EQ(Fields("<a:int(3)>", "12"), "ends early 2");
  EXPECT_EQ(Fields("<a:int(3)>", "1234"), "goes on 3");
  EXPECT_EQ(Fields("<a:hex(4)>", "00FF"), "value 2") << "one spelling of each value";
  EXPECT_EQ(Fields("<a:uuid>", "0190b7e2-7cb0-7123-8456-0123456789ab"), "a=0190b7e2-7cb0-7123-8456-0123456789ab");
  EXPECT_EQ(Fields("<a:uuid>", "0190b7e2-7cb0-7123-8456-0123456789AB"), "value 34");
  EXPECT_EQ(Fields("<a:uuid>", "0190b7e27cb0-7123-8456-0123456789ab"), "value 8");
}

TEST(GrammarTest, OnlyTimesThatThereAreAreTimes) {
  for (const char* day : {"2026-01-31", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"}) {
    EXPECT_EQ(Fields("<d:date>", day), std::string("d=") + day);
  }
  for (const char* day : {"2026-00-01", "2026-13-01"}) EXPECT_EQ(Fields("<d:date>", day), "value 6") << day;
  for (const char* day : {"2026-01-00", "2026-01-32", "2026-04-31", "2023-02-29", "1900-02-29"}) {
    EXPECT_EQ(Fields("<d:date>", day), "value 9") << day;
  }
  EXPECT_EQ(Fields("<d:timestamp>", "2026-07-05T23:59:59Z"), "d=2026-07-05T23:59:59Z");
  EXPECT_EQ(Fields("<d:timestamp>", "2026-07-05T24:00:00Z"), "value 12");
  EXPECT_EQ(Fields("<d:timestamp>", "2026-07-05T23:60:00Z"), "value 15");
  EXPECT_EQ(Fields("<d:timestamp>", "2026-07-05T23:59:60Z"), "value 18");
  EXPECT_EQ(Fields("<d:timestamp>", "2026-07-05T23:59:59.1Z"), "value 19");
  EXPECT_EQ(Fields("<d:timestamp_ms>", "2026-07-05T23:59:59.123Z"), "d=2026-07-05T23:59:59.123Z");
  EXPECT_EQ(Fields("<d:timestamp_ms>", "2026-07-05T23:59:59Z"), "value 19");
  EXPECT_EQ(Fields("<d:timestamp_us>", "2026-07-05T23:59:59.123456Z"), "d=2026-07-05T23:59:59.123456Z");
  EXPECT_EQ(Fields("<d:timestamp_us>", "2026-07-05T23:59:59.123Z"), "value 23");
}

TEST(GrammarTest, AMismatchSaysWhatWasExpected) {
  const Grammar grammar = Must(kEvents);
  const auto expected = [&](BytesView key) {
    KeyFields fields;
    KeyMismatch why;
    EXPECT_FALSE(grammar.Match(key, &fields, &why));
    return std::string(grammar.FieldAt(why)) + ": " + grammar.Expected(why);
  };
  EXPECT_EQ(expected("x"), ": \"t/\"");
  EXPECT_EQ(expected("t/acme"), "tenant: one or more bytes other than \"/\", and then \"/case/\"");
  EXPECT_EQ(expected("t/a/case/1/event/now/1"), "occurred_at: YYYY-MM-DDTHH:MM:SSZ, a time that there is");
  EXPECT_EQ(expected("t/a/case/1/event/2026-07-05T10:15:30Z/e/f"), "event_id: one or more bytes other than \"/\"");
}

TEST(GrammarTest, GrammarsThatShareAKeyOverlap) {
  const auto overlap = [](std::string_view a, std::string_view b) {
    EXPECT_EQ(Must(a).Overlaps(Must(b)), Must(b).Overlaps(Must(a))) << a << " " << b;
    return Must(a).Overlaps(Must(b));
  };
  EXPECT_TRUE(overlap(kEvents, kEvents));
  EXPECT_FALSE(overlap("t/<tenant>/case/<id>", "t/<tenant>/idem/<id>"));
  EXPECT_FALSE(overlap("t/<tenant>/case/<id>", "t/<tenant>/case/<id>/current")) << "a text at the end has no delimiter";
  EXPECT_TRUE(overlap("t/<tenant>/case/<id:path>", "t/<tenant>/case/<id>/current"));
  EXPECT_TRUE(overlap("t/<tenant>/case/<id>", "t/acme/<kind>/<id>"));
  EXPECT_FALSE(overlap("<a>/x", "<a>/y"));
  EXPECT_TRUE(overlap("<a>/x", "<a:path>"));
  EXPECT_TRUE(overlap("<a:uuid>", "<a:hex(8)>-<b>-<c>-<d>-<e>"));
  EXPECT_FALSE(overlap("<a:uuid>", "<a:hex(36)>"));
  EXPECT_TRUE(overlap("<a:int(10)>", "<a:hex(10)>"));
  EXPECT_FALSE(overlap("<a:int(10)>", "<a:int(11)>"));
  EXPECT_TRUE(overlap("<a:int(4)>-<b:int(2)>-<c:int(2)>", "<a:date>"));
  EXPECT_FALSE(overlap("2026-4<a>", "<a:date>")) << "no month begins with 4";
  EXPECT_FALSE(overlap("<a:timestamp>", "<a:timestamp_ms>"));
  EXPECT_FALSE(overlap("x/<d:date>", "x/all/<id>"));
  EXPECT_TRUE(overlap("<a>:<b>", "<a>/<b>")) << "a:b/c is of both";
  EXPECT_TRUE(overlap("2023-02-3<a:int(1)>", "<a:date>")) << "documented: there are no such days, but digits";
}

TEST(GrammarTest, KnowsWhoSharesWhatStandsBeforeAField) {
  const Grammar grammar = Must("t/<tenant>/log/<day:date>/<id>");
  EXPECT_FALSE(grammar.SharesLeading(1, Must("t/<tenant>/idem/<id>")));
  EXPECT_TRUE(grammar.SharesLeading(1, Must("t/<tenant>/log/0settings/<id>")));
  EXPECT_FALSE(grammar.SharesLeading(1, Must("t/<tenant>/log2/<id>")));
  EXPECT_TRUE(grammar.IsLeading(1, "t/acme/log/"));
  EXPECT_FALSE(grammar.IsLeading(1, "t/acme/log"));
  EXPECT_FALSE(grammar.IsLeading(1, "t/acme/log/2"));
  EXPECT_FALSE(grammar.IsLeading(1, "t/acme/idem/"));
  EXPECT_TRUE(grammar.IsLeading(0, "t/"));
  EXPECT_TRUE(Must("<day:date>/<id>").IsLeading(0, ""));
}

TEST(GrammarTest, SkipsWhatCannotMatch) {
  const Grammar grammar = Must("t/<tenant>/log/<day:date>/<id>");
  const auto skip = [&](BytesView key) {
    KeyFields fields;
    KeyMismatch why;
    EXPECT_FALSE(grammar.Match(key, &fields, &why));
    return Grammar::SkipBeyond(key, why);
  };
  EXPECT_EQ(skip("t/acme/idem/1"), "t/acme/j");
  EXPECT_EQ(skip("t/acme"), Bytes("t/acme\0", 7));
  EXPECT_EQ(skip("t/acme/log/x"), "t/acme/log/y");
  EXPECT_EQ(skip("\xff"), "") << "nothing comes after";
}

// Generous, so that it says something on a busy machine and under sanitizers: see bench/ for figures.
TEST(GrammarTest, MatchingIsLinear) {
  const Grammar grammar = Must("<a>/<b:path>");
  const Bytes key = Bytes(8000, 'x') + "/" + Bytes(1, 'y');
  KeyFields fields;
  KeyMismatch why;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(grammar.Match(key, &fields, &why));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

}  // namespace
}  // namespace kvarts
