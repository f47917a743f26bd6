#include "encoding/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "encoding/document_json.h"
#include "encoding/document_writer.h"
#include "support/format_table.h"

namespace kvarts {
namespace {

using testing::ElementsAre;
using testing::Pair;

Bytes Of(std::string_view json) {
  const Result<Bytes> bytes = DocumentFromJson(json);
  EXPECT_TRUE(bytes.has_value()) << json << ": " << bytes.error();
  return bytes.value_or("");
}

std::string ErrorOf(std::string_view json) {
  const Result<Bytes> bytes = DocumentFromJson(json);
  return bytes.has_value() ? "fine" : bytes.error().ToString();
}

Bytes HexCell(std::string cell) {
  cell = WithoutTicks(cell);
  std::erase(cell, ' ');
  return *FromHex(cell);
}

TEST(DocumentFormatTest, EveryVectorIsReadAndWrittenAsItStands) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of documents")) {
    const std::string json = row.at(0).substr(1, row.at(0).size() - 2);
    const Bytes bytes = HexCell(row.at(1));
    EXPECT_EQ(ToHex(Of(json)), ToHex(bytes)) << json;
    EXPECT_TRUE(CheckDocument(bytes).has_value()) << json;
    EXPECT_EQ(ToHex(Of(DocumentToJson(DocumentView(bytes)))), ToHex(bytes)) << json;
  }
}

TEST(DocumentFormatTest, WhatIsRefusedIsRefusedForThatReason) {
  for (const FormatRow& row : FormatTableUnder("### Refused as documents")) {
    const Status checked = CheckDocument(HexCell(row.at(0)));
    ASSERT_FALSE(checked.has_value()) << row.at(0);
    EXPECT_EQ(checked.error().code(), ErrorCode::kCorruption);
    EXPECT_EQ(checked.error().field("why"), row.at(1)) << row.at(0);
  }
}

TEST(DocumentTest, AMapIsReadFieldByField) {
  const Bytes bytes = Of(R"({"name":"Ada","age":36,"tags":{"$set":["b","a"]},"none":null,"list":[1,"two",[3]]})");
  const DocumentView document(bytes);
  EXPECT_EQ(document.kind(), DocumentKind::kMap);
  EXPECT_EQ(document.size(), 5u);
  EXPECT_EQ(document.Find("name")->Text(), "Ada");
  EXPECT_EQ(document.Find("age")->Number(), Decimal::FromInt(36));
  EXPECT_EQ(document.Find("none")->kind(), DocumentKind::kNull);
  EXPECT_EQ(document.Find("tags")->kind(), DocumentKind::kTextSet);
  EXPECT_EQ(document.Find("list")->At(2)->At(0)->Number(), Decimal::FromInt(3));
  EXPECT_FALSE(document.Find("list")->At(3).has_value());
  for (const char* absent : {"", "a", "nam", "names", "zzzzzzz"}) EXPECT_FALSE(document.Find(absent).has_value());
  std::vector<std::string> names;
  document.ForEachField([&](std::string_view name, const DocumentView&) { names.emplace_back(name); });
  EXPECT_THAT(names, ElementsAre("age", "list", "name", "none", "tags"));
  std::vector<std::string> tags;
  document.Find("tags")->ForEachElement([&](const DocumentView& tag) { tags.emplace_back(tag.Text()); });
  EXPECT_THAT(tags, ElementsAre("a", "b"));
}

TEST(DocumentTest, APartIsADocument) {
  const Bytes bytes = Of(R"({"a":{"b":[1,2]},"c":3})");
  const DocumentView part = *DocumentView(bytes).Find("a");
  EXPECT_EQ(ToHex(part.bytes()), ToHex(Of(R"({"b":[1,2]})")));
  EXPECT_TRUE(CheckDocument(part.bytes()).has_value());
  Bytes copy;
  DocumentWriter(&copy).BeginMap().Name("z").Copy(part).Name("y").Copy(*part.Find("b")).EndMap();
  EXPECT_EQ(DocumentToJson(DocumentView(copy)), R"({"y":[1,2],"z":{"b":[1,2]}})");
}

