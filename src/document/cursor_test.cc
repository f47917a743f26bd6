#include "document/cursor.h"

#include <gtest/gtest.h>

#include "document/document_testing.h"

namespace kvarts {
namespace {

TEST(DocumentCursorTest, LevelsAreCounted) {
  const std::vector<std::pair<std::string, size_t>> cases = {{"1", 0},
                                                             {"1.5", 0},
                                                             {"null", 0},
                                                             {R"("x")", 0},
                                                             {"[]", 1},
                                                             {"{}", 1},
                                                             {R"({"$set":[1]})", 1},
                                                             {R"({"$set":[1.5]})", 1},
                                                             {"[1,[2]]", 2},
                                                             {R"({"a":[1.5]})", 2},
                                                             {R"([{"a":{"$set":["x"]}},1])", 3}};
  for (const auto& [json, levels] : cases) {
    const Bytes bytes = Doc(json);
    EXPECT_TRUE(HasAtMostLevels(DocumentView(bytes), levels)) << json;
    EXPECT_TRUE(HasAtMostLevels(DocumentView(bytes), levels + 5)) << json;
    if (levels == 0) continue;
    EXPECT_FALSE(HasAtMostLevels(DocumentView(bytes), levels - 1)) << json;
  }
}

// All of a document is read by stepping into everything that is in it.
void TakeAll(DocumentCursor* from, size_t* scalars) {
  const DocumentKind kind = from->kind();
  if (kind < DocumentKind::kList) {
    from->Skip();
    ++*scalars;
    return;
  }
  for (uint64_t left = from->Open(); left != 0; --left) {
    if (kind == DocumentKind::kMap) from->TakeName();
    TakeAll(from, scalars);
  }
}

TEST(DocumentCursorTest, ItStepsIntoListsMapsAndSets) {
  const Bytes bytes = Doc(R"([1,{"a":[2.5,"x"],"b":{"$set":["p","q"]},"c":{}},[],{"$set":[1.5]}])") + "behind it";
  DocumentCursor cursor{DocumentView(bytes)};
  size_t scalars = 0;
  TakeAll(&cursor, &scalars);
  EXPECT_EQ(scalars, 6u);
}

}  // namespace
}  // namespace kvarts
