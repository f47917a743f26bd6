// What each keyword accepts and what not, a table for each family of them.
#include "document/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "encoding/document_json.h"

namespace kvarts {
namespace {

struct Case {
  std::string_view schema;
  std::vector<std::string_view> valid;
  std::vector<std::string_view> invalid;
  std::string_view keyword = "";  // that the invalid ones offend against, if it is always the same
};

void Hold(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const Result<DocumentSchema> schema = DocumentSchema::Parse(one.schema);
    ASSERT_TRUE(schema.has_value()) << one.schema << ": " << schema.error();
    const auto check = [&](std::string_view json) {
      const Result<Bytes> document = DocumentFromJson(json);
      EXPECT_TRUE(document.has_value()) << json << ": " << document.error();
      return schema->Check(DocumentView(*document));
    };
    for (const std::string_view json : one.valid) {
      const Status status = check(json);
      EXPECT_TRUE(status.has_value()) << one.schema << " " << json << ": " << status.error();
    }
    for (const std::string_view json : one.invalid) {
      const Status status = check(json);
      ASSERT_FALSE(status.has_value()) << one.schema << " " << json;
      EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument) << status.error();
      const std::string_view keyword = status.error().field("keyword");
      EXPECT_EQ(keyword, one.keyword.empty() ? keyword : one.keyword) << one.schema << " " << json;
      EXPECT_NE(status.error().field("expected"), "") << one.schema << " " << json;
    }
  }
}

TEST(SchemaTest, BooleansAreSchemas) {
  Hold({{"true", {"null", "1", "{}"}, {}},
        {"{}", {"null", "1", "{}", R"({"$set":[1]})"}, {}},
        {"false", {}, {"null", "1", "{}"}, "false"}});
}

TEST(SchemaTest, Types) {
  const std::vector<std::string_view> one_of_each = {
      "null", "true", "1", "1.5", R"("a")", "[]", "{}", R"({"$binary":""})", R"({"$set":["a"]})"};
  const auto without = [&](std::vector<size_t> indices) {
    std::vector<std::string_view> rest;
    for (size_t i = 0; i < one_of_each.size(); ++i) {
      if (std::ranges::find(indices, i) == indices.end()) rest.push_back(one_of_each[i]);
    }
    return rest;
  };
  Hold({{R"({"type":"null"})", {"null"}, without({0}), "type"},
        {R"({"type":"boolean"})", {"true", "false"}, without({1}), "type"},
        {R"({"type":"integer"})", {"1", "1.0", "-3", "1E+30", "0", "12345678901234567890123"}, without({2}), "type"},
        {R"({"type":"number"})", {"1", "1.5", "1E-9"}, without({2, 3}), "type"},
        {R"({"type":"string"})", {R"("a")", R"("")"}, without({4}), "type"},
        {R"({"type":"array"})", {"[]", "[1]"}, without({5}), "type"},
        {R"({"type":"object"})", {"{}", R"({"a":1})"}, without({6}), "type"},
        {R"({"type":"binary"})", {R"({"$binary":"AAEC"})"}, without({7}), "type"},
        {R"({"type":"set"})", {R"({"$set":[1]})", R"({"$set":[{"$binary":""}]})"}, without({8}), "type"},
        {R"({"type":["string","null"]})", {R"("a")", "null"}, without({0, 4}), "type"},
        {R"({"type":["integer","number"]})", {"1", "1.5"}, without({2, 3}), "type"},
        {R"({"type":["null","boolean","number","string","array","object","binary","set"]})", one_of_each, {}}});
}

