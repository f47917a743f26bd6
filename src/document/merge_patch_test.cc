#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "document/document_testing.h"
#include "document/update.h"

namespace kvarts {
namespace {

std::string Merged(std::string_view document, std::string_view patch) {
  const Result<Bytes> merged = MergePatch(DocumentView(Doc(document)), DocumentView(Doc(patch)));
  if (!merged.has_value()) return merged.error().ToString();
  EXPECT_TRUE(CheckDocument(*merged).has_value()) << document << " " << patch;
  return DocumentToJson(DocumentView(*merged));
}

// Those of RFC 7396, appendix A.
TEST(MergePatchTest, TheExamplesOfTheStandard) {
  const std::vector<std::array<std::string, 3>> cases = {{
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  }};
  for (const auto& [document, patch, merged] : cases) EXPECT_EQ(Merged(document, patch), merged) << patch;
}

TEST(MergePatchTest, WhatJsonHasNotIsReplacedWhole) {
  EXPECT_EQ(Merged(R"({"s":{"$set":["a","b"]}})", R"({"s":{"$set":["c"]}})"), R"({"s":{"$set":["c"]}})");
  EXPECT_EQ(Merged(R"({"s":{"$set":["a"]}})", R"({"s":{"x":1}})"), R"({"s":{"x":1}})");
  EXPECT_EQ(Merged(R"({"b":{"$binary":"YQ=="}})", R"({"b":{"$binary":""}})"), R"({"b":{"$binary":""}})");
  EXPECT_EQ(Merged(R"({"b":{"x":1}})", R"({"b":{"$binary":""}})"), R"({"b":{"$binary":""}})");
  // Nulls in lists are values.
  EXPECT_EQ(Merged(R"({"l":[1]})", R"({"l":[null,{"a":null}]})"), R"({"l":[null,{"a":null}]})");
  EXPECT_EQ(Merged(R"({"a":1,"bb":2,"ccc":3})", R"({})"), R"({"a":1,"bb":2,"ccc":3})");
}

TEST(MergePatchTest, TheResultIsNoDeeperThanTheDeeper) {
  const std::string deep = Repeated(R"({"a":)", 64) + "1" + Repeated("}", 64);
  const std::string deep_b = Repeated(R"({"a":)", 63) + R"({"b":2})" + Repeated("}", 63);
  EXPECT_EQ(Merged(deep, deep_b), Repeated(R"({"a":)", 63) + R"({"a":1,"b":2})" + Repeated("}", 63));
  EXPECT_EQ(Merged("{}", deep), deep);
  Bytes too_deep;
  DocumentWriter writer(&too_deep);
  for (int i = 0; i < 65; ++i) writer.BeginMap().Name("a");
  writer.Int(1);
  for (int i = 0; i < 65; ++i) writer.EndMap();
  const Result<Bytes> refused = MergePatch(DocumentView(Doc("{}")), DocumentView(too_deep));
  EXPECT_EQ(refused.error().ToString(),
            "too_large: the patch has too many levels (limit=max_document_depth, at_most=64)");
}

Tree Reference(const Tree* target, const Tree& patch) {
  if (patch.kind != Tree::Kind::kMap) return patch;
  Tree merged{Tree::Kind::kMap};
  if (target != nullptr && target->kind == Tree::Kind::kMap) merged = *target;
  for (const auto& [name, value] : patch.fields) {
    const auto found = merged.fields.find(name);
    if (value.leaf == "\xf6") {
      if (found != merged.fields.end()) merged.fields.erase(found);
    } else {
      merged.fields[name] = Reference(found == merged.fields.end() ? nullptr : &found->second, value);
    }
  }
  return merged;
}

RC_GTEST_PROP(MergePatchPropertyTest, ItIsWhatTheStandardDoesOverATree, ()) {
  const Bytes document = Doc(AnyJson(4));
  const Bytes patch = Doc(AnyJson(4));
  const Result<Bytes> merged = MergePatch(DocumentView(document), DocumentView(patch));
  RC_ASSERT(merged.has_value());
  RC_ASSERT(CheckDocument(*merged).has_value());
  const Tree target = Tree::Of(DocumentView(document));
  RC_ASSERT(*merged == Reference(&target, Tree::Of(DocumentView(patch))).ToBytes());
}

TEST(MergePatchTest, WideAndDeepDocumentsTakeTimeInProportion) {
  // Every level has a list as long as all levels are deep, and the patch goes down all of them.
  const auto write = [](int64_t value) {
    Bytes bytes;
    DocumentWriter writer(&bytes);
    for (int level = 0; level < 62; ++level) writer.BeginMap().Name("m");
    writer.BeginMap();
    for (int i = 0; i < 10'000; ++i) writer.Name("field" + std::to_string(i)).BeginList().Int(value).EndList();
    writer.EndMap();
    for (int level = 0; level < 62; ++level) writer.EndMap();
    return bytes;
  };
  const Bytes document = write(1);
  const Bytes patch = write(2);
  EXPECT_EQ(*MergePatch(DocumentView(document), DocumentView(patch)), patch);
}

}  // namespace
}  // namespace kvarts
