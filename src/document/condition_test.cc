#include "document/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "document/document_testing.h"

namespace kvarts {
namespace {

using Kind = Condition::Kind;
using Operand = Condition::Operand;

Condition Parsed(std::string_view text) {
  Result<Condition> condition = Condition::Parse(text);
  EXPECT_TRUE(condition.has_value()) << text << ": " << condition.error();
  return condition.has_value() ? *std::move(condition) : Condition::Exists(Path("wrong"));
}

std::string ErrorOf(std::string_view text) {
  const Result<Condition> condition = Condition::Parse(text);
  return condition.has_value() ? "fine" : condition.error().ToString();
}

constexpr std::string_view kDocument = R"({
  "zero": 0, "one": 1, "two": 2, "big": 12345678901234567890123456789012345678, "half": 0.5,
  "cat": "cat", "dog": "dog", "empty": "", "umlaut": "ä",
  "bin": {"$binary": "aGVsbG8="}, "bin2": {"$binary": "aGVsbHA="},
  "yes": true, "no": false, "nothing": null,
  "list": [1, "cat", [2, 3], {"$set": ["a", "b"]}], "none": [],
  "map": {"x": 1, "y": {"z": "deep"}},
  "texts": {"$set": ["cat", "dog"]}, "numbers": {"$set": [1, 2.5]}, "binaries": {"$set": [{"$binary": "aGVsbG8="}]},
  "and": {"or": 7}, "odd name": 3, "size": 9, "type": "t"
})";

bool Holds(std::string_view text) { return Parsed(text).Holds(DocumentView(Doc(kDocument))); }

TEST(ConditionTest, WhatHolds) {
  for (const char* text :
       {// Equality, of every kind.
        "one = 1", "one = 1.0", "one = 10e-1", "half = 5e-1", "one != 2",
        "big = 12345678901234567890123456789012345678", R"(cat = "cat")", R"(cat = "\u0063at")",
        R"(bin = {"$binary": "aGVsbG8="})", "yes = true", "no = FALSE", "nothing = null", "nothing = Null",
        R"(list = [1, "cat", [2, 3], {"$set": ["b", "a"]}])", R"(map = {"y": {"z": "deep"}, "x": 1})",
        R"(texts = {"$set": ["dog", "cat"]})", R"(numbers = {"$set": [2.5, 1]})", "one = one", "1 = one", "1 = 1",
        R"(one != "1")", "yes != 1", "none != map",
        // Order.
        "one < 2", "one <= 1", "two > one", "two >= 2", "half < 0.51", "one < big", "-1 < zero", R"(cat < "dog")",
        R"(empty < cat)", R"("cat" < "cats")", "bin < bin2", R"(bin >= {"$binary": "aGVsbG8="})",
        // between and in.
        "one between 1 and 1", "one between 0 and big", "one between zero and two", R"(cat between "a" and dog)",
        "ONE1 != 1", "one BETWEEN 0 AND 1 AND two = 2", "one in (1)", "one in (0, \"x\", [1], two, 1)",
        "list[2] in ([3, 2], [2, 3])", "nothing in (null)", "one In(one)",
        // Paths.
        "map.x = 1", R"(map.y.z = "deep")", "list[0] = 1", "list[2][1] = 3", "`and`.or = 7", "`odd name` = 3",
        "size = 9", R"(type = "t")", "size < 10 and type != null",
        // Functions.
        "exists(one)", "exists(nothing)", "exists (map.y.z)", "missing(nope)", "missing(map.nope)", "missing(list[4])",
        "missing(one.x)", R"(begins_with(cat, "ca"))", R"(begins_with(cat, ""))", "begins_with(cat, cat)",
        R"(begins_with("catalogue", cat))", R"(begins_with(bin, {"$binary": "aGU="}))", R"(contains(cat, "at"))",
        R"(contains(cat, ""))", "contains(cat, empty)", R"(contains(bin, {"$binary": "bGw="}))",
        R"(contains(list, "cat"))", "contains(list, one)", "contains(list, [2, 3])",
        R"(contains(list, {"$set": ["b", "a"]}))", R"(contains(texts, "dog"))", "contains(numbers, 2.50)",
        "contains(binaries, bin)", "contains([1, 2], one)", R"(type(one, "number"))", R"(type(nothing, "null"))",
        R"(type(yes, "bool"))", R"(type(cat, "text"))", R"(type(bin, "binary"))", R"(type(list, "list"))",
        R"(type(map, "map"))", R"(type(texts, "text_set"))", R"(type(numbers, "number_set"))",
        R"(TYPE(binaries, "binary_set"))",
        // Sizes.
        "size(cat) = 3", "size(empty) = 0", "size(umlaut) = 2", "size(bin) = 5", "size(list) = 4", "size(none) = 0",
        "size(map) = 2", "size(texts) = 2", "SIZE (numbers) > 1", "3 = size(cat)", "size(cat) = size(dog)",
        "size(cat) between one and 3", "size(cat) in (1, 3)", "size(texts) = two", "contains(list, size(binaries))",
        // Logic.
        "one = 1 and two = 2", "one = 2 or two = 2", "not one = 2", "not (one = 1 and two = 1)",
        "one = 2 and one = 3 or one = 1", "one = 1 or one = 2 and one = 3", "not one = 2 and two = 2", "((one = 1))",
        "not not one = 1", "(one = 2 or two = 2) and (one = 1 or two = 3)", "one=1\tand\r\ntwo=2",
        "NOT one = 2 AnD exists(cat)"}) {
    EXPECT_TRUE(Holds(text)) << text;
  }
}

