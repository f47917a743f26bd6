// What is refused as a schema, with its place, and how large one may be.
#include "document/schema_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "document/schema.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

using testing::HasSubstr;

std::string RefusalOf(std::string_view json) {
  const Result<DocumentSchema> schema = DocumentSchema::Parse(json);
  return schema.has_value() ? "fine" : schema.error().ToString();
}

// As RefusalOf says it, of errors that have these two fields.
std::string Refused(std::string_view why, std::string_view keyword, std::string_view path) {
  return "invalid_argument: " + std::string(why) + " (keyword=" + std::string(keyword) +
         ", schema_path=" + std::string(path) + ")";
}

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(SchemaParserTest, WhatIsNoJsonIsRefusedByTheReader) {
  for (const char* text : {"", "{", "{\"type\"", "{\"type\":}", "{\"type\":\"null\"} x", "{\"a\" 1}", "\xff",
                           "{\"items\":}", "{\"allOf\":[{},]}", "{\"minimum\":01}", "{\"enum\":[1"}) {
    EXPECT_THAT(RefusalOf(text), HasSubstr("position=")) << text;
  }
  EXPECT_THAT(RefusalOf(R"({"type":"null","type":"null"})"), HasSubstr("twice"));
  EXPECT_THAT(RefusalOf(R"({"properties":{"a":{},"a":{}}})"), HasSubstr("twice"));
}

TEST(SchemaParserTest, ASchemaIsAnObjectOrABoolean) {
  for (const char* text : {"1", "null", "[]", "\"a\""}) {
    EXPECT_EQ(RefusalOf(text), "invalid_argument: a schema is an object, true or false (schema_path=)");
  }
  EXPECT_EQ(RefusalOf(R"({"properties":{"a/b":{"items":[{}]}}})"),
            "invalid_argument: a schema is an object, true or false (schema_path=/properties/a~1b/items)");
  EXPECT_EQ(RefusalOf(R"({"anyOf":[true,null]})"),
            "invalid_argument: a schema is an object, true or false (schema_path=/anyOf/1)");
}

