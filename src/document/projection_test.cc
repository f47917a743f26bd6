#include "document/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "document/document_testing.h"

namespace kvarts {
namespace {

Result<Projection> Parsed(const std::vector<std::string>& paths) { return Projection::Parse(paths); }

std::string Projected(std::string_view document, const std::vector<std::string>& paths) {
  const Result<Projection> projection = Parsed(paths);
  if (!projection.has_value()) return projection.error().ToString();
  const Bytes picked = projection->Apply(DocumentView(Doc(document)));
  EXPECT_TRUE(CheckDocument(picked).has_value()) << document;
  return DocumentToJson(DocumentView(picked));
}

TEST(ProjectionTest, WhatIsKeptStaysWhereItIs) {
  const char* document =
      R"({"a":{"b":[2,4,{"x":"hi","y":"yo"}],"c":5,"e":{}},"b":"hello","s":{"$set":[1]},"x y":{"":1}})";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"a"}, R"({"a":{"b":[2,4,{"x":"hi","y":"yo"}],"c":5,"e":{}}})"},
      {{"a.b"}, R"({"a":{"b":[2,4,{"x":"hi","y":"yo"}]}})"},
      {{"a.b[0]"}, R"({"a":{"b":[2]}})"},
      {{"a.b[2]"}, R"({"a":{"b":[{"x":"hi","y":"yo"}]}})"},
      {{"a.b[2].y"}, R"({"a":{"b":[{"y":"yo"}]}})"},
      {{"a.b[2].y", "a.b[0]"}, R"({"a":{"b":[2,{"y":"yo"}]}})"},
      {{"a.b[2].y", "a.b[2].x"}, R"({"a":{"b":[{"x":"hi","y":"yo"}]}})"},
      {{"b", "a.c"}, R"({"a":{"c":5},"b":"hello"})"},
      {{"a.e", "s"}, R"({"a":{"e":{}},"s":{"$set":[1]}})"},
      {{"`x y`.``"}, R"({"x y":{"":1}})"},
      // What is not there is left out, and what it would have been in.
      {{"x"}, "{}"},
      {{"a.x"}, "{}"},
      {{"a.x.y"}, "{}"},
      {{"a.b[3]"}, "{}"},
      {{"a.b[3].x"}, "{}"},
      {{"a.b.x"}, "{}"},
      {{"a[0]"}, "{}"},
      {{"a.b[0].x"}, "{}"},
      {{"a.b[0][0]"}, "{}"},
      {{"a.e.x"}, "{}"},
      {{"s[0]"}, "{}"},
      {{"a.x", "a.b[0]", "x", "a.b[3].x", "a.b[2].z", "aa.b"}, R"({"a":{"b":[2]}})"},
      {{"a.b[1].x", "b"}, R"({"b":"hello"})"},
  };
  for (const auto& [paths, expected] : cases) {
    EXPECT_EQ(Projected(document, paths), expected) << testing::PrintToString(paths);
  }
  EXPECT_EQ(Projected("[1]", {"a"}), "{}");
  EXPECT_EQ(Projected("7", {"a.b"}), "{}");
  EXPECT_EQ(Projected(R"({"a":null})", {"a"}), R"({"a":null})");
}

TEST(ProjectionTest, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(Projected("{}", {}), "invalid_argument: a projection has at least one path");
  EXPECT_EQ(Projected("{}", {"a", "a"}), "invalid_argument: two paths overlap (path=a, other=a)");
  EXPECT_EQ(Projected("{}", {"a.b.d", "c", "a.b"}), "invalid_argument: two paths overlap (path=a.b, other=a.b.d)");
  EXPECT_EQ(Projected("{}", {"a.b", "a[1]"}),
            "invalid_argument: two paths take the same value for a map and for a list (path=a.b, other=a[1])");
  EXPECT_THAT(Projected("{}", {"a", "b."}), testing::HasSubstr("a name was expected"));
  EXPECT_THAT(Projected("{}", {"a[*]"}), testing::HasSubstr("[*] has no meaning here (path=a[*], position=1)"));
  EXPECT_EQ(Projection::Of({Path("a[*]")}).error().ToString(), "invalid_argument: [*] has no meaning here (path=a[*])");
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back("a" + std::to_string(i));
  EXPECT_EQ(Projected("{}", many), "{}");
  many.push_back("b");
  EXPECT_EQ(Projected("{}", many),
            "too_large: a projection has too many paths (limit=max_projection_paths, at_most=100)");
}