TEST(ConditionTest, WhatDoesNotHold) {
  for (const char* text :
       {"one = 2", "one != 1", R"(one = "1")", "yes = 1", "no = null", "nothing = false", "none = map",
        R"(texts = ["cat", "dog"])", R"(cat = {"$binary": "Y2F0"})", "map = {}", "one < 1", "one <= 0", "one > 1",
        "one >= 2", R"(cat > "cats")", "bin > bin2",
        // Of different kinds, or of kinds without an order.
        R"(one < "2")", R"(cat > 1)", "bin < cat", "cat < bin", "yes > no", "no < yes", "nothing <= nothing",
        "list >= list", "map < map", "texts <= texts", "one < list", "1 < \"a\"", "one between 2 and 3",
        "one between 0 and 0.5", "one between cat and dog", "one between two and 1", "list between 1 and 2",
        R"(one between zero and "x")", "one in (2, 3)", R"(one in ("1"))", "map.x = 2", "missing(one)",
        "missing(nothing)", "exists(nope)", "exists(list[4])", "exists(texts[0])", R"(begins_with(cat, "cats"))",
        R"(begins_with(cat, "at"))", "begins_with(cat, one)", "begins_with(one, cat)", R"(begins_with(bin, "he"))",
        "begins_with(list, cat)", R"(contains(cat, "x"))", "contains(cat, one)", R"(contains(bin, "ll"))",
        "contains(list, 2)", "contains(list, nope)", R"(contains(texts, "ca"))", "contains(numbers, 2)",
        "contains(one, one)", R"(contains(map, "x"))", "contains(nothing, null)", R"(type(one, "text"))",
        R"(type(texts, "number_set"))", R"(type(nope, "null"))", R"(type(list, "text_set"))", "size(cat) = 4",
        R"(size(cat) = "3")", "size(cat) < \"4\"", "one = 1 and two = 1", "one = 2 or two = 1", "not one = 1",
        "not (one = 2 or two = 2)", "one = 1 and (one = 2 or one = 3)"}) {
    EXPECT_FALSE(Holds(text)) << text;
  }
}