TEST(DocumentTest, OrderIsByKindThenByValue) {
  const std::vector<std::string> ascending = {"null",
                                              "false",
                                              "true",
                                              "-1e30",
                                              "-2",
                                              "-1.5",
                                              "0",
                                              "0.001",
                                              "1",
                                              "1.25",
                                              "18446744073709551616",
                                              R"("")",
                                              R"("B")",
                                              R"("a")",
                                              R"("ab")",
                                              R"({"$binary":""})",
                                              R"({"$binary":"AQ=="})",
                                              "[]",
                                              "[1]",
                                              "[1,2]",
                                              "[2]",
                                              R"({"a":1})",
                                              R"({"$set":["a"]})",
                                              R"({"$set":[1]})",
                                              R"({"$set":[{"$binary":"AQ=="}]})"};
  for (size_t a = 0; a < ascending.size(); ++a) {
    for (size_t b = 0; b < ascending.size(); ++b) {
      const Bytes left = Of(ascending[a]);
      const Bytes right = Of(ascending[b]);
      EXPECT_EQ(DocumentView(left) <=> DocumentView(right), a <=> b) << ascending[a] << " " << ascending[b];
      EXPECT_EQ(DocumentView(left) == DocumentView(right), a == b);
    }
  }
}

TEST(DocumentTest, HeadsGrowWithWhatIsInThem) {
  for (const size_t count : {0, 23, 24, 255, 256, 65'535, 65'536}) {
    Bytes bytes;
    DocumentWriter writer(&bytes);
    writer.BeginMap().Name("list").BeginList();
    for (size_t i = 0; i < count; ++i) writer.Int(static_cast<int64_t>(i));
    writer.EndList().Name("map").BeginMap();
    for (size_t i = count; i > 0; --i) writer.Name(std::to_string(i)).Bool(true);
    writer.EndMap().EndMap();
    ASSERT_TRUE(CheckDocument(bytes).has_value()) << count;
    EXPECT_EQ(DocumentView(bytes).Find("list")->size(), count);
    EXPECT_EQ(DocumentView(bytes).Find("map")->size(), count);
  }
}

TEST(DocumentTest, DepthIsBounded) {
  const auto nested = [](size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(CheckDocument(Of(nested(kMaxDocumentDepth, "[", "]"))).has_value());
  EXPECT_THAT(ErrorOf(nested(kMaxDocumentDepth + 1, "[", "]")), testing::HasSubstr("at most 64 levels"));
  EXPECT_THAT(ErrorOf(nested(1'000'000, "[", "]")), testing::Not("fine"));
  Bytes deep(kMaxDocumentDepth + 1, '\x81');
  EXPECT_FALSE(CheckDocument(deep + '\x80').has_value());
  EXPECT_FALSE(CheckDocument(Bytes(1'000'000, '\x81')).has_value());
  // Also where every level takes two of JSON's.
  std::string maps = "1";
  for (size_t i = 0; i < kMaxDocumentDepth; ++i) maps = R"({"$map":{"$set":)" + maps + "}}";
  EXPECT_EQ(DocumentToJson(DocumentView(Of(maps))), maps);
}

// Everything that is in it, as far as it goes.
size_t Walked(const DocumentView& document) {
  size_t values = 1;
  EXPECT_EQ(document <=> document, std::strong_ordering::equal);
  static_cast<void>(document.Bool());
  static_cast<void>(document.Number());
  switch (document.kind()) {
    case DocumentKind::kText:
    case DocumentKind::kBinary:
      return values + document.Text().size();
    case DocumentKind::kMap:
      static_cast<void>(document.Find("zzzzzzzzz"));
      document.ForEachField([&](std::string_view, const DocumentView& field) { values += Walked(field); });
      return values;
    case DocumentKind::kNull:
    case DocumentKind::kBool:
    case DocumentKind::kNumber:
      return values;
    default:
      static_cast<void>(document.At(document.size() - 1));
      document.ForEachElement([&](const DocumentView& element) { values += Walked(element); });
      return values;
  }
}

// Bytes that nobody has checked are no document, and nothing is read behind them. Each stands in a block of its own,
// whose end a sanitizer watches.
TEST(DocumentTest, OfBytesThatAreNoneNothingBehindThemIsRead) {
  const Bytes whole =
      Of(R"({"name":"Ada","n":-1.5,"big":123456789012345678901,"list":[1,"two",[3,{"a":{"$binary":"AQ=="}}]],
                             "sets":[{"$set":["a","b"]},{"$set":[1,2]}],"text":"more than twenty-four bytes of text"})");
  const auto walk = [](const Bytes& bytes) {
    const std::unique_ptr<char[]> block(new char[bytes.size()]);
    std::ranges::copy(bytes, block.get());
    const DocumentView view(BytesView(block.get(), bytes.size()));
    EXPECT_LE(view.bytes().size(), bytes.size());
    EXPECT_GT(Walked(view), 0u);
    EXPECT_FALSE(DocumentToJson(view).empty());
  };
  for (size_t size = 0; size < whole.size(); ++size) walk(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      Bytes damaged = whole;
      damaged[at] = static_cast<char>(byte);
      walk(damaged);
      walk(damaged.substr(0, at + 1));
    }
  }
  // Lengths that no memory has.
  for (const char* head : {"5b", "7b", "9b", "bb", "d901029b"})
    walk(*FromHex(std::string(head) + "ffffffffffffffff6161"));
}

