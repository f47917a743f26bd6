#include "document/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "document/document_testing.h"

namespace kvarts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Each = DocumentPath::Each;
using Step = DocumentPath::Step;

TEST(DocumentPathTest, StepsAreNamesAndIndexes) {
  const DocumentPath path = Path("lines[10].`odd name`.sku-2[*]");
  const Step::Kind name = Step::Kind::kName;
  EXPECT_EQ(
      path.steps(),
      (std::vector<Step>{
          {name, "lines"}, {Step::Kind::kIndex, "", 10}, {name, "odd name"}, {name, "sku-2"}, {Step::Kind::kEach}}));
  EXPECT_TRUE(path.HasEach());
  EXPECT_FALSE(Path("lines[10]").HasEach());
}

TEST(DocumentPathTest, TheCanonicalTextParsesBack) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a", "a"},
      {"_a1-b.C", "_a1-b.C"},
      {"`a`", "a"},
      {"`a`[0].`b`", "a[0].b"},
      {"a[4294967295]", "a[4294967295]"},
      {"a[*].b", "a[*].b"},
      {"``", "``"},
      {"``.``", "``.``"},
      {"````", "````"},
      {"```x`", "```x`"},
      {"`x``y`", "`x``y`"},
      {"`a.b`", "`a.b`"},
      {"`a[0]`", "`a[0]`"},
      {"`1`", "`1`"},
      {"`-a`", "`-a`"},
      {"`straße`.x", "`straße`.x"},
      {"`line\nbreak`", "`line\nbreak`"},
      {Repeated("a[0]", 1) + Repeated("[1]", 30), "a[0]" + Repeated("[1]", 30)},
      {std::string(1024, 'x'), std::string(1024, 'x')},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(Path(text).ToString(), canonical);
    EXPECT_EQ(Path(canonical), Path(text)) << text;
  }
  EXPECT_EQ(Path("```x`").steps()[0].name, "`x");
  EXPECT_EQ(Path("``").steps()[0].name, "");
}