// Of comparisons with what is missing only != holds, whatever is on the other side.
TEST(ConditionTest, WhatIsMissingIsNotEqualToAnything) {
  for (const std::string missing :
       {"nope", "map.nope", "list[9]", "one.x", "size(nope)", "size(one)", "size(nothing)"}) {
    for (const std::string other : {"1", "null", "one", "also_nope", missing.c_str(), "size(cat)", "size(no)"}) {
      for (const std::string sign : {"=", "<", "<=", ">", ">="}) {
        if (other == "null" && sign != "=") continue;
        EXPECT_FALSE(Holds(missing + " " + sign + " " + other)) << missing << sign << other;
        EXPECT_FALSE(Holds(other + " " + sign + " " + missing)) << missing << sign << other;
      }
      EXPECT_TRUE(Holds(missing + " != " + other)) << missing << " " << other;
      EXPECT_TRUE(Holds(other + " != " + missing)) << missing << " " << other;
      EXPECT_FALSE(Holds(missing + " in (" + other + ")"));
      EXPECT_FALSE(Holds(other + " in (" + missing + ")"));
    }
    EXPECT_FALSE(Holds(missing + " between 0 and 9"));
    EXPECT_FALSE(Holds("one between " + missing + " and 9"));
    EXPECT_FALSE(Holds("one between 0 and " + missing));
    EXPECT_FALSE(Holds("contains(list, " + missing + ")"));
  }
  EXPECT_FALSE(Holds("begins_with(cat, nope)"));
  EXPECT_FALSE(Holds("begins_with(nope, cat)"));
  EXPECT_FALSE(Holds("contains(nope, cat)"));
  EXPECT_FALSE(Parsed("a = 1").Holds(DocumentView(Doc("[1]"))));
  EXPECT_TRUE(Parsed("a != 1 and missing(a)").Holds(DocumentView(Doc("7"))));
}

TEST(ConditionTest, TheCanonicalTextParsesBack) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a=1", "a = 1"},
      {"  a  !=\n1.50 ", "a != 1.5"},
      {"((a = 1))", "a = 1"},
      {"a=1 AND(b=2)", "a = 1 and b = 2"},
      {"a=1 and (b=2 and c=3)", "a = 1 and b = 2 and c = 3"},
      {"(a=1 or b=2) or c=3", "a = 1 or b = 2 or c = 3"},
      {"(a=1 or b=2) and c=3", "(a = 1 or b = 2) and c = 3"},
      {"a=1 or (b=2 and c=3)", "a = 1 or b = 2 and c = 3"},
      {"NOT (a=1)", "not a = 1"},
      {"not(a=1 and b=2)", "not (a = 1 and b = 2)"},
      {"not (not (a = 1 or b = 2))", "not not (a = 1 or b = 2)"},
      {"not (a=1) and b=2", "not a = 1 and b = 2"},
      {"a BETWEEN 1 AND 2 and b = 1", "a between 1 and 2 and b = 1"},
      {"a IN(1,2 ,x)", "a in (1, 2, x)"},
      {"EXISTS( a.b )", "exists(a.b)"},
      {"Missing(`a`)", "missing(a)"},
      {R"(Type(a , "text"))", R"(type(a, "text"))"},
      {R"(begins_with(a,"\u0041"))", R"(begins_with(a, "A"))"},
      {"contains([1,2],a)", "contains([1,2], a)"},
      {"size( a )>=size(b)", "size(a) >= size(b)"},
      {"`in` = 1", "`in` = 1"},
      {"`AND`.and[0] = `null`", "`AND`.and[0] = `null`"},
      {"exists(`or`)", "exists(`or`)"},
      {"size(`not`.x) = 1", "size(`not`.x) = 1"},
      {"`size` = `exists`", "size = exists"},
      {"`a b` = TRUE", "`a b` = true"},
      {R"(a = { "y" : 1 , "x" : [ ] })", R"(a = {"x":[],"y":1})"},
      {R"(a = {"$set":[2,1]})", R"(a = {"$set":[1,2]})"},
      {R"(a = {"$map":{"$set":1}})", R"(a = {"$map":{"$set":1}})"},
      {R"(a = {"$number":"1e2"})", "a = 100"},
      {"a = -1e125", "a = -1E+125"},
      {"a-b = -1", "a-b = -1"},
      {"a>-1", "a > -1"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(Parsed(text).ToString(), canonical);
    EXPECT_EQ(Parsed(canonical), Parsed(text)) << text;
  }
}