TEST(DocumentJsonTest, NumbersKeepTheirDigits) {
  for (const char* number : {"0", "-1", "9223372036854775808", "0.1", "12345678901234567890123456789012345678",
                             "1.5E+125", "-1E-130", "0.30000000000000004"}) {
    EXPECT_EQ(DocumentToJson(DocumentView(Of(number))), number);
  }
  EXPECT_EQ(ToHex(Of("1.0")), ToHex(Of("1")));
  EXPECT_EQ(ToHex(Of("1e2")), ToHex(Of("100")));
  EXPECT_EQ(ToHex(Of("-0")), ToHex(Of("0")));
  EXPECT_EQ(ToHex(Of(R"({"$number":"1.50"})")), ToHex(Of("1.5")));
  EXPECT_THAT(ErrorOf("[1E126]"), testing::HasSubstr(Decimal::kTooLarge));
  EXPECT_THAT(ErrorOf("1E-131"), testing::HasSubstr(Decimal::kTooSmall));
  EXPECT_THAT(ErrorOf("123456789012345678901234567890123456789"), testing::HasSubstr(Decimal::kTooManyDigits));
  EXPECT_THAT(ErrorOf(R"({"a":{"$number":"one"}})"), testing::HasSubstr(Decimal::kNotANumber));
}

TEST(DocumentJsonTest, WhatJsonHasNotIsAnObjectWithOneField) {
  for (const char* json :
       {R"({"$binary":""})", R"({"$set":[{"$binary":"AA=="},{"$binary":"AQ=="}]})", R"({"$map":{"$binary":"x"}})",
        R"({"$map":{"a":1,"$map":{"$map":{"$number":"1"}}}})", R"({"$ref":"#/x"})", R"({"$other":1,"a":2})"}) {
    EXPECT_EQ(ToHex(Of(DocumentToJson(DocumentView(Of(json))))), ToHex(Of(json))) << json;
  }
  EXPECT_EQ(DocumentView(Of(R"({"$map":{"$binary":"x"}})")).kind(), DocumentKind::kMap);
  // In an array, where it stands in the place of a map.
  EXPECT_EQ(DocumentToJson(DocumentView(Of(R"([{"$binary":""},{"$set":[2,1]},{}])"))),
            R"([{"$binary":""},{"$set":[1,2]},{}])");
}

TEST(DocumentJsonTest, WhatIsWrongIsSaidWithItsPlace) {
  const auto says = [](std::string_view json, std::string_view why) {
    EXPECT_THAT(ErrorOf(json), testing::HasSubstr(why)) << json;
  };
  says(R"({"$binary":"AA==","a":1})", "has no other field");
  says(R"({"a":1,"$set":[1]})", "has no other field");
  says(R"({"$set":[1],"$map":{}})", "has no other field");
  says(R"({"$set":[]})", "a set has elements, and none twice");
  says(R"({"$set":[1,1.0]})", "a set has elements, and none twice");
  says(R"({"$set":[1,"a"]})", "are of one kind");
  says(R"({"$set":[true]})", "texts, numbers or binaries");
  says(R"({"$set":[{}]})", "texts, numbers or binaries");
  says(R"({"$set":[{"$binary":"","a":1}]})", "texts, numbers or binaries");
  says(R"({"$set":[{"a":1}]})", "texts, numbers or binaries");
  says(R"({"$set":"a"})", "an array was expected");
  says(R"({"$map":1})", "an object was expected");
  says(R"({"$binary":"?"})", "base64");
  says(R"({"x":[0,{"y":1E400}]})", "x[1].y");
  says(R"({"a":1,"a":2})", "twice");
  says("", "");
  says("[1", "");
}

// Random documents, written field by field in any order, are those that are read.
TEST(DocumentTest, WhatIsWrittenInAnyOrderIsTheSame) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    for (size_t i = 0; i < random() % 40; ++i) names.push_back(std::string(random() % 30, 'a') + std::to_string(i));
    const auto write = [&] {
      Bytes bytes;
      DocumentWriter writer(&bytes);
      writer.BeginMap();
      for (const std::string& name : names) {
        writer.Name(name).BeginMap().Name("of").Text(name).Name("a").BeginList().Int(1).EndList().EndMap();
      }
      writer.EndMap();
      return bytes;
    };
    const Bytes first = write();
    std::ranges::shuffle(names, random);
    EXPECT_EQ(ToHex(write()), ToHex(first));
    ASSERT_TRUE(CheckDocument(first).has_value());
    for (const std::string& name : names) EXPECT_EQ(DocumentView(first).Find(name)->Find("of")->Text(), name);
  }
}

}  // namespace
}  // namespace kvarts