TEST(SchemaParserTest, KeywordsThatWouldChangeWhatIsValidAreRefused) {
  constexpr const char* kWhy = "the schema has a keyword that is not supported";
  for (const std::string keyword : {"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$dynamicAnchor",
                                    "$anchor", "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema",
                                    "definitions", "dependencies", "additionalItems", "nullable", "Type", "", "/~"}) {
    const Result<DocumentSchema> schema = DocumentSchema::Parse(R"({"items":{")" + keyword + R"(":true}})");
    ASSERT_FALSE(schema.has_value()) << keyword;
    EXPECT_EQ(schema.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(schema.error().text(), kWhy);
    EXPECT_EQ(schema.error().field("keyword"), keyword);
    std::string path = "/items";
    AppendPointerToken(&path, keyword);
    EXPECT_EQ(schema.error().field("schema_path"), path);
  }
  EXPECT_EQ(RefusalOf(R"({"propertys":{}})"),
            "invalid_argument: the schema has a keyword that is not supported (keyword=propertys, "
            "schema_path=/propertys, did_you_mean=properties)");
  // Only the whole has these.
  EXPECT_EQ(RefusalOf(R"({"$id":"a","items":{"$id":"b"}})"), Refused(kWhy, "$id", "/items/$id"));
  EXPECT_THAT(RefusalOf(R"({"$defs":{"a":{"$schema":"b"}}})"), HasSubstr("schema_path=/$defs/a/$schema"));
  // Names of fields are no keywords, and what is not used is held to the same.
  EXPECT_EQ(RefusalOf(R"({"properties":{"unevaluatedItems":{}}})"), "fine");
  EXPECT_THAT(RefusalOf(R"({"$defs":{"unused":{"what":1}}})"), HasSubstr("keyword=what"));
  EXPECT_THAT(RefusalOf("{\"" + std::string(60'000, 'x') + "\":1}").size(), testing::Lt(500u));
}

TEST(SchemaParserTest, ValuesOfKeywordsAreHeldToTheirKind) {
  const auto refused = [](std::string_view keyword, std::string_view value, std::string_view why) {
    const std::string json = "{\"not\":{\"" + std::string(keyword) + "\":" + std::string(value) + "}}";
    EXPECT_EQ(RefusalOf(json), Refused(why, keyword, "/not/" + std::string(keyword))) << json;
  };
  for (const char* value : {R"("text")", "1", "[]", "{}", R"(["null",1])", R"(["null","null"])", "null", R"("Null")"}) {
    refused("type", value,
            "a type is null, boolean, integer, number, string, array, object, binary or set, or a list of these, none "
            "twice");
  }
  for (const char* value : {"[]", "1", "{}", "null"})
    refused("enum", value, "an enum is a list of values, one at least");
  refused("enum", R"([1,{"$set":[]}])", "a set has elements, and none twice");
  refused("const", "1E+126", Decimal::kTooLarge);
  refused("const", R"({"$binary":1})", "a text was expected");
  for (const char* keyword : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}) {
    for (const char* value : {"\"1\"", "true", "null", "[1]"}) refused(keyword, value, "a number was expected");
    refused(keyword, "1E-131", Decimal::kTooSmall);
  }
  for (const char* value : {"0", "-1", "0.0"}) refused("multipleOf", value, "multipleOf is more than 0");
  for (const char* keyword : {"minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains",
                              "minProperties", "maxProperties"}) {
    for (const char* value : {"-1", "1.5", "\"1\"", "null", "1E-131"}) {
      refused(keyword, value, "a count is a whole number from 0 on");
    }
    EXPECT_EQ(RefusalOf("{\"" + std::string(keyword) + "\":1E+100}"), "fine");
  }
  refused("pattern", "1", "a regular expression was expected");
  for (const char* value : {"1", R"("regex")", R"("uri-reference")", R"("")"}) {
    refused("format", value, "a format is date-time, date, time, email, uuid, uri, ipv4, ipv6 or hostname");
  }
  for (const char* value : {"1", "\"true\"", "null"}) refused("uniqueItems", value, "true or false was expected");
  for (const char* value : {"1", "\"a\"", "[1]", R"(["a",null])", R"(["a","b","a"])", "{}"}) {
    refused("required", value, "a list of names was expected, none twice");
  }
  refused("dependentRequired", "[]", "an object of lists of names was expected");
  refused("dependentRequired", R"({"a":"b"})", "a list of names was expected, none twice");
  for (const char* keyword : {"allOf", "anyOf", "oneOf", "prefixItems"}) {
    for (const char* value : {"[]", "{}", "true"})
      refused(keyword, value, "a list of schemas was expected, one at least");
  }
  for (const char* keyword : {"properties", "patternProperties", "dependentSchemas", "$defs"}) {
    for (const char* value : {"[]", "true", "\"a\""}) refused(keyword, value, "an object of schemas was expected");
  }
  refused("$ref", "1", "a $ref is a text");
}

TEST(SchemaParserTest, PatternsAreRefusedWithTheReason) {
  EXPECT_EQ(RefusalOf(R"({"items":{"pattern":"a("}})"),
            "invalid_argument: not a regular expression (keyword=pattern, schema_path=/items/pattern, pattern=a(, "
            "why=missing ): a()");
  EXPECT_EQ(RefusalOf(R"({"patternProperties":{"[":true}})"),
            "invalid_argument: not a regular expression (keyword=patternProperties, schema_path=/patternProperties, "
            "pattern=[, why=missing ]: [)");
  EXPECT_EQ(RefusalOf(R"({"pattern":")" + std::string(1025, 'a') + R"("})"),
            "too_large: the regular expression is too long (limit=max_pattern_bytes, at_most=1024, "
            "schema_path=/pattern)");
}

TEST(SchemaParserTest, RefsLeadToSchemasOfTheSameText) {
  const auto refused = [](std::string_view ref, std::string_view why) {
    const std::string json =
        R"({"properties":{"a":{"$ref":")" + std::string(ref) + R"("},"b":{"enum":[{}]}},"$defs":{"x":true}})";
    const Result<DocumentSchema> schema = DocumentSchema::Parse(json);
    ASSERT_FALSE(schema.has_value()) << ref;
    EXPECT_EQ(schema.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(schema.error().text(), why) << ref;
    EXPECT_EQ(schema.error().field("schema_path"), "/properties/a/$ref");
    EXPECT_EQ(schema.error().field("ref"), ref);
  };
  for (const char* ref : {"#/$defs/y", "#/$defs", "#/properties", "#/", "#/$defs/x/type", "#/properties/b/enum/0",
                          "#/properties/a/$ref", "#/$defs/X", "#//", "#/$defs/%ff"}) {
    refused(ref, "a $ref leads to no schema");
  }
  for (const char* ref : {"", "x", "https://example.org/s", "other.json#/$defs/x", "#x", "#/$defs/~2", "#/~", "#/%",
                          "#/%4", "#/%zz", "/$defs/x"}) {
    refused(ref, "a $ref is # or a JSON Pointer behind it, as in #/$defs/name");
  }
}

TEST(SchemaParserTest, CirclesWithoutProgressAreRefused) {
  const auto refused = [](std::string_view json, std::string_view path) {
    EXPECT_EQ(RefusalOf(json), Refused("a $ref leads back to itself without going into the value", "$ref", path));
  };
  refused(R"({"$ref":"#"})", "/$ref");
  refused(R"({"properties":{"a":{"$ref":"#/properties/a"}}})", "/properties/a/$ref");
  refused(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}})", "/$defs/b/allOf/0/$ref");
  // The first one leads there, and is none itself.
  refused(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/b"}}})", "/$defs/b/$ref");
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    const std::string name = keyword;
    refused("{\"" + name + R"(":[true,{"$ref":"#"}]})", "/" + name + "/1/$ref");
  }
  refused(R"({"not":{"$ref":"#"}})", "/not/$ref");
  refused(R"({"if":{"$ref":"#"},"then":true})", "/if/$ref");
  refused(R"({"if":true,"else":{"$ref":"#"}})", "/else/$ref");
  refused(R"({"dependentSchemas":{"a":{"$ref":"#"}}})", "/dependentSchemas/a/$ref");
  for (const char* json :
       {R"({"properties":{"a":{"$ref":"#"}}})", R"({"additionalProperties":{"$ref":"#"}})", R"({"items":{"$ref":"#"}})",
        R"({"prefixItems":[{"$ref":"#"}]})", R"({"contains":{"$ref":"#"}})", R"({"propertyNames":{"$ref":"#"}})",
        R"({"patternProperties":{"a":{"$ref":"#"}}})",
        R"({"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{}}})"}) {
    EXPECT_EQ(RefusalOf(json), "fine") << json;
  }
}

TEST(SchemaParserTest, TheTextIsBounded) {
  const auto of_bytes = [](size_t bytes) { return "{\"title\":\"" + std::string(bytes - 12, 'x') + "\"}"; };
  ASSERT_EQ(of_bytes(100).size(), 100u);
  EXPECT_EQ(RefusalOf(of_bytes(DocumentSchema::kMaxTextBytes - 1)), "fine");
  EXPECT_EQ(RefusalOf(of_bytes(DocumentSchema::kMaxTextBytes)), "fine");
  EXPECT_EQ(RefusalOf(of_bytes(DocumentSchema::kMaxTextBytes + 1)),
            "too_large: the schema is too long (limit=max_schema_bytes, at_most=65536)");
}

TEST(SchemaParserTest, TheDepthIsBounded) {
  const auto nested = [](size_t depth) {
    return Repeated("{\"items\":", depth - 1) + "{}" + std::string(depth - 1, '}');
  };
  EXPECT_EQ(RefusalOf(nested(DocumentSchema::kMaxDepth - 1)), "fine");
  EXPECT_EQ(RefusalOf(nested(DocumentSchema::kMaxDepth)), "fine");
  EXPECT_EQ(RefusalOf(nested(DocumentSchema::kMaxDepth + 1)),
            "too_large: the schema is too deep (limit=max_schema_depth, at_most=32, schema_path=" +
                Repeated("/items", DocumentSchema::kMaxDepth) + ")");
  // At the deepest place a value may be as deep as documents are.
  std::string value = "1";
  for (size_t i = 0; i < kMaxDocumentDepth; ++i) value = R"({"$map":{"$set":)" + value + "}}";
  std::string deepest = nested(DocumentSchema::kMaxDepth);
  deepest.replace(deepest.find("{}"), 2, "{\"enum\":[" + value + "]}");
  for (const char* name : {"items", "not", "additionalProperties"}) {
    std::string other = deepest;
    while (other.find("items") != other.npos && name != std::string_view("items"))
      other.replace(other.find("items"), 5, name);
    EXPECT_EQ(RefusalOf(other), "fine");
  }
  for (size_t at = deepest.find(R"({"items":)"); at != deepest.npos; at = deepest.find(R"({"items":)", at + 1)) {
    deepest.replace(at, 9, R"({"anyOf":[)");
  }
  deepest.replace(deepest.find(value) + value.size(), deepest.npos,
                  "]}" + Repeated("]}", DocumentSchema::kMaxDepth - 1));
  EXPECT_EQ(RefusalOf(deepest), "fine");
}

// A chain of schemas that follow from each other, none of which is deep.
TEST(SchemaParserTest, WhatFollowsForOneValueIsBounded) {
  const auto chain = [](size_t length) {
    std::string defs = R"("short":{},"d0":{})";
    for (size_t i = 1; i < length; ++i) {
      defs += ",\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i - 1) + "\"}";
    }
    // The longest way counts, also where there is a shorter one.
    const std::string last = R"("$ref":"#/$defs/d)" + std::to_string(length - 1) + "\"";
    return R"({"$defs":{)" + defs + "}," + last + R"(,"not":{"$ref":"#/$defs/short"}})";
  };
  EXPECT_EQ(RefusalOf(chain(DocumentSchema::kMaxDepth - 1)), "fine");
  EXPECT_EQ(RefusalOf(chain(DocumentSchema::kMaxDepth)),
            "too_large: the schema is too deep (limit=max_schema_depth, at_most=32, schema_path=)");
  EXPECT_EQ(RefusalOf(chain(DocumentSchema::kMaxDepth + 5)),
            "too_large: the schema is too deep (limit=max_schema_depth, at_most=32, schema_path=)");
  EXPECT_THAT(RefusalOf(chain(1'500)), HasSubstr("max_schema_depth"));
}

TEST(SchemaParserTest, TheNumbersOfSchemasAndPatternsAreBounded) {
  const auto of_nodes = [](size_t nodes) { return "{\"allOf\":[true" + Repeated(",true", nodes - 2) + "]}"; };
  EXPECT_EQ(RefusalOf(of_nodes(DocumentSchema::kMaxNodes - 1)), "fine");
  EXPECT_EQ(RefusalOf(of_nodes(DocumentSchema::kMaxNodes)), "fine");
  EXPECT_EQ(RefusalOf(of_nodes(DocumentSchema::kMaxNodes + 1)),
            "too_large: there are too many schemas in the schema (limit=max_schema_nodes, at_most=2000, "
            "schema_path=/allOf)");
  const auto of_patterns = [](size_t patterns) {
    std::string all;
    for (size_t i = 0; i < patterns; ++i) all += R"({"pattern":"a)" + std::to_string(i) + "\"},";
    // Those that are there already are not counted again.
    return "{\"allOf\":[" + all + Repeated(R"({"pattern":"a0"},)", 100) + "true]}";
  };
  EXPECT_EQ(RefusalOf(of_patterns(DocumentSchema::kMaxPatterns - 1)), "fine");
  EXPECT_EQ(RefusalOf(of_patterns(DocumentSchema::kMaxPatterns)), "fine");
  EXPECT_EQ(RefusalOf(of_patterns(DocumentSchema::kMaxPatterns + 1)),
            "too_large: the schema has too many regular expressions (limit=max_schema_patterns, at_most=64, "
            "schema_path=/allOf/64/pattern)");
}

// Texts as large as they may be, of what takes the longest.
TEST(SchemaParserTest, LargeTextsAreReadInNoTime) {
  const auto filled = [](std::string_view begin, std::string_view with, std::string_view end) {
    std::string text(begin);
    while (text.size() + with.size() + end.size() <= DocumentSchema::kMaxTextBytes) text += with;
    return text + std::string(end);
  };
  std::string numbers = R"({"enum":[0)";
  for (int i = 1; numbers.size() < 65'000; ++i) numbers += "," + std::to_string(i);
  const std::string texts[] = {
      numbers + "]}",
      filled(R"({"enum":[1)", ",1", "]}"),
      filled(R"({"const":[)", "[],", "[]]}"),
      filled(R"({"default":)", "[", "1"),
      filled("", "[", ""),
      filled(R"({"allOf":[true)", R"(,{"$ref":"#/allOf/0"})", "]}"),
      filled(R"({"$ref":"#)", "/", R"("})"),
      filled(R"({"properties":{")", "~", R"(":{"allOf":[true,true,{"x":1}]}}})"),
      filled(R"({"title":[0)", ",0", R"(],"required":["a"]})"),
  };
  for (const std::string& text : texts) {
    const auto begin = std::chrono::steady_clock::now();
    RefusalOf(text);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << text.substr(0, 40);
  }
  EXPECT_EQ(RefusalOf(texts[0]), "fine");
}

}  // namespace
}  // namespace kvarts
