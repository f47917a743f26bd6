// What is told of a document that does not follow its schema, and that all checks end.
#include "document/schema_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

#include "document/schema.h"
#include "encoding/document_json.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

DocumentSchema Schema(std::string_view json) {
  const Result<DocumentSchema> schema = DocumentSchema::Parse(json);
  EXPECT_TRUE(schema.has_value()) << json << ": " << schema.error();
  return schema.has_value() ? *schema : *DocumentSchema::Parse("true");
}

std::string Says(const DocumentSchema& schema, BytesView document) {
  const Status status = schema.Check(DocumentView(document));
  return status.has_value() ? "fine" : status.error().ToString();
}

std::string Says(std::string_view schema, std::string_view json) {
  const Result<Bytes> document = DocumentFromJson(json);
  EXPECT_TRUE(document.has_value()) << json << ": " << document.error();
  return Says(Schema(schema), *document);
}

std::string Failure(std::string_view path, std::string_view keyword, std::string_view schema_path,
                    std::string_view expected) {
  return "invalid_argument: the row does not follow its schema (path=" + std::string(path) +
         ", keyword=" + std::string(keyword) + ", schema_path=" + std::string(schema_path) +
         ", expected=" + std::string(expected) + ")";
}

TEST(SchemaCheckTest, AFailureSaysWhereAndWhatWasExpected) {
  const auto told = [](std::string_view schema, std::string_view json, std::string_view path, std::string_view keyword,
                       std::string_view expected) {
    EXPECT_EQ(Says(schema, json), Failure(path, keyword, "/" + std::string(keyword), expected)) << schema;
  };
  EXPECT_EQ(Says("false", "1"), Failure("", "false", "", "nothing"));
  told(R"({"type":["integer","null"]})", R"("a")", "", "type", "null or integer");
  told(R"({"const":{"b":1,"a":[1.50]}})", "1", "", "const", R"({"a":[1.5],"b":1})");
  told(R"({"enum":["b",1]})", "2", "", "enum", R"(one of 1, "b")");
  told(R"({"minimum":1.5})", "1", "", "minimum", "at least 1.5");
  told(R"({"maximum":1})", "2", "", "maximum", "at most 1");
  told(R"({"exclusiveMinimum":1})", "1", "", "exclusiveMinimum", "more than 1");
  told(R"({"exclusiveMaximum":1})", "1", "", "exclusiveMaximum", "less than 1");
  told(R"({"multipleOf":0.01})", "0.001", "", "multipleOf", "a multiple of 0.01");
  told(R"({"minLength":1})", R"("")", "", "minLength", "at least 1 character");
  told(R"({"maxLength":2})", R"("abc")", "", "maxLength", "at most 2 characters");
  told(R"({"pattern":"^a"})", R"("b")", "", "pattern", "a match of ^a");
  told(R"({"format":"date-time"})", R"("now")", "", "format", "date-time");
  told(R"({"minItems":1})", "[]", "", "minItems", "at least 1 element");
  told(R"({"maxItems":0})", "[1]", "", "maxItems", "at most 0 elements");
  told(R"({"uniqueItems":true})", "[1,2,3,2,1]", "/3", "uniqueItems", "an element that is not there already");
  told(R"({"contains":{"const":1}})", "[2]", "", "contains", "an element that follows the schema");
  told(R"({"contains":true,"minContains":2})", "[2]", "", "minContains", "at least 2 elements following the schema");
  told(R"({"contains":true,"maxContains":1})", "[2,3]", "", "maxContains", "at most 1 element following the schema");
  told(R"({"minProperties":1})", "{}", "", "minProperties", "at least 1 field");
  told(R"({"maxProperties":0})", R"({"a":1})", "", "maxProperties", "at most 0 fields");
  told(R"({"required":["long","b","a"]})", R"({"a":1,"long":2})", "", "required", "a field b");
  told(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "", "dependentRequired", "a field b beside a");
  told(R"({"propertyNames":{"maxLength":1}})", R"({"a":1,"bb":2})", "/bb", "propertyNames",
       "a field whose name follows the schema");
  told(R"({"anyOf":[{"type":"null"},false]})", "1", "", "anyOf", "a value that follows one of 2 schemas");
  told(R"({"oneOf":[true,true]})", "1", "", "oneOf", "a value that follows exactly one of 2 schemas");
  told(R"({"not":true})", "1", "", "not", "a value that does not follow the schema");
  told(R"({"additionalProperties":false})", R"({"a":1})", "/a", "additionalProperties", "nothing");
  told(R"({"items":false})", "[1]", "/0", "items", "nothing");
}