TEST(ProjectionTest, TheOrderOfPathsDoesNotMatter) {
  EXPECT_EQ(*Parsed({"b", "a.c", "a.b"}), *Parsed({"a.b", "a.c", "b"}));
  EXPECT_FALSE(*Parsed({"b"}) == *Parsed({"a"}));
  EXPECT_THAT(Parsed({"b", "a.c", "a.b"})->paths(), testing::ElementsAre(Path("a.b"), Path("a.c"), Path("b")));
}

TEST(ProjectionTest, WideAndDeepDocumentsTakeTimeInProportion) {
  Bytes bytes;
  DocumentWriter writer(&bytes);
  std::string path;
  for (int level = 0; level < 31; ++level) {
    writer.BeginMap().Name("m");
    path += "m.";
  }
  writer.BeginMap();
  for (int i = 0; i < 10'000; ++i) writer.Name("field" + std::to_string(i)).BeginList().Int(i).EndList();
  writer.EndMap();
  for (int level = 0; level < 31; ++level) writer.EndMap();
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) paths.push_back(path + "field" + std::to_string(100 * i));
  const Bytes picked = Parsed(paths)->Apply(DocumentView(bytes));
  ASSERT_TRUE(CheckDocument(picked).has_value());
  path.pop_back();
  EXPECT_EQ(Path(path).Find(DocumentView(picked))->size(), 100u);
}

// Over a tree: whether anything is left of the value.
bool Prune(Tree* at, const std::vector<DocumentPath>& paths, const std::vector<DocumentPath::Step>& way) {
  const auto leads = [&](const DocumentPath& path) {
    return path.steps().size() >= way.size() && std::equal(way.begin(), way.end(), path.steps().begin());
  };
  std::vector<DocumentPath> into;
  std::ranges::copy_if(paths, std::back_inserter(into), leads);
  if (into.empty()) return false;
  if (into.front().steps() == way) return true;
  bool any = false;
  const auto prune = [&](Tree* part, DocumentPath::Step step) {
    std::vector<DocumentPath::Step> on = way;
    on.push_back(std::move(step));
    part->removed = !Prune(part, into, on);
    any = any || !part->removed;
  };
  for (auto& [name, field] : at->fields) prune(&field, {DocumentPath::Step::Kind::kName, name});
  for (size_t i = 0; i < at->elements.size(); ++i) {
    prune(&at->elements[i], {DocumentPath::Step::Kind::kIndex, "", static_cast<uint32_t>(i)});
  }
  return any;
}

RC_GTEST_PROP(ProjectionPropertyTest, ItIsATreeWithoutTheRest, ()) {
  const Bytes document = Doc("{\"a\":" + AnyJson(3) + ",\"b\":" + AnyJson(3) + "}");
  std::vector<DocumentPath> paths;
  for (int left = 1 + AnyBelow(4); left > 0; --left) {
    std::string text = *rc::gen::element<std::string>("a", "b", "c");
    for (int steps = AnyBelow(4); steps > 0; --steps) {
      text += *rc::gen::element<std::string>(".a", ".b", ".aa", ".`x y`", ".``", "[0]", "[1]", "[2]");
    }
    paths.push_back(Path(text));
  }
  const Result<Projection> projection = Projection::Of(paths);
  if (!projection.has_value()) return;
  const Bytes picked = projection->Apply(DocumentView(document));
  RC_ASSERT(CheckDocument(picked).has_value());
  Tree tree = Tree::Of(DocumentView(document));
  Prune(&tree, paths, {});
  RC_ASSERT(picked == tree.ToBytes());
}

}  // namespace
}  // namespace kvarts