TEST(SchemaTest, ConstAndEnum) {
  Hold({{R"({"const":1})", {"1", "1.0", "1e0", R"({"$number":"1.00"})"}, {"2", R"("1")", "true", "[1]"}, "const"},
        {R"({"const":null})", {"null"}, {"0", "false", R"("")"}, "const"},
        {R"({"const":{"a":[1,2],"b":null}})",
         {R"({"b":null,"a":[1.0,2]})"},
         {R"({"a":[2,1],"b":null})", R"({"a":[1,2]})", R"({"a":[1,2],"b":null,"c":1})", "[1,2]"},
         "const"},
        {R"({"const":{"$set":["b","a"]}})", {R"({"$set":["a","b"]})"}, {R"(["a","b"])", R"({"$set":["a"]})"}, "const"},
        {R"({"const":{"$binary":"AAE="}})", {R"({"$binary":"AAE="})"}, {R"("AAE=")", R"({"$binary":"AA=="})"}, "const"},
        {R"({"const":{"$map":{"$set":1}}})", {R"({"$map":{"$set":1}})"}, {"1", "{}"}, "const"},
        // Neither is a beginning of the other, as bytes.
        {R"({"const":[1]})", {"[1]"}, {"[1,1]", "[]", "[[1]]"}, "const"},
        {R"({"const":"a"})", {R"("a")"}, {R"("ab")", R"("")"}, "const"},
        {R"({"enum":["red","green",3,null,[],{"a":1},"red"]})",
         {R"("red")", R"("green")", "3", "3.0", "null", "[]", R"({"a":1})"},
         {R"("re")", R"("redd")", "4", "0", "false", "[0]", "{}", R"({"a":2})", R"({"a":1,"b":1})"},
         "enum"},
        {R"({"enum":[false]})", {"false"}, {"0", "true", "null"}, "enum"}});
  // Many, each of which is found, and none between them.
  std::string numbers;
  for (int i = 0; i < 3000; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(i * 7 % 3000 * 2);
  const Result<DocumentSchema> schema = DocumentSchema::Parse(R"({"enum":[)" + numbers + "]}");
  ASSERT_TRUE(schema.has_value()) << schema.error();
  for (int i = -1; i < 6000; ++i) {
    const Bytes document = *DocumentFromJson(std::to_string(i));
    EXPECT_EQ(schema->Check(DocumentView(document)).has_value(), i % 2 == 0) << i;
  }
}

TEST(SchemaTest, Numbers) {
  Hold({{R"({"minimum":1.5})", {"1.5", "2", "1E+100", R"("a")", "null"}, {"1.4999", "0", "-1E+100"}, "minimum"},
        {R"({"maximum":-2})", {"-2", "-2.0", "-3"}, {"-1.999999999999999999999999", "0"}, "maximum"},
        {R"({"exclusiveMinimum":0})", {"1E-130", "1"}, {"0", "0.0", "-1"}, "exclusiveMinimum"},
        {R"({"exclusiveMaximum":100})", {"99.99999999999999999999"}, {"100", "1e2", "101"}, "exclusiveMaximum"},
        {R"({"minimum":9007199254740993})", {"9007199254740993"}, {"9007199254740992"}, "minimum"},
        {R"({"multipleOf":0.01})", {"0", "19.99", "-0.07", "4.35", "1E+30", "[]"}, {"19.999", "0.001"}, "multipleOf"},
        {R"({"multipleOf":2})", {"0", "4", "-4", "4.0", "1E+125"}, {"3", "4.1"}, "multipleOf"},
        {R"({"multipleOf":0.0001})", {"0.0075"}, {"0.00751"}, "multipleOf"},
        {R"({"multipleOf":1.5})", {"0", "4.5", "-3"}, {"1", "35"}, "multipleOf"},
        {R"({"multipleOf":1E-130})", {"9.9E+125", "1"}, {}, "multipleOf"},
        {R"({"multipleOf":3E-130})", {"9E+125", "6E-130"}, {"1E+125", "1E-130"}, "multipleOf"},
        {R"({"multipleOf":10})", {"20"}, {"5", "25"}, "multipleOf"},
        {R"({"minimum":1,"maximum":3})", {"1", "2", "3"}, {"0", "4"}}});
}

TEST(SchemaTest, Texts) {
  Hold({{R"({"minLength":2})", {R"("ab")", R"("äö")", R"("🜚🜛")", "1"}, {R"("a")", R"("ä")", R"("🜚")"}, "minLength"},
        {R"({"maxLength":2})",
         {R"("")", R"("äö")", R"("🜚🜛")", "null", "[1,2,3]"},
         {R"("abc")", R"("äöü")"},
         "maxLength"},
        {R"({"maxLength":2.0})", {R"("ab")"}, {R"("abc")"}, "maxLength"},
        {R"({"minLength":1,"maxLength":2})", {R"({"$binary":"AA=="})"}, {R"({"$binary":""})", R"({"$binary":"AAEC"})"}},
        {R"({"pattern":"b+c"})", {R"("abbcd")", R"("bc")", "12", R"({"$binary":""})"}, {R"("b")", R"("")"}, "pattern"},
        {R"({"pattern":"^\\p{Lu}$"})", {R"("Ä")"}, {R"("ä")", R"("ÄÄ")"}, "pattern"},
        {R"({"format":"date"})", {R"("2026-07-05")", "20260705"}, {R"("2026-02-30")", R"("")"}, "format"},
        {R"({"format":"ipv4"})", {R"("127.0.0.1")"}, {R"("256.0.0.1")"}, "format"}});
}

TEST(SchemaTest, ListsAndSets) {
  Hold({{R"({"items":{"type":"integer"}})", {"[]", "[1,2]", R"({"$set":[1,2]})", "{}"}, {R"([1,"a"])"}, "type"},
        {R"({"items":{"type":"integer"}})", {}, {R"({"$set":[1,2.5]})", R"({"$set":["a"]})"}, "type"},
        {R"({"items":false})", {"[]", "1"}, {"[1]", R"({"$set":[1]})"}, "items"},
        {R"({"items":true})", {"[1]"}, {}},
        {R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})",
         {"[]", "[1]", R"([1,"a"])", R"([1,"a",null])", R"({"$set":["a"]})"},
         {R"(["a"])", "[1,2]"},
         "type"},
        {R"({"prefixItems":[{"type":"integer"}],"items":{"type":"string"}})",
         {"[]", "[1]", R"([1,"a","b"])", R"({"$set":["a"]})"},
         {"[1,2]", R"([1,"a",2])", R"(["a"])", R"({"$set":[1]})"},
         "type"},
        {R"({"prefixItems":[true],"items":false})", {"[]", "[1]"}, {"[1,2]"}, "items"},
        {R"({"minItems":2})",
         {"[1,2]", R"({"$set":[1,2]})", R"("a")", "{}"},
         {"[]", "[1]", R"({"$set":[1]})"},
         "minItems"},
        {R"({"maxItems":1})", {"[]", "[1]", R"({"$set":[1]})"}, {"[1,2]", R"({"$set":[1,2]})"}, "maxItems"},
        {R"({"maxItems":0})", {"[]"}, {"[null]"}, "maxItems"},
        {R"({"uniqueItems":true})",
         {"[]", "[1,2]", R"([1,"1",true,[1],{"a":1}])", R"([{"a":1,"b":2},{"a":1}])", R"({"$set":[1,2]})", "1"},
         {"[1,1.0]", "[null,1,null]", R"([{"a":1,"b":2},{"b":2,"a":1}])", "[[1],[2],[1]]", R"(["a","b","a"])"},
         "uniqueItems"},
        {R"({"uniqueItems":false})", {"[1,1]"}, {}},
        {R"({"contains":{"const":1}})",
         {"[1]", "[2,1]", R"({"$set":[1,2]})", "{}"},
         {"[]", "[2]", R"({"$set":[2]})"},
         "contains"},
        {R"({"contains":true})", {"[1]"}, {"[]"}, "contains"},
        {R"({"contains":false})", {"1"}, {"[]", "[1]"}, "contains"},
        {R"({"contains":{"const":1},"minContains":2})", {"[1,2,1]", "[1,1,1]"}, {"[]", "[1,2]"}, "minContains"},
        {R"({"contains":{"const":1},"minContains":0})", {"[]", "[2]", "[1]"}, {}},
        {R"({"contains":{"const":1},"maxContains":1})", {"[1]", "[1,2]"}, {"[1,1]"}, "maxContains"},
        {R"({"contains":{"const":1},"maxContains":1})", {}, {"[]", "[2]"}, "contains"},
        {R"({"contains":{"const":1},"minContains":0,"maxContains":1})", {"[]", "[1]"}, {"[1,1]"}, "maxContains"},
        {R"({"contains":{"const":1},"minContains":2,"maxContains":3})", {"[1,1]", "[1,1,1]"}, {"[1]", "[1,1,1,1]"}},
        {R"({"minContains":2,"maxContains":0})", {"[]", "[1]"}, {}}});
}