TEST(SchemaCheckTest, PathsAreJsonPointers) {
  EXPECT_EQ(Says(R"({"properties":{"a/b":{"items":{"properties":{"c~d":{"prefixItems":[true,{"type":"null"}]}}}}}})",
                 R"({"a/b":[{},{"c~d":[1,2]}],"z":[[[]]]})"),
            Failure("/a~1b/1/c~0d/1", "type", "/properties/a~1b/items/properties/c~0d/prefixItems/1/type", "null"));
  EXPECT_EQ(Says(R"({"properties":{"":{"type":"null"}}})", R"({"":1})"),
            Failure("/", "type", "/properties//type", "null"));
  EXPECT_EQ(Says(R"({"properties":{"s":{"items":{"maximum":1}}}})", R"({"s":{"$set":[1,2]}})"),
            Failure("/s/1", "maximum", "/properties/s/items/maximum", "at most 1"));
  EXPECT_EQ(Says(R"({"patternProperties":{"^n":{"type":"null"}}})", R"({"no":1})"),
            Failure("/no", "type", "/patternProperties/^n/type", "null"));
  // Through a $ref, to where the rule stands.
  EXPECT_EQ(Says(R"({"$defs":{"x":{"required":["a"]}},"items":{"$ref":"#/$defs/x"}})", R"([{"a":1},{}])"),
            Failure("/1", "required", "/$defs/x/required", "a field a"));
  EXPECT_EQ(Says(R"({"if":{"required":["a"]},"then":{"properties":{"b":{"type":"null"}}}})", R"({"a":1,"b":1})"),
            Failure("/b", "type", "/then/properties/b/type", "null"));
  EXPECT_EQ(Says(R"({"dependentSchemas":{"a":{"allOf":[{"properties":{"b":false}}]}}})", R"({"a":1,"b":1})"),
            Failure("/b", "properties", "/dependentSchemas/a/allOf/0/properties/b", "nothing"));
}

TEST(SchemaCheckTest, TheFailureThatBeginsFirstIsTold) {
  // A value comes before what is in it, whatever the order of the schema.
  for (const char* schema : {R"({"properties":{"a":{"type":"null"}},"required":["z"]})",
                             R"({"allOf":[{"properties":{"a":{"type":"null"}}},{"required":["z"]}]})",
                             R"({"allOf":[{"required":["z"]},{"properties":{"a":{"type":"null"}}}]})"}) {
    EXPECT_THAT(Says(schema, R"({"a":1})"), HasSubstr("path=, keyword=required")) << schema;
  }
  // Fields are in the order of documents: shorter names first.
  for (const char* schema :
       {R"({"properties":{"aa":{"type":"null"},"z":{"type":"null"}}})",
        R"({"allOf":[{"properties":{"aa":{"type":"null"}}},{"properties":{"z":{"type":"null"}}}]})",
        R"({"$defs":{"x":{"properties":{"aa":{"type":"null"}}}},"$ref":"#/$defs/x",
                                 "patternProperties":{"z":{"type":"null"}}})"}) {
    EXPECT_THAT(Says(schema, R"({"aa":1,"z":1})"), HasSubstr("path=/z, keyword=type")) << schema;
  }
  EXPECT_THAT(Says(R"({"uniqueItems":true,"items":{"maximum":9}})", "[1,2,1,10]"), HasSubstr("path=/2, keyword=uniq"));
  EXPECT_THAT(Says(R"({"uniqueItems":true,"items":{"maximum":9}})", "[10,2,3,2]"), HasSubstr("path=/0, keyword=max"));
  EXPECT_THAT(Says(R"({"items":{"maximum":9},"contains":{"const":5}})", "[10]"), HasSubstr("path=, keyword=contains"));
  EXPECT_THAT(Says(R"({"allOf":[{"properties":{"a":{"items":{"minimum":5}}}},{"properties":{"a":{"maxItems":1}}}]})",
                   R"({"a":[9,1]})"),
              HasSubstr("path=/a, keyword=maxItems"));
  // What is wrong with one value is in the order of keywords.
  EXPECT_THAT(Says(R"({"maximum":1,"enum":[1],"type":"null"})", "2"), HasSubstr("keyword=type"));
}