TEST(DocumentPathTest, WhatIsNoPathIsRefusedWithItsPosition) {
  struct Case {
    std::string text;
    std::string why;
    size_t position;
    Each each = Each::kAllowed;
  };
  const std::vector<Case> cases = {
      {"", "a name was expected", 0},
      {".a", "a name was expected", 0},
      {"a.", "a name was expected", 2},
      {"a..b", "a name was expected", 2},
      {"1a", "a name was expected", 0},
      {"a.1", "a name was expected", 2},
      {"[0]", "a name was expected", 0},
      {"[*]", "a name was expected", 0},
      {"a.[0]", "a name was expected", 2},
      {"straße", "goes on with . or [", 4},
      {"a b", "goes on with . or [", 1},
      {" a", "a name was expected", 0},
      {"a ", "goes on with . or [", 1},
      {"a]", "goes on with . or [", 1},
      {"``a`", "goes on with . or [", 2},
      {std::string("a\0", 2), "goes on with . or [", 1},
      {"a.`b", "not closed", 2},
      {"```", "not closed", 0},
      {"a.`\xff`", "not UTF-8", 2},
      {"a[", "an index was expected", 2},
      {"a[]", "an index was expected", 2},
      {"a[-1]", "an index was expected", 2},
      {"a[+1]", "an index was expected", 2},
      {"a[ 1]", "an index was expected", 2},
      {"a[x]", "an index was expected", 2},
      {"a[01]", "begins with a zero", 2},
      {"a[4294967296]", "at most 4294967295", 2},
      {"a[1", "a ] was expected", 3},
      {"a[1.5]", "a ] was expected", 3},
      {"a[*", "a ] was expected", 3},
      {"a[**]", "a ] was expected", 3},
      {"a[*].b[*]", "at most one [*]", 7},
      {"ab[*]", "[*] has no meaning here", 2, Each::kRefused},
      {"a" + Repeated("[0]", 32), "at most 32 steps", 1 + 3 * 31},
      {"a" + Repeated(".b", 32), "at most 32 steps", 2 + 2 * 31},
      {std::string(1025, 'x'), "at most 1024 bytes", 1024},
      {"`" + std::string(2'000'000, '`') + "`", "at most 1024 bytes", 1024},
  };
  for (const Case& one : cases) {
    const Result<DocumentPath> path = DocumentPath::Parse(one.text, one.each);
    ASSERT_FALSE(path.has_value()) << one.text;
    EXPECT_EQ(path.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(std::string(path.error().text()), testing::HasSubstr(one.why)) << one.text;
    EXPECT_EQ(path.error().field("position"), std::to_string(one.position)) << one.text;
    EXPECT_LE(path.error().field("path").size(), 4u * 1024);
  }
  EXPECT_EQ(DocumentPath::Parse("a. b").error().field("path"), "a. b");
}

TEST(DocumentPathTest, ThePathAtTheFrontOfATextIsTaken) {
  size_t end = 0;
  EXPECT_EQ(DocumentPath::ParseFront("a.b[1] = 3", &end)->ToString(), "a.b[1]");
  EXPECT_EQ(end, 6u);
  EXPECT_EQ(DocumentPath::ParseFront("`x y`", &end)->ToString(), "`x y`");
  EXPECT_EQ(end, 5u);
  EXPECT_FALSE(DocumentPath::ParseFront("a.b. = 3", &end).has_value());
  EXPECT_EQ(end, 4u);
  EXPECT_FALSE(DocumentPath::ParseFront("a[*] = 3", &end).has_value());
  EXPECT_EQ(end, 1u);
  EXPECT_FALSE(DocumentPath::ParseFront(std::string(1025, 'x') + " = 3", &end).has_value());
  EXPECT_EQ(end, 1024u);
}

TEST(DocumentPathTest, OtherSyntaxesBuildPathsByTheSameRules) {
  const Step::Kind name = Step::Kind::kName;
  EXPECT_EQ(DocumentPath::Of({{name, "a"}, {Step::Kind::kIndex, "", 3}, {name, "x y"}})->ToString(), "a[3].`x y`");
  EXPECT_TRUE(DocumentPath::Of({{name, "a"}, {Step::Kind::kEach}})->HasEach());
  const auto why = [](std::vector<Step> steps) {
    const Result<DocumentPath> path = DocumentPath::Of(std::move(steps));
    return path.has_value() ? "" : std::string(path.error().text());
  };
  EXPECT_EQ(why({}), "a path begins with a name");
  EXPECT_EQ(why({{Step::Kind::kIndex, "", 3}}), "a path begins with a name");
  EXPECT_EQ(why({{name, "\xff"}}), "a name that is not UTF-8");
  EXPECT_EQ(why({{name, "a"}, {Step::Kind::kEach}, {Step::Kind::kEach}}), "a path has at most one [*]");
  EXPECT_EQ(why(std::vector<Step>(33, {name, "a"})), "a path has at most 32 steps");
  EXPECT_EQ(why({{name, std::string(1025, 'x')}}), "a path has at most 1024 bytes");
}

TEST(DocumentPathTest, AValueIsFoundWhereThePathLeads) {
  const Bytes bytes =
      Doc(R"({"a":{"b":[1,{"c":"deep"}],"":7},"odd name":{"x":true},"s":{"$set":["p","q"]},"n":null,"t":"text"})");
  const DocumentView document(bytes);
  const auto found = [&](std::string_view path) {
    const std::optional<DocumentView> value = Path(path).Find(document);
    return value ? DocumentToJson(*value) : "nothing";
  };
  EXPECT_EQ(found("a.b[1].c"), R"("deep")");
  EXPECT_EQ(found("a.b[0]"), "1");
  EXPECT_EQ(found("a.``"), "7");
  EXPECT_EQ(found("`odd name`.x"), "true");
  EXPECT_EQ(found("n"), "null");
  EXPECT_EQ(found("s"), R"({"$set":["p","q"]})");
  for (const char* absent : {"b", "a.c", "a.b[2]", "a.b[4294967295]", "a.b[0].c", "a.b.c", "a[0]", "s[0]", "s.p", "n.x",
                             "t.x", "t[0]", "a.b[1].c.d"}) {
    EXPECT_EQ(found(absent), "nothing") << absent;
  }
  EXPECT_FALSE(Path("a").Find(DocumentView(Doc("[1]"))).has_value());
  EXPECT_FALSE(Path("a").Find(DocumentView(Doc("1"))).has_value());
}

std::vector<std::string> AllAt(std::string_view path, std::string_view json) {
  const Bytes bytes = Doc(json);
  std::vector<std::string> all;
  Path(path).ForEach(DocumentView(bytes), [&](const DocumentView& value) { all.push_back(DocumentToJson(value)); });
  return all;
}

TEST(DocumentPathTest, EveryElementIsVisited) {
  EXPECT_THAT(AllAt("a", R"({"a":1})"), ElementsAre("1"));
  EXPECT_THAT(AllAt("b", R"({"a":1})"), IsEmpty());
  EXPECT_THAT(AllAt("a[*]", R"({"a":[3,"x",[1],null]})"), ElementsAre("3", R"("x")", "[1]", "null"));
  EXPECT_THAT(AllAt("a[*]", R"({"a":{"$set":[3,1]}})"), ElementsAre("1", "3"));
  EXPECT_THAT(AllAt("a[*]", R"({"a":{"$set":["x"]}})"), ElementsAre(R"("x")"));
  EXPECT_THAT(AllAt("a[*]", R"({"a":{"$set":[{"$binary":""}]}})"), ElementsAre(R"({"$binary":""})"));
  EXPECT_THAT(AllAt("a.b[*].c", R"({"a":{"b":[{"c":1},{"d":2},5,{"c":[3]}]}})"), ElementsAre("1", "[3]"));
  EXPECT_THAT(AllAt("a[*][1]", R"({"a":[[1,2],[3],[4,5,6]]})"), ElementsAre("2", "5"));
  for (const char* none : {"{}", R"({"a":[]})", R"({"a":{"x":1}})", R"({"a":"text"})", R"({"a":null})", "[1]", "7"}) {
    EXPECT_THAT(AllAt("a[*]", none), IsEmpty()) << none;
  }
}

TEST(DocumentPathTest, OrderIsThatOfFieldsAndAPathIsRightBeforeThoseThatGoOnFromIt) {
  const std::vector<std::string> ascending = {"``",        "a",   "a.b",  "a.b[0]", "a.b[1]", "a.b[10]",
                                              "a.b[10].c", "a.c", "a.aa", "a[0]",   "a[2].x", "a[10]",
                                              "b",         "aa",  "bb.c", "aaa"};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(Path(ascending[i]) <=> Path(ascending[j]), i <=> j) << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(DocumentPathTest, PathsAreApartWhenNeitherLeadsIntoTheOther) {
  const auto why = [](std::string_view a, std::string_view b) {
    const Status apart = CheckApart(Path(a), Path(b));
    return apart.has_value() ? "" : apart.error().ToString();
  };
  EXPECT_EQ(why("a", "b"), "");
  EXPECT_EQ(why("a.b", "a.c"), "");
  EXPECT_EQ(why("a[1]", "a[2]"), "");
  EXPECT_EQ(why("a.b", "a.c[2]"), "");
  EXPECT_EQ(why("a", "a"), "invalid_argument: two paths overlap (path=a, other=a)");
  EXPECT_EQ(why("a.b", "a"), "invalid_argument: two paths overlap (path=a.b, other=a)");
  EXPECT_EQ(why("a", "a.b[2].c"), "invalid_argument: two paths overlap (path=a, other=a.b[2].c)");
  EXPECT_EQ(why("a[1]", "a[1]"), "invalid_argument: two paths overlap (path=a[1], other=a[1])");
  EXPECT_EQ(why("a.b", "a[1]"),
            "invalid_argument: two paths take the same value for a map and for a list (path=a.b, other=a[1])");
}

// Any pair that is not apart makes some neighbours in the sorted order that are not.
TEST(DocumentPathTest, ItIsEnoughToHoldNeighboursApart) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<DocumentPath> paths;
    for (size_t i = 0; i < 2 + random() % 5; ++i) {
      std::string text(1, static_cast<char>('a' + random() % 2));
      for (size_t step = random() % 4; step != 0; --step) {
        constexpr const char* kSteps[] = {".a", ".b", "[0]", "[1]", ".aa"};
        text += kSteps[random() % std::size(kSteps)];
      }
      paths.push_back(Path(text));
    }
    std::ranges::sort(paths);
    bool all = true;
    bool neighbours = true;
    for (size_t i = 0; i < paths.size(); ++i) {
      for (size_t j = i + 1; j < paths.size(); ++j) {
        const bool apart = CheckApart(paths[i], paths[j]).has_value();
        all = all && apart;
        if (j == i + 1) neighbours = neighbours && apart;
      }
    }
    EXPECT_EQ(all, neighbours);
  }
}

}  // namespace
}  // namespace kvarts