TEST(SchemaTest, Maps) {
  Hold(
      {{R"({"properties":{"a":{"type":"integer"},"bb":{"type":"string"},"":{"type":"null"}}})",
        {"{}", R"({"a":1})", R"({"a":1,"bb":"x","":null,"c":[]})", "[]", "1"},
        {R"({"a":"x"})", R"({"a":1,"bb":2})", R"({"":1})"},
        "type"},
       {R"({"properties":{"a":false}})", {"{}", R"({"b":1})"}, {R"({"a":1})"}, "properties"},
       {R"({"properties":{"a":true},"additionalProperties":false})",
        {"{}", R"({"a":1})"},
        {R"({"b":1})"},
        "additionalProperties"},
       {R"({"additionalProperties":{"type":"integer"}})", {"{}", R"({"a":1,"b":2})"}, {R"({"a":1,"b":"x"})"}, "type"},
       {R"({"additionalProperties":true})", {R"({"a":1})"}, {}},
       {R"({"patternProperties":{"^n_":{"type":"number"},"_id$":{"minimum":0}}})",
        {"{}", R"({"n_a":1,"b_id":"x","other":[]})", R"({"n_id":1})"},
        {R"({"n_a":"x"})", R"({"n_id":-1})", R"({"x_id":-1})"}},
       {R"({"properties":{"n_a":{"minimum":5}},"patternProperties":{"^n_":{"maximum":9}},"additionalProperties":false})",
        {R"({"n_a":7,"n_b":1})"},
        {R"({"n_a":1})", R"({"n_a":10})", R"({"x":1})"}},
       {R"({"required":["a","bb"]})",
        {R"({"a":1,"bb":2,"c":3})", "[]", "1"},
        {"{}", R"({"a":1})", R"({"bb":1})"},
        "required"},
       {R"({"required":[]})", {"{}"}, {}},
       {R"({"required":[""]})", {R"({"":1})"}, {R"({"a":1})"}, "required"},
       {R"({"minProperties":1})", {R"({"a":1})", "[]", R"({"$set":[1]})"}, {"{}"}, "minProperties"},
       {R"({"maxProperties":1})", {R"({"a":1})", "{}", "[1,2]"}, {R"({"a":1,"b":2})"}, "maxProperties"},
       {R"({"propertyNames":{"maxLength":2,"pattern":"^[a-z]*$"}})",
        {"{}", R"({"ab":1,"":2})", R"([1])"},
        {R"({"abc":1})", R"({"A":1})", R"({"a":1,"b":2,"C":3})"},
        "propertyNames"},
       {R"({"propertyNames":false})", {"{}"}, {R"({"a":1})"}, "propertyNames"},
       {R"({"propertyNames":{"enum":["a","bb"]}})", {R"({"a":1,"bb":2})"}, {R"({"b":1})"}, "propertyNames"},
       {R"({"dependentRequired":{"card":["address","name"],"z":["y"]}})",
        {"{}", R"({"address":1})", R"({"card":1,"address":2,"name":3})", R"({"z":1,"y":1})"},
        {R"({"card":1})", R"({"card":1,"address":2})", R"({"card":1,"name":2})", R"({"z":1})"},
        "dependentRequired"},
       {R"({"dependentRequired":{"a":[]}})", {R"({"a":1})"}, {}},
       {R"({"dependentSchemas":{"a":{"required":["b"]},"c":{"maxProperties":1}}})",
        {"{}", R"({"a":1,"b":2})", R"({"c":1})", R"({"x":1,"y":1})"},
        {R"({"a":1})", R"({"c":1,"d":2})"}},
       {R"({"dependentSchemas":{"a":false}})", {"{}", "1"}, {R"({"a":1})"}, "dependentSchemas"}});
}