TEST(SchemaCheckTest, LongThingsAreCut) {
  const std::string name(5'000, 'n');
  const std::string told =
      Says(R"({"additionalProperties":{"enum":[")" + std::string(500, 'e') + R"("]}})", "{\"" + name + "\":1}");
  EXPECT_THAT(told, HasSubstr("path=/nnn"));
  EXPECT_LT(told.size(), 1'500u);
  EXPECT_THAT(told, HasSubstr("…"));
}

// Of many that are there several times, the first to come again.
TEST(SchemaCheckTest, TheFirstElementThatComesAgainIsTold) {
  std::string list = "[0";
  for (int i = 1; i < 500; ++i) list += "," + std::to_string(i * 13 % 100);
  EXPECT_THAT(Says(R"({"uniqueItems":true})", list + "]"), HasSubstr("path=/100, keyword=uniqueItems"));
}

RC_GTEST_PROP(SchemaCheckTest, AFailureIsFoundWhereverItIs, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 30);
  const auto bad = *rc::gen::inRange<size_t>(0, size);
  Bytes bytes;
  DocumentWriter writer(&bytes);
  writer.BeginMap().Name("deep").BeginList();
  for (size_t i = 0; i < size; ++i) writer.BeginMap().Name("n").Int(i == bad ? -1 : 1).EndMap();
  writer.EndList().EndMap();
  const DocumentSchema schema =
      Schema(R"({"properties":{"deep":{"items":{"properties":{"n":{"anyOf":[{"minimum":0},{"type":"null"}]}}}}}})");
  RC_ASSERT(Says(schema, bytes) == Failure("/deep/" + std::to_string(bad) + "/n", "anyOf",
                                           "/properties/deep/items/properties/n/anyOf",
                                           "a value that follows one of 2 schemas"));
}

// Runs a check that must be quick, whatever it says.
std::string SaysQuickly(const DocumentSchema& schema, BytesView document) {
  const auto begin = std::chrono::steady_clock::now();
  std::string says = Says(schema, document);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << schema.text().substr(0, 100);
  return says;
}

constexpr std::string_view kTooMuch =
    "too_large: the row takes too much work to be checked against its schema (limit=max_schema_steps, at_most=1000000)";

TEST(SchemaCheckTest, SchemasThatMultiplyEnd) {
  // Each leads twice to the next: 2^30 ways.
  for (const std::string keyword : {"allOf", "anyOf", "oneOf"}) {
    std::string defs = R"("d0":{"type":"null"})";
    for (int i = 1; i <= 15; ++i) {
      const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i - 1) + "\"}";
      defs += ",\"d" + std::to_string(i) + R"(":{")" + keyword + "\":[" + next + "," + next + "," + next + "," + next +
              "]}";
    }
    const DocumentSchema schema = Schema(R"({"$ref":"#/$defs/d15","$defs":{)" + defs + "}}");
    const std::string told = SaysQuickly(schema, *DocumentFromJson("1"));
    // Of allOf a failure is found at once, and nothing comes before it.
    EXPECT_EQ(told, keyword == "allOf" ? Failure("", "type", "/$defs/d0/type", "null") : kTooMuch) << keyword;
    const bool first_will_do = keyword == "anyOf";
    EXPECT_EQ(SaysQuickly(schema, *DocumentFromJson("null")), first_will_do ? "fine" : kTooMuch) << keyword;
  }
}

TEST(SchemaCheckTest, WorkIsBoundedByTheDocumentToo) {
  Bytes wide;
  DocumentWriter writer(&wide);
  writer.BeginMap();
  for (int i = 0; i < 10'000; ++i) writer.Name("field" + std::to_string(i)).BeginList().Int(i).Text("x").EndList();
  writer.EndMap();
  const DocumentSchema harmless = Schema(
      R"({"additionalProperties":{"type":"array","prefixItems":[{"type":"integer"},{"maxLength":5}]},
          "propertyNames":{"pattern":"^field[0-9]+$"},"minProperties":10000,"required":["field0","field9999"]})");
  EXPECT_EQ(SaysQuickly(harmless, wide), "fine");
  // Nothing is said about what is in it, however much that is.
  Bytes many;
  DocumentWriter more(&many);
  more.BeginMap().Name("a").BeginList();
  for (int i = 0; i < 5'000'000; ++i) more.Int(i % 20);
  more.EndList().Name("b").Int(1).EndMap();
  EXPECT_EQ(SaysQuickly(Schema(R"({"required":["b"],"properties":{"a":{"type":"array"}}})"), many), "fine");
  EXPECT_EQ(SaysQuickly(Schema(R"({"properties":{"a":{"items":{"type":"integer"}}}})"), many), kTooMuch);
  EXPECT_EQ(SaysQuickly(Schema(R"({"properties":{"a":{"uniqueItems":true}}})"), many), kTooMuch);
  // But what is found before the end is told.
  EXPECT_EQ(SaysQuickly(Schema(R"({"properties":{"a":{"items":{"maximum":18}}}})"), many),
            Failure("/a/19", "maximum", "/properties/a/items/maximum", "at most 18"));
  // Gone over again and again.
  std::string again;
  for (int i = 0; i < 500; ++i) again += R"({"required":["b"]},)";
  EXPECT_EQ(SaysQuickly(Schema("{\"allOf\":[" + again + "true]}"), many), kTooMuch);
}

TEST(SchemaCheckTest, PatternsArePaidFor) {
  std::string text = "\"";
  for (uint32_t i = 1; text.size() < 100'000; i = i * 1'664'525 + 1'013'904'223) text += (i >> 24) % 2 == 0 ? 'a' : 'b';
  const Bytes document = *DocumentFromJson(text + "\"");
  EXPECT_EQ(SaysQuickly(Schema(R"({"pattern":"^[ab]*$"})"), document), "fine");
  EXPECT_EQ(SaysQuickly(Schema(R"({"pattern":"((a|b|ab){40}){20}c"})"), document), kTooMuch);
  EXPECT_THAT(SaysQuickly(Schema(R"({"pattern":"(a*)*c"})"), document), StartsWith("invalid_argument"));
}

TEST(SchemaCheckTest, TheDepthOfAChecksStackIsBounded) {
  // Each level of the document takes so many schemas.
  const auto recursive = [](size_t schemas) {
    std::string schema = R"({"items":{"$ref":"#"}})";
    for (size_t i = 2; i < schemas; ++i) schema = R"({"allOf":[)" + schema + "]}";
    return Schema(schema);
  };
  std::string json;
  for (size_t i = 0; i < kMaxDocumentDepth; ++i) json += "[";
  const Bytes deep = *DocumentFromJson(json + std::string(kMaxDocumentDepth, ']'));
  EXPECT_EQ(SaysQuickly(recursive(2), deep), "fine");
  EXPECT_EQ(SaysQuickly(recursive(8), deep), "fine");
  EXPECT_EQ(SaysQuickly(recursive(9), deep),
            "too_large: the row takes too much work to be checked against its schema (limit=max_schema_check_depth, "
            "at_most=512)");
  EXPECT_THAT(SaysQuickly(recursive(30), deep), HasSubstr("max_schema_check_depth"));
}

TEST(SchemaCheckTest, HugeEnumsAndManyPropertiesAreFound) {
  std::string values;
  std::string properties;
  for (int i = 0; i < 1'500; ++i) {
    values += (i == 0 ? "\"v" : ",\"v") + std::to_string(i) + "\"";
    properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"$ref":"#/$defs/v"})";
  }
  const DocumentSchema schema = Schema(R"({"$defs":{"v":{"enum":[)" + values + R"(]}},"properties":{)" + properties +
                                       R"(},"additionalProperties":false})");
  Bytes document;
  DocumentWriter writer(&document);
  writer.BeginMap();
  for (int i = 0; i < 1'500; ++i) writer.Name("p" + std::to_string(i)).Text("v" + std::to_string(1'499 - i));
  writer.EndMap();
  EXPECT_EQ(SaysQuickly(schema, document), "fine");
  EXPECT_THAT(Says(schema, *DocumentFromJson(R"({"p1":"v1","p77":"v1500"})")), HasSubstr("path=/p77, keyword=enum"));
  EXPECT_THAT(Says(schema, *DocumentFromJson(R"({"p1":"v1","p1500":"v1"})")), HasSubstr("path=/p1500, keyword=add"));
}

}  // namespace
}  // namespace kvarts