TEST(ConditionTest, DifferentConditionsAreNotEqual) {
  const std::vector<std::string> different = {"a = 1",
                                              "a = 2",
                                              "b = 1",
                                              "a != 1",
                                              "a = 1 or b = 1",
                                              "a = 1 and b = 1",
                                              "not a = 1",
                                              "not not a = 1",
                                              "exists(a)",
                                              "missing(a)",
                                              "a in (1)",
                                              "a in (1, 2)",
                                              "size(a) = 1",
                                              "1 = a",
                                              "type(a, \"map\")",
                                              "type(a, \"list\")",
                                              "a.b = 1",
                                              "a[0] = 1",
                                              "b = 1 and a = 1"};
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t j = 0; j < different.size(); ++j) {
      EXPECT_EQ(Parsed(different[i]) == Parsed(different[j]), i == j) << different[i] << " " << different[j];
    }
  }
}

// tidy: long function because it is a table
TEST(ConditionTest, WhatIsWrongIsSaidWithItsPosition) {
  struct Case {
    std::string text;
    std::string why;
    size_t position;
  };
  const std::vector<Case> cases = {
      {"", "a path, a literal or size() was expected", 0},
      {"   ", "a path, a literal or size() was expected", 3},
      {"a", "between or in was expected", 1},
      {"a ~ 1", "between or in was expected", 2},
      {"a ! = 1", "between or in was expected", 2},
      {"a =", "a path, a literal or size() was expected", 3},
      {"a == 1", "a path, a literal or size() was expected", 3},
      {"a <> 1", "a path, a literal or size() was expected", 3},
      {"= 1", "a path, a literal or size() was expected", 0},
      {"a = 1 b = 2", "and, or, or the end was expected", 6},
      {"a = 1)", "and, or, or the end was expected", 5},
      {"exists(a) = true", "and, or, or the end was expected", 10},
      {"a = 1.5.x", "and, or, or the end was expected", 7},
      {"(a = 1", "and, or, or a ) was expected", 6},
      {"()", "a path, a literal or size() was expected", 1},
      {"a = 1 and", "a path, a literal or size() was expected", 9},
      {"a = 1 and or b = 2", "as a name this word stands in backquotes", 10},
      {"not", "a path, a literal or size() was expected", 3},
      {"and = 1", "as a name this word stands in backquotes", 0},
      {"a = between", "as a name this word stands in backquotes", 4},
      {"exists(In)", "as a name this word stands in backquotes", 7},
      {"exists(null)", "as a name this word stands in backquotes", 7},
      {"exists()", "a name was expected", 7},
      {"exists(1)", "a name was expected", 7},
      {"exists(a", "a ) was expected", 8},
      {"exists(a, b)", "a ) was expected", 8},
      {"begins_with(a)", "a comma was expected", 13},
      {"begins_with(a, \"b\"", "a ) was expected", 18},
      {"contains(a b)", "a comma was expected", 11},
      {"type(a)", "a comma was expected", 6},
      {"type(a, number)", "\"binary_set\" was expected", 8},
      {"type(a, \"integer\")", "\"binary_set\" was expected", 8},
      {"type(a, \"number)", "the text ends too early", 16},
      {"foo(a)", "the functions are exists", 0},
      {"a = 1 and foo (a)", "the functions are exists", 10},
      {"a = exists(b)", "only size is an operand", 4},
      {"size(a)", "between or in was expected", 7},
      {"size(1) = 1", "a name was expected", 5},
      {"size(a, b) = 1", "a ) was expected", 6},
      {"a between 1", "the and of between was expected", 11},
      {"a between 1 or 2", "the and of between was expected", 12},
      {"a in 1", "a ( was expected", 5},
      {"a in ()", "a path, a literal or size() was expected", 6},
      {"a in (1", "a comma or a ) was expected", 7},
      {"a in (1,)", "a path, a literal or size() was expected", 8},
      {"a. = 1", "a name was expected", 2},
      {"a[x] = 1", "an index was expected", 2},
      {"b = 1 and a[*] = 1", "[*] has no meaning here", 11},
      {"`a = 1", "a backquote that is not closed", 0},
      {"a = \"x", "the text ends too early", 6},
      {"a = 'x'", "a path, a literal or size() was expected", 4},
      {"a = \"\\x\"", "there is no such escape", 5},
      {"a = {\"x\": }", "a value was expected", 10},
      {"a = [1,", "the text ends too early", 7},
      {"a = -", "the text ends too early", 5},
      {"a = -x", "a digit was expected", 5},
      {"a = 01", "begins with a zero", 4},
      {"a = 1E126", Decimal::kTooLarge, 4},
      {"a = {\"$set\": []}", "a set has elements, and none twice", 13},
      {"a = {\"x\": 1, \"x\": 2}", "twice", 13},
      {"a = \"\xff\"", "not UTF-8", 5},
      {"\xff = 1", "a path, a literal or size() was expected", 0},
      {std::string("a = 1\0", 6), "and, or, or the end was expected", 5},
      // With these literals nothing could hold.
      {"b = 1 and a < [1]", "only numbers, texts and binaries have an order", 10},
      {"null >= a", "only numbers, texts and binaries have an order", 0},
      {"a > true", "only numbers, texts and binaries have an order", 0},
      {"a <= {\"$set\": [1]}", "only numbers, texts and binaries have an order", 0},
      {"a between null and 1", "only numbers, texts and binaries have an order", 0},
      {"a between 2 and 1", "the lower first", 0},
      {"a between 1 and \"x\"", "the bounds of between are of one kind", 0},
      {"begins_with(a, 1)", "begins_with is about texts and binaries", 0},
      {"begins_with(a, size(b))", "begins_with is about texts and binaries", 0},
      {"contains(1, a)", "contains looks into texts, binaries, lists and sets", 0},
      {"contains({}, a)", "contains looks into texts, binaries, lists and sets", 0},
      {"contains(size(a), 1)", "contains looks into texts, binaries, lists and sets", 0},
  };
  for (const Case& one : cases) {
    const Result<Condition> condition = Condition::Parse(one.text);
    ASSERT_FALSE(condition.has_value()) << one.text;
    EXPECT_EQ(condition.error().code(), ErrorCode::kInvalidArgument) << one.text;
    EXPECT_THAT(std::string(condition.error().text()), testing::HasSubstr(one.why)) << one.text;
    EXPECT_EQ(condition.error().field("position"), std::to_string(one.position)) << one.text;
  }
}