TEST(SchemaTest, SchemasTogether) {
  Hold({{R"({"allOf":[{"minimum":1},{"maximum":3}]})", {"1", "3", R"("a")"}, {"0", "4"}},
        {R"({"allOf":[true,false]})", {}, {"1"}, "allOf"},
        {R"({"anyOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5", "3", R"("a")"}, {"1.5"}, "anyOf"},
        {R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5", R"("a")"}, {"3", "1.5"}, "oneOf"},
        {R"({"oneOf":[true,true]})", {}, {"1"}, "oneOf"},
        {R"({"not":{"type":"integer"}})", {"1.5", R"("a")"}, {"1"}, "not"},
        {R"({"not":{"not":{"type":"integer"}}})", {"1"}, {"1.5"}, "not"},
        {R"({"not":{}})", {}, {"1", "null"}, "not"},
        {R"({"if":{"type":"integer"},"then":{"minimum":0},"else":{"type":"string"}})",
         {"1", R"("a")"},
         {"-1", "1.5", "null"}},
        {R"({"if":{"type":"integer"},"then":{"minimum":0}})", {"1", "null"}, {"-1"}, "minimum"},
        {R"({"if":{"type":"integer"},"else":{"type":"null"}})", {"-1", "null"}, {R"("a")"}, "type"},
        {R"({"if":false})", {"1"}, {}},
        {R"({"then":false,"else":false})", {"1"}, {}},
        {R"({"if":true,"then":false})", {}, {"1"}, "then"}});
}

TEST(SchemaTest, RefsLeadToAnyPlace) {
  Hold({{R"({"$defs":{"id":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/id"}}})",
         {R"({"a":1})"},
         {R"({"a":"x"})"},
         "type"},
        {R"({"properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a"}}})",
         {R"({"b":1})"},
         {R"({"b":"x"})"},
         "type"},
        {R"({"prefixItems":[{"type":"integer"},{"$ref":"#/prefixItems/0"}]})", {"[1,2]"}, {R"([1,"a"])"}, "type"},
        {R"({"$defs":{"a/b~c":{"type":"null"},"%":{"type":"null"},"":{"type":"null"}},"prefixItems":[
            {"$ref":"#/$defs/a~1b~0c"},{"$ref":"#/$defs/%25"},{"$ref":"#/$defs/"}]})",
         {"[null,null,null]"},
         {"[1]", "[null,1]", "[null,null,1]"},
         "type"},
        // What stands beside a $ref holds, too.
        {R"({"$defs":{"n":{"minimum":1}},"$ref":"#/$defs/n","maximum":3})", {"1", "3"}, {"0", "4"}},
        // A name that is that of a keyword.
        {R"({"properties":{"properties":{"items":{"type":"null"}},"items":{"$ref":"#/properties/properties/items"}}})",
         {R"({"items":null})"},
         {R"({"items":1})"},
         "type"},
        {R"({"items":{"$ref":"#/if"},"if":{"type":"null"}})", {"[null]"}, {"[1]"}, "type"}});
}

TEST(SchemaTest, RecursionGoesAsDeepAsTheDocument) {
  constexpr std::string_view kTree =
      R"({"type":"object","required":["v"],"additionalProperties":false,
          "properties":{"v":{"type":"integer"},"next":{"anyOf":[{"type":"null"},{"$ref":"#"}]},
                        "kids":{"type":"array","items":{"$ref":"#"}}}})";
  std::string good = R"({"v":1})";
  std::string bad = R"({"w":1})";
  for (size_t i = 1; i < kMaxDocumentDepth; ++i) {
    good = R"({"v":1,"next":)" + good + "}";
    bad = R"({"v":1,"next":)" + bad + "}";
  }
  Hold({{kTree,
         {R"({"v":1,"next":null,"kids":[{"v":2},{"v":3,"kids":[{"v":4}]}]})", good},
         {R"({"v":1,"kids":[{"v":2},{"kids":[]}]})", R"({"v":1,"kids":[{"v":2,"kids":[{"v":"x"}]}]})", bad, "1"}}});
}

TEST(SchemaTest, AnnotationsSayNothing) {
  Hold({{R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.org/s","title":"t",
            "description":"d","default":{"a":1e999},"examples":[1],"deprecated":true,"readOnly":true,"writeOnly":true,
            "$comment":"c","x-mine":{"type":1},"properties":{"title":{"title":"x","type":"string"}}})",
         {"1", R"({"title":"x"})"},
         {R"({"title":1})"}}});
}

TEST(SchemaTest, EqualityIsThatOfTheTextWithoutSpace) {
  const DocumentSchema schema = *DocumentSchema::Parse(" { \"type\" : [ \"null\" ] }\n");
  EXPECT_EQ(schema.text(), R"({"type":["null"]})");
  const DocumentSchema copy = schema;  // NOLINT: that it can be copied
  EXPECT_EQ(copy, schema);
  EXPECT_EQ(*DocumentSchema::Parse(schema.text()), schema);
  EXPECT_FALSE(*DocumentSchema::Parse(R"({"type":"null"})") == schema);
}

}  // namespace
}  // namespace kvarts
