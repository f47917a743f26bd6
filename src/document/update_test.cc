#include "document/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "document/document_testing.h"

namespace kvarts {
namespace {

using Op = FieldUpdate::Op;

std::vector<FieldUpdate> Updates(std::string_view json) {
  JsonReader reader(json, {.max_depth = 140});
  std::vector<FieldUpdate> updates = ReadUpdates(reader);
  const Status read = reader.Finish();
  EXPECT_TRUE(read.has_value()) << json << ": " << read.error();
  return updates;
}

// The new document, or the error.
std::string Updated(std::string_view document, std::string_view updates) {
  const Result<Bytes> updated = ApplyUpdates(DocumentView(Doc(document)), Updates(updates));
  if (!updated.has_value()) return updated.error().ToString();
  EXPECT_TRUE(CheckDocument(*updated).has_value()) << document << " " << updates;
  return DocumentToJson(DocumentView(*updated));
}

struct Case {
  const char* document;
  const char* updates;
  const char* updated;
};

void Expect(std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(Updated(one.document, one.updates), one.updated) << one.document << " " << one.updates;
  }
}

TEST(UpdateTest, SetChangesOrMakesTheLastStep) {
  Expect({
      {R"({"a":1})", R"({})", R"({"a":1})"},
      {R"({"a":1})", R"({"set":{"a":2}})", R"({"a":2})"},
      {R"({"b":1})", R"({"set":{"a":2,"c":{"x":[1]}}})", R"({"a":2,"b":1,"c":{"x":[1]}})"},
      {R"({})", R"({"set":{"a":null}})", R"({"a":null})"},
      {R"({"a":{"b":1}})", R"({"set":{"a.c":2}})", R"({"a":{"b":1,"c":2}})"},
      {R"({"a":{"b":1}})", R"({"set":{"a.b":{"$set":[1]}}})", R"({"a":{"b":{"$set":[1]}}})"},
      {R"({"a":[1,{"b":2},3]})", R"({"set":{"a[1].b":7,"a[0]":"x"}})", R"({"a":["x",{"b":7},3]})"},
      {R"({"x y":{"":1}})", R"({"set":{"`x y`.``":2}})", R"({"x y":{"":2}})"},
      // Names sort by their length.
      {R"({"b":1,"aaa":3})", R"({"set":{"aa":2,"a":0,"aaaa":4}})", R"({"a":0,"b":1,"aa":2,"aaa":3,"aaaa":4})"},
      // Behind the last, in the order of the indexes.
      {R"({"a":[1]})", R"({"set":{"a[84]":"84","a[37]":"37","a[1]":"1"}})", R"({"a":[1,"1","37","84"]})"},
      {R"({"a":[]})", R"({"set":{"a[4294967295]":1}})", R"({"a":[1]})"},
  });
}

TEST(UpdateTest, SetIfMissingKeepsWhatIsThere) {
  Expect({
      {R"({"a":1})", R"({"set_if_missing":{"a":2,"b":3}})", R"({"a":1,"b":3})"},
      {R"({"a":null})", R"({"set_if_missing":{"a":2}})", R"({"a":null})"},
      {R"({"a":[1]})", R"({"set_if_missing":{"a[0]":2,"a[1]":3}})", R"({"a":[1,3]})"},
  });
}

TEST(UpdateTest, RemoveTakesAwayWhatIsThere) {
  Expect({
      {R"({"a":1,"b":2})", R"({"remove":["a"]})", R"({"b":2})"},
      {R"({"a":{"b":1,"c":2}})", R"({"remove":["a.b","a.c"]})", R"({"a":{}})"},
      {R"({"a":[0,1,2,3]})", R"({"remove":["a[0]","a[2]"]})", R"({"a":[1,3]})"},
      {R"({"a":[0,1,2]})", R"({"remove":["a[0]"],"set":{"a[1]":"x","a[9]":"y"}})", R"({"a":["x",2,"y"]})"},
      // Nothing is there, or nothing that the path could lead through.
      {R"({"a":1})", R"({"remove":["b","c.d","e[0].f","a.b","a[0]"]})",
       "invalid_argument: two paths take the same value for a map and for a list (path=a.b, other=a[0])"},
      {R"({"a":1})", R"({"remove":["b","c.d","e[0].f","a.b"]})", R"({"a":1})"},
      {R"({"a":[{"x":1}]})", R"({"remove":["a[3]","a[0].y","a[1].x"]})", R"({"a":[{"x":1}]})"},
      {R"([1])", R"({"remove":["a"]})", R"([1])"},
      {R"(7)", R"({"remove":["a.b"],"remove_from_set":{"c":{"$set":[1]}}})", R"(7)"},
  });
}

TEST(UpdateTest, IncrementIsExact) {
  Expect({
      {R"({"n":1})", R"({"increment":{"n":2}})", R"({"n":3})"},
      {R"({"n":0.1})", R"({"increment":{"n":0.2}})", R"({"n":0.3})"},
      {R"({"n":1})", R"({"increment":{"n":-1}})", R"({"n":0})"},
      {R"({})", R"({"increment":{"n":-2.50}})", R"({"n":-2.5})"},
      {R"({"l":[5]})", R"({"increment":{"l[0]":1,"l[7]":2}})", R"({"l":[6,2]})"},
      {R"({"n":12345678901234567890123456789012345678})", R"({"increment":{"n":1}})",
       R"({"n":12345678901234567890123456789012345679})"},
      {R"({"n":12345678901234567890123456789012345678})", R"({"increment":{"n":0.1}})",
       "too_large: a number has at most 38 significant digits (path=n)"},
      {R"({"a":{"n":9E125}})", R"({"increment":{"a.n":1E125}})",
       "too_large: the magnitude of a number is less than 1E+126 (path=a.n)"},
      {R"({"n":"1"})", R"({"increment":{"n":1}})", "invalid_argument: what is to be incremented is no number (path=n)"},
      {R"({"n":null})", R"({"increment":{"n":1}})",
       "invalid_argument: what is to be incremented is no number (path=n)"},
  });
}

TEST(UpdateTest, ListsGrowAtEitherEnd) {
  const char* no_list = "invalid_argument: what is to be appended or prepended to is no list (path=l)";
  Expect({
      {R"({"l":[1]})", R"({"append":{"l":[2,[3]]}})", R"({"l":[1,2,[3]]})"},
      {R"({"l":[1]})", R"({"prepend":{"l":[2,3]}})", R"({"l":[2,3,1]})"},
      {R"({"l":[1]})", R"({"append":{"l":[]}})", R"({"l":[1]})"},
      {R"({})", R"({"append":{"l":[1]},"prepend":{"m":[2]}})", R"({"l":[1],"m":[2]})"},
      {R"({"l":[[1]]})", R"({"append":{"l[0]":[2],"l[1]":[3]}})", R"({"l":[[1,2],[3]]})"},
      {R"({"l":1})", R"({"append":{"l":[1]}})", no_list},
      {R"({"l":{"$set":[1]}})", R"({"prepend":{"l":[1]}})", no_list},
  });
}

TEST(UpdateTest, SetsAreUnitedAndCut) {
  const char* no_set = "invalid_argument: what is to be added to or removed from is no set of that kind (path=s)";
  Expect({
      {R"({"s":{"$set":["b","d"]}})", R"({"add_to_set":{"s":{"$set":["e","b","a","c"]}}})",
       R"({"s":{"$set":["a","b","c","d","e"]}})"},
      {R"({"s":{"$set":[1]}})", R"({"add_to_set":{"s":{"$set":[1.0,2.5]}}})", R"({"s":{"$set":[1,2.5]}})"},
      {R"({})", R"({"add_to_set":{"s":{"$set":[2,1]}}})", R"({"s":{"$set":[1,2]}})"},
      {R"({"s":{"$set":["a","b","c"]}})", R"({"remove_from_set":{"s":{"$set":["b","x"]}}})",
       R"({"s":{"$set":["a","c"]}})"},
      // An empty set is none.
      {R"({"s":{"$set":["a","b"]},"t":1})", R"({"remove_from_set":{"s":{"$set":["b","a","x"]}}})", R"({"t":1})"},
      {R"({"l":[{"$set":[1]},2]})", R"({"remove_from_set":{"l[0]":{"$set":[1]}}})", R"({"l":[2]})"},
      {R"({"t":1})", R"({"remove_from_set":{"s":{"$set":["b"]},"u.v":{"$set":[1]}}})", R"({"t":1})"},
      {R"({"s":{"$set":["a"]}})", R"({"add_to_set":{"s":{"$set":[1]}}})", no_set},
      {R"({"s":{"$set":["a"]}})", R"({"remove_from_set":{"s":{"$set":[1]}}})", no_set},
      {R"({"s":["a"]})", R"({"add_to_set":{"s":{"$set":["a"]}}})", no_set},
      {R"({"s":"a"})", R"({"remove_from_set":{"s":{"$set":["a"]}}})", no_set},
  });
}

TEST(UpdateTest, WhatAPathLeadsThroughMustBeThere) {
  Expect({
      {R"({})", R"({"set":{"a.b":1}})",
       "invalid_argument: the path leads through something that is not there (path=a.b)"},
      {R"({"a":{}})", R"({"remove":["a.b.c"],"set_if_missing":{"a.b.d":1}})",
       "invalid_argument: the path leads through something that is not there (path=a.b.d)"},
      {R"({"a":[]})", R"({"increment":{"a[0].n":1}})",
       "invalid_argument: the path leads through something that is not there (path=a[0].n)"},
      {R"({"a":"text"})", R"({"append":{"a.b":[1]}})",
       "invalid_argument: the path leads through something that is no map (path=a.b)"},
      {R"({"a":[1]})", R"({"set":{"a.b":1}})",
       "invalid_argument: the path leads through something that is no map (path=a.b)"},
      {R"({"a":{}})", R"({"set":{"a[0]":1}})",
       "invalid_argument: the path leads through something that is no list (path=a[0])"},
      {R"({"a":{"$set":[1]}})", R"({"set":{"a[0]":1}})",
       "invalid_argument: the path leads through something that is no list (path=a[0])"},
      {R"([])", R"({"add_to_set":{"a":{"$set":[1]}}})",
       "invalid_argument: the path leads through something that is no map (path=a)"},
  });
}

TEST(UpdateTest, NoTwoUpdatesAreOfTheSameValue) {
  Expect({
      {R"({"a":1})", R"({"set":{"a":1},"remove":["a"]})", "invalid_argument: two paths overlap (path=a, other=a)"},
      {R"({"a":{}})", R"({"set":{"a.b":1,"`a`.`b`":1}})", "invalid_argument: two paths overlap (path=a.b, other=a.b)"},
      {R"({"a":1})", R"({"remove":["b","a.b[1].c","a"]})",
       "invalid_argument: two paths overlap (path=a, other=a.b[1].c)"},
      {R"({"a":1})", R"({"set":{"a[1].b":1},"increment":{"a[1][0]":1}})",
       "invalid_argument: two paths take the same value for a map and for a list (path=a[1].b, other=a[1][0])"},
      {R"({"a":{"b":1,"c":2}})", R"({"set":{"a.b":2},"increment":{"a.c":1},"remove":["a.d"]})",
       R"({"a":{"b":2,"c":3}})"},
  });
}

// They are all of the document as it was.
TEST(UpdateTest, TheOrderOfUpdatesDoesNotMatter) {
  const Bytes document = Doc(R"({"a":[1,2,3,{"x":1}],"n":1,"s":{"$set":[1]}})");
  std::vector<FieldUpdate> updates = Updates(
      R"({"set":{"a[3].x":5,"a[9]":6,"b":7},"remove":["a[0]","a[2]"],"increment":{"n":1},"add_to_set":{"s":{"$set":[2]}}})");
  const Result<Bytes> first = ApplyUpdates(DocumentView(document), updates);
  EXPECT_EQ(DocumentToJson(DocumentView(*first)), R"({"a":[2,{"x":5},6],"b":7,"n":2,"s":{"$set":[1,2]}})");
  for (int round = 0; round < 20; ++round) {
    std::ranges::rotate(updates, updates.begin() + 1 + round % 3);
    EXPECT_EQ(*ApplyUpdates(DocumentView(document), updates), *first);
  }
}

TEST(UpdateTest, UpdatesOfOtherSyntaxesAreHeldToTheSameRules) {
  const Bytes document = Doc("{}");
  const auto why = [&](std::vector<FieldUpdate> updates) {
    const Result<Bytes> updated = ApplyUpdates(DocumentView(document), updates);
    EXPECT_EQ(CheckUpdates(updates).has_value(), updated.has_value());
    return updated.has_value() ? "" : updated.error().ToString();
  };
  EXPECT_EQ(why({{Op::kSet, Path("a[*]"), Doc("1")}}),
            "invalid_argument: an update is of one value; [*] has no meaning here (path=a[*])");
  EXPECT_EQ(why({{Op::kIncrement, Path("a"), Doc("\"1\"")}}), "invalid_argument: an increment is a number (path=a)");
  EXPECT_EQ(why({{Op::kAppend, Path("a"), Doc("1")}}),
            "invalid_argument: what is appended or prepended is a list (path=a)");
  EXPECT_EQ(why({{Op::kPrepend, Path("a"), Doc("{}")}}),
            "invalid_argument: what is appended or prepended is a list (path=a)");
  EXPECT_EQ(why({{Op::kAddToSet, Path("a"), Doc("[1]")}}),
            "invalid_argument: what is added to a set or removed from it is a set (path=a)");
  EXPECT_EQ(why({{Op::kRemoveFromSet, Path("a"), Doc("1")}}),
            "invalid_argument: what is added to a set or removed from it is a set (path=a)");
  std::vector<FieldUpdate> many;
  for (size_t i = 0; i <= kMaxUpdates; ++i) many.push_back({Op::kRemove, Path("a" + std::to_string(i))});
  EXPECT_EQ(why(many), "too_large: there are too many updates (limit=max_updates, at_most=300)");
  many.pop_back();
  EXPECT_EQ(why(many), "");
}

TEST(UpdateTest, ADocumentDoesNotBecomeTooDeep) {
  const auto lists = [](size_t levels) { return Repeated("[", levels) + Repeated("]", levels); };
  const std::string document = R"({"a":{"l":[]}})";
  const std::string too_deep = "too_large: the document would have too many levels (path=";
  EXPECT_EQ(Updated(document, R"({"set":{"a.b":)" + lists(62) + "}}"), R"({"a":{"b":)" + lists(62) + R"(,"l":[]}})");
  EXPECT_THAT(Updated(document, R"({"set":{"a.b":)" + lists(63) + "}}"), testing::StartsWith(too_deep + "a.b"));
  EXPECT_EQ(Updated(document, R"({"append":{"a.l":)" + lists(62) + "}}"), R"({"a":{"l":)" + lists(62) + "}}");
  EXPECT_THAT(Updated(document, R"({"append":{"a.l":)" + lists(63) + "}}"), testing::StartsWith(too_deep + "a.l"));
  EXPECT_THAT(Updated(document, R"({"set_if_missing":{"a.l[0]":)" + lists(62) + "}}"),
              testing::StartsWith(too_deep + "a.l[0]"));
  EXPECT_THAT(Updated(document, R"({"prepend":{"x":)" + lists(64) + "}}"), testing::StartsWith(too_deep + "x"));
}

TEST(UpdateJsonTest, EveryOperationIsRead) {
  const std::vector<FieldUpdate> updates = Updates(
      R"({"set":{"a.b":1,"c":null},"set_if_missing":{"d":"x"},"remove":["e[0]","`f g`"],"increment":{"h":-1.5},)"
      R"("append":{"i":[1]},"prepend":{"j":[]},"add_to_set":{"k":{"$set":["x"]}},"remove_from_set":{"l":{"$set":[1]}}})");
  const std::vector<FieldUpdate> expected = {{Op::kSet, Path("a.b"), Doc("1")},
                                             {Op::kSet, Path("c"), Doc("null")},
                                             {Op::kSetIfMissing, Path("d"), Doc("\"x\"")},
                                             {Op::kRemove, Path("e[0]")},
                                             {Op::kRemove, Path("`f g`")},
                                             {Op::kIncrement, Path("h"), Doc("-1.5")},
                                             {Op::kAppend, Path("i"), Doc("[1]")},
                                             {Op::kPrepend, Path("j"), Doc("[]")},
                                             {Op::kAddToSet, Path("k"), Doc(R"({"$set":["x"]})")},
                                             {Op::kRemoveFromSet, Path("l"), Doc(R"({"$set":[1]})")}};
  EXPECT_TRUE(updates == expected);
  EXPECT_TRUE(Updates("{}").empty());
}

TEST(UpdateJsonTest, WhatIsWrongIsSaidWithItsPlace) {
  const auto says = [](std::string_view json, std::string_view why, std::string_view field) {
    JsonReader reader(json);
    ReadUpdates(reader);
    const Status read = reader.Finish();
    ASSERT_FALSE(read.has_value()) << json;
    EXPECT_THAT(std::string(read.error().text()), testing::HasSubstr(why)) << json;
    EXPECT_EQ(read.error().field("field"), field) << json;
  };
  says("[]", "an object was expected", "");
  says(R"({"put":{}})", "there is no such field", "put");
  says(R"({"set":[]})", "an object was expected", "set");
  says(R"({"set":{},"set":{}})", "the name is there twice", "set");
  says(R"({"set":{"a":1,"a":2}})", "the name is there twice", "set.a");
  says(R"({"remove":{"a":1}})", "an array was expected", "remove");
  says(R"({"remove":["a",1]})", "a text was expected", "remove[1]");
  says(R"({"remove":["a",".b"]})", "a name was expected", "remove[1]");
  says(R"({"set":{"a b":1}})", "goes on with . or [", "set.a b");
  says(R"({"set":{"a[*]":1}})", "[*] has no meaning here", "set.a[*]");
  says(R"({"set":{"a":{"$set":[]}}})", "a set has elements", "set.a.$set");
  says(R"({"set":{"a":1E126}})", Decimal::kTooLarge, "set.a");
  says(R"({"increment":{"a":"1"}})", "an increment is a number", "increment.a");
  says(R"({"append":{"a":1}})", "what is appended or prepended is a list", "append.a");
  says(R"({"prepend":{"a":{}}})", "what is appended or prepended is a list", "prepend.a");
  says(R"({"add_to_set":{"a":["x"]}})", "what is added to a set or removed from it is a set", "add_to_set.a");
  says(R"({"remove_from_set":{"a":"x"}})", "what is added to a set or removed from it is a set", "remove_from_set.a");
  std::string many = R"({"remove":["a")";
  for (int i = 0; i < 300; ++i) many += ",\"a" + std::to_string(i) + "\"";
  says(many + "]}", "there are too many updates", "remove[300]");
  const auto refused = [](std::string_view json) {
    JsonReader reader(json);
    ReadUpdates(reader);
    return reader.Finish().error().ToString();
  };
  EXPECT_THAT(refused(R"({"remove":["a","b.1"]})"), testing::EndsWith("(field=remove[1], path=b.1, position=2)"))
      << "the position in the path";
  EXPECT_EQ(refused(many + "]}"),
            "too_large: there are too many updates (field=remove[300], limit=max_updates, at_most=300)");
}

TEST(UpdateTest, WideAndDeepDocumentsTakeTimeInProportion) {
  Bytes bytes;
  DocumentWriter writer(&bytes);
  std::string path = "m";
  writer.BeginMap().Name("m");
  for (int level = 0; level < 29; ++level) {
    writer.BeginMap().Name("m");
    path += ".m";
  }
  writer.BeginMap();
  for (int i = 0; i < 10'000; ++i) writer.Name("field" + std::to_string(i)).Int(i);
  writer.Name("list").BeginList();
  for (int i = 0; i < 10'000; ++i) writer.Int(i);
  writer.EndList().EndMap();
  for (int level = 0; level < 30; ++level) writer.EndMap();
  ASSERT_TRUE(CheckDocument(bytes).has_value());
  std::vector<FieldUpdate> updates;
  for (int i = 0; i < 150; ++i) {
    updates.push_back({Op::kIncrement, Path(path + ".field" + std::to_string(i * 60)), Doc("1")});
    updates.push_back({Op::kRemove, Path(path + ".list[" + std::to_string(i * 60) + "]")});
  }
  const Result<Bytes> updated = ApplyUpdates(DocumentView(bytes), updates);
  ASSERT_TRUE(updated.has_value()) << updated.error();
  EXPECT_TRUE(CheckDocument(*updated).has_value());
  EXPECT_EQ(Path(path + ".list").Find(DocumentView(*updated))->size(), 9'850u);
  EXPECT_EQ(Path(path + ".field60").Find(DocumentView(*updated))->Number(), Decimal::FromInt(61));
}

// The obvious way to do it: over a tree, where elements that are removed keep their places to the end. Nothing when it
// is refused.
bool ApplyToLeaf(const FieldUpdate& update, bool is_there, Tree* to) {
  const DocumentView value(update.value);
  const Tree tree = update.op == Op::kRemove ? Tree() : Tree::Of(value);
  const auto elements = [](const Tree& set) {
    std::set<Bytes> all;
    DocumentView(set.leaf).ForEachElement([&](const DocumentView& element) { all.emplace(element.bytes()); });
    return all;
  };
  if (update.op == Op::kRemove || (update.op == Op::kRemoveFromSet && !is_there)) {
    to->removed = true;
    return true;
  }
  if (update.op == Op::kSetIfMissing && is_there) return true;
  if (update.op == Op::kSet || !is_there) {
    *to = tree;
    return true;
  }
  const Bytes old_value = to->ToBytes();
  if (DocumentView(old_value).kind() != value.kind()) return false;
  if (update.op == Op::kIncrement) {
    const Result<Decimal> sum = Decimal::Sum(DocumentView(old_value).Number(), value.Number());
    if (!sum.has_value()) return false;
    to->leaf.clear();
    DocumentWriter(&to->leaf).Number(*sum);
  } else if (update.op == Op::kAppend || update.op == Op::kPrepend) {
    to->elements.insert(update.op == Op::kAppend ? to->elements.end() : to->elements.begin(), tree.elements.begin(),
                        tree.elements.end());
  } else {
    std::set<Bytes> all = elements(*to);
    for (const Bytes& element : elements(tree)) {
      if (update.op == Op::kAddToSet) all.insert(element);
      if (update.op == Op::kRemoveFromSet) all.erase(element);
    }
    to->leaf.clear();
    to->removed = all.empty();
    DocumentWriter writer(&to->leaf);
    writer.BeginSet();
    for (const Bytes& element : all) writer.Copy(DocumentView(element));
    writer.EndSet();
  }
  return true;
}

bool ApplyToTree(const FieldUpdate& update, Tree* root) {
  const bool only_removes = update.op == Op::kRemove || update.op == Op::kRemoveFromSet;
  Tree* at = root;
  const auto& steps = update.path.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool by_name = steps[i].kind == DocumentPath::Step::Kind::kName;
    if (at->kind != (by_name ? Tree::Kind::kMap : Tree::Kind::kList)) return only_removes;
    const bool is_there = by_name ? at->fields.contains(steps[i].name) : steps[i].index < at->elements.size();
    const bool is_last = i + 1 == steps.size();
    if (!is_there && (!is_last || only_removes)) return only_removes;
    if (by_name) {
      at = &at->fields[steps[i].name];
    } else {
      if (!is_there) at->elements.emplace_back();
      at = &at->elements[std::min<size_t>(steps[i].index, at->elements.size() - 1)];
    }
    if (is_last) return ApplyToLeaf(update, is_there, at);
  }
  return false;
}

std::optional<Bytes> Reference(const Bytes& document, std::vector<FieldUpdate> updates) {
  std::ranges::sort(updates, {}, &FieldUpdate::path);
  for (size_t i = 1; i < updates.size(); ++i) {
    if (!CheckApart(updates[i - 1].path, updates[i].path).has_value()) return std::nullopt;
  }
  Tree tree = Tree::Of(DocumentView(document));
  for (const FieldUpdate& update : updates) {
    if (!ApplyToTree(update, &tree)) return std::nullopt;
  }
  return tree.ToBytes();
}

// Mostly along what is there.
DocumentPath AnyPathInto(const Tree& tree) {
  std::vector<DocumentPath::Step> steps;
  const Tree* at = &tree;
  while (true) {
    const bool by_name = steps.empty() || at == nullptr || at->kind != Tree::Kind::kList || AnyBelow(20) == 0;
    if (by_name) {
      steps.push_back(
          {DocumentPath::Step::Kind::kName, *rc::gen::element<std::string>("a", "b", "c", "aa", "x y", "")});
    } else {
      steps.push_back({DocumentPath::Step::Kind::kIndex, "", static_cast<uint32_t>(AnyBelow(5))});
    }
    if (at != nullptr && by_name) {
      const auto found = at->fields.find(steps.back().name);
      at = found == at->fields.end() ? nullptr : &found->second;
    } else if (at != nullptr) {
      at = steps.back().index < at->elements.size() ? &at->elements[steps.back().index] : nullptr;
    }
    const bool goes_on = at != nullptr && at->kind != Tree::Kind::kLeaf ? AnyBelow(3) != 0 : AnyBelow(12) == 0;
    if (!goes_on || steps.size() == 5) return *DocumentPath::Of(std::move(steps));
  }
}

FieldUpdate AnyUpdate(const Tree& tree) {
  const auto op = static_cast<Op>(AnyBelow(8));
  const auto value = [&] {
    switch (op) {
      case Op::kRemove:
        return Bytes();
      case Op::kIncrement:
        return Doc(*rc::gen::element<std::string>("1", "-1", "2.5", "1E-20"));
      case Op::kAppend:
      case Op::kPrepend:
        return Doc("[" + AnyJson(1) + "," + AnyJson(1) + "]");
      case Op::kAddToSet:
      case Op::kRemoveFromSet:
        return Doc(*rc::gen::element<std::string>(R"({"$set":["a"]})", R"({"$set":["a","b","z"]})", R"({"$set":[1,7]})",
                                                  R"({"$set":[1,2.5]})"));
      default:
        return Doc(AnyJson(2));
    }
  };
  return {op, AnyPathInto(tree), value()};
}

RC_GTEST_PROP(UpdatePropertyTest, UpdatesAreWhatTheyAreOverATree, ()) {
  const Bytes document = Doc("{\"a\":" + AnyJson(3) + ",\"b\":" + AnyJson(3) + ",\"aa\":" + AnyJson(1) + "}");
  const Tree tree = Tree::Of(DocumentView(document));
  std::vector<FieldUpdate> updates;
  for (int left = 1 + AnyBelow(4); left > 0; --left) updates.push_back(AnyUpdate(tree));
  const Result<Bytes> updated = ApplyUpdates(DocumentView(document), updates);
  const std::optional<Bytes> expected = Reference(document, updates);
  RC_ASSERT(updated.has_value() == expected.has_value());
  if (!updated.has_value()) return;
  RC_ASSERT(CheckDocument(*updated).has_value());
  RC_ASSERT(*updated == *expected);
}

}  // namespace
}  // namespace kvarts