TEST(ConditionTest, BoundsAreKept) {
  const auto nested = [](size_t depth, std::string_view open, std::string_view close) {
    return Repeated(open, depth) + "a = 1" + Repeated(close, depth);
  };
  EXPECT_EQ(ErrorOf(nested(32, "(", ")")), "fine");
  EXPECT_EQ(ErrorOf(nested(32, "not ", "")), "fine");
  EXPECT_EQ(ErrorOf(nested(16, "not (b = 1 or ", ")")), "fine");
  EXPECT_EQ(ErrorOf(nested(32, "b = 1 and (c = 1 or ", ")")), "fine");
  const std::string too_deep = "too_large: the condition is too deep (limit=max_condition_depth, at_most=32)";
  EXPECT_EQ(ErrorOf(nested(33, "(", ")")), too_deep);
  EXPECT_EQ(ErrorOf(nested(33, "not ", "")), too_deep);
  EXPECT_EQ(ErrorOf(nested(17, "not (b = 1 or ", ")")), too_deep);
  EXPECT_EQ(ErrorOf(nested(33, "b = 1 and (c = 1 or ", ")")), too_deep);
  EXPECT_EQ(ErrorOf(std::string(4'000, '(')), too_deep);

  EXPECT_EQ(ErrorOf("a=1" + Repeated(" or a=1", 149)), "fine");
  EXPECT_EQ(ErrorOf("a=1" + Repeated(" or a=1", 150)),
            "too_large: the condition has too many operators (limit=max_condition_operators, at_most=300)");
  EXPECT_EQ(ErrorOf("a in (1" + Repeated(",1", 99) + ")"), "fine");
  EXPECT_EQ(ErrorOf("a in (1" + Repeated(",1", 100) + ")"),
            "too_large: in has too many operands (limit=max_condition_in, at_most=100)");

  const std::string too_long = "too_large: the condition is too long (limit=max_condition_bytes, at_most=4096)";
  EXPECT_EQ(ErrorOf("a = \"" + std::string(4'090, 'x') + "\""), "fine");
  EXPECT_EQ(ErrorOf("a = \"" + std::string(4'091, 'x') + "\""), too_long);
  // Its canonical text would be.
  EXPECT_EQ(ErrorOf("a=\"" + std::string(4'092, 'x') + "\""), too_long);
  EXPECT_EQ(ErrorOf(std::string(10'000'000, '(')), too_long);
  EXPECT_EQ(ErrorOf("a = " + nested(64, "[", "]").replace(64, 5, "")), "fine");
  EXPECT_THAT(ErrorOf("a = " + Repeated("[", 65) + Repeated("]", 65)), testing::HasSubstr("at most 64 levels"));
}

TEST(ConditionTest, OtherSyntaxesBuildTheSameTree) {
  const auto value = [](std::string_view path) { return Operand::Value(Path(path)); };
  const auto literal = [](std::string_view json) { return Operand::Literal(Doc(json)); };
  const Condition less = *Condition::Of(Kind::kLess, {Operand::Size(Path("a")), literal("3")});
  const Condition in = *Condition::Of(Kind::kIn, {value("b"), literal("1"), value("c")});
  const Condition either = *Condition::Or({less, in});
  const Condition all = *Condition::And(
      {either, *Condition::Not(Condition::Exists(Path("d"))),
       *Condition::And({Condition::Missing(Path("e")), Condition::HasType(Path("f"), DocumentKind::kMap)})});
  EXPECT_EQ(all, Parsed("(size(a) < 3 or b in (1, c)) and not exists(d) and missing(e) and type(f, \"map\")"));
  EXPECT_EQ(all.node().kind, Kind::kAnd);
  EXPECT_EQ(all.node().parts.size(), 4u);
  EXPECT_EQ(*Condition::And({less}), less);

  const auto why = [](const Result<Condition>& condition) {
    return condition.has_value() ? "" : std::string(condition.error().text());
  };
  EXPECT_EQ(why(Condition::And({})), "the wrong number of operands");
  EXPECT_EQ(why(Condition::Of(Kind::kEqual, {value("a")})), "the wrong number of operands");
  EXPECT_EQ(why(Condition::Of(Kind::kBetween, {value("a"), value("b")})), "the wrong number of operands");
  EXPECT_EQ(why(Condition::Of(Kind::kIn, {value("a")})), "the wrong number of operands");
  EXPECT_EQ(why(Condition::Of(Kind::kExists, {value("a"), value("b")})), "the wrong number of operands");
  Condition deep = less;
  for (int i = 0; i < 32; ++i) deep = *Condition::Not(deep);
  EXPECT_EQ(why(Condition::Not(deep)), "the condition is too deep");
}

TEST(ConditionTest, ThePathsItLooksAtAreCollectedOnce) {
  std::vector<DocumentPath> paths = {Path("there")};
  Parsed("a = b.c and (size(d[0]) > 1 or not a = 3) and exists(e) and there in (1, f) and type(a, \"map\")")
      .CollectPaths(&paths);
  EXPECT_THAT(paths,
              testing::UnorderedElementsAre(Path("there"), Path("a"), Path("b.c"), Path("d[0]"), Path("e"), Path("f")));
  std::vector<DocumentPath> none;
  Parsed("1 = 1").CollectPaths(&none);
  EXPECT_TRUE(none.empty());
}

// Of the allocator, where it is linked: how much the thread has allocated.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* new_value, size_t new_size)
    __attribute__((weak));

TEST(ConditionTest, EvaluationAllocatesNothing) {
  if (mallctl == nullptr) GTEST_SKIP() << "without jemalloc nobody counts";
  const auto allocated = [] {
    uint64_t bytes = 0;
    size_t size = sizeof(bytes);
    EXPECT_EQ(mallctl("thread.allocated", &bytes, &size, nullptr, 0), 0);
    return bytes;
  };
  const Bytes bytes = Doc(kDocument);
  const Condition condition = Parsed(
      "big = 12345678901234567890123456789012345678 and one < 2.5 and size(map) = 2 and list = list and "
      R"(map.y.z >= "deep" and one in (0, "x", 1) and one between 0 and 1 and contains(list, [2, 3]) and )"
      R"(contains(cat, "at") and begins_with(bin, bin) and type(texts, "text_set") and not missing(list[3]))");
  const uint64_t before = allocated();
  const bool holds = condition.Holds(DocumentView(bytes));
  EXPECT_EQ(allocated(), before);
  EXPECT_TRUE(holds);
  const Bytes something(100, 'x');
  EXPECT_GT(allocated(), before);
}

// Where a search that begins anew at each place would take minutes.
TEST(ConditionTest, HostileDocumentsTakeNoLongerThanOthers) {
  const std::string text(4'000'000, 'a');
  Bytes bytes;
  DocumentWriter writer(&bytes);
  writer.BeginMap().Name("text").Text(text).Name("wide").BeginMap();
  for (int i = 0; i < 10'000; ++i) writer.Name("field" + std::to_string(i)).Int(i);
  writer.EndMap().Name("long").BeginList();
  for (int i = 0; i < 10'000; ++i) writer.Int(i);
  writer.EndList().Name("lists").BeginList();
  for (int i = 0; i < 10'000; ++i) writer.BeginList().Int(i).EndList();
  writer.EndList().EndMap();
  const DocumentView document(bytes);
  EXPECT_FALSE(
      Parsed("contains(text, \"" + std::string(2'000, 'a') + "b" + std::string(2'000, 'a') + "\")").Holds(document));
  EXPECT_FALSE(
      Parsed("contains(text, \"" + std::string(100, 'a') + "b" + std::string(100, 'a') + "\")").Holds(document));
  EXPECT_TRUE(Parsed("wide.field9999 = 9999 and long[9999] = 9999").Holds(document));
  EXPECT_FALSE(Parsed("contains(lists, long)").Holds(document));
  EXPECT_FALSE(Parsed("exists(wide.x)" + Repeated(" or wide.field9998 = 9", 149)).Holds(document));
}

std::string AnyConditionText(int depth);

std::string AnyPathText() {
  return *rc::gen::element<std::string>("a", "b", "c", "a.b", "a[0]", "b[1].a", "`x y`", "``", "`and`", "aa", "size");
}

std::string AnyOperandText() {
  switch (AnyBelow(4)) {
    case 0:
      return AnyJson(1);
    case 1:
      return "size(" + AnyPathText() + ")";
    default:
      return AnyPathText();
  }
}

std::string AnyConditionText(int depth) {
  switch (AnyBelow(depth > 0 ? 12 : 7)) {
    case 0:
      return "exists(" + AnyPathText() + ")";
    case 1:
      return "missing(" + AnyPathText() + ")";
    case 2:
      return AnyOperandText() + " between " + AnyOperandText() + " and " + AnyOperandText();
    case 3:
      return AnyOperandText() + " in (" + AnyOperandText() + ", " + AnyOperandText() + ")";
    case 4:
      return *rc::gen::element<std::string>("begins_with(", "contains(") + AnyOperandText() + "," + AnyOperandText() +
             ")";
    case 5:
    case 6:
      return AnyOperandText() + *rc::gen::element<std::string>("=", "!=", "<", "<=", ">", ">=") + AnyOperandText();
    case 7:
      return "not " + AnyConditionText(depth - 1);
    case 8:
    case 9:
      return AnyConditionText(depth - 1) + " and " + AnyConditionText(depth - 1);
    case 10:
      return AnyConditionText(depth - 1) + " or " + AnyConditionText(depth - 1);
    default:
      return "(" + AnyConditionText(depth - 1) + ")";
  }
}

RC_GTEST_PROP(ConditionPropertyTest, WhatIsParsedPrintsAndParsesBackAndHoldsOfTheSameDocuments, ()) {
  const Result<Condition> condition = Condition::Parse(AnyConditionText(3));
  if (!condition.has_value()) {
    // A literal with which nothing could hold.
    RC_ASSERT(condition.error().code() == ErrorCode::kInvalidArgument);
    return;
  }
  const Result<Condition> again = Condition::Parse(condition->ToString());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *condition);
  RC_ASSERT(again->ToString() == condition->ToString());
  const Bytes document = Doc(AnyJson(3));
  RC_ASSERT(again->Holds(DocumentView(document)) == condition->Holds(DocumentView(document)));
  RC_ASSERT(Condition::Not(*condition)->Holds(DocumentView(document)) != condition->Holds(DocumentView(document)));
}

}  // namespace
}  // namespace kvarts
