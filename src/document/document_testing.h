// For tests: documents from JSON, random ones, and trees of them, which are the obvious way to do what the code under
// test does over bytes.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/path.h"
#include "encoding/document_json.h"
#include "encoding/document_writer.h"

namespace kvarts {

inline Bytes Doc(std::string_view json) {
  const Result<Bytes> bytes = DocumentFromJson(json);
  EXPECT_TRUE(bytes.has_value()) << json << ": " << bytes.error();
  return bytes.has_value() ? *bytes : "\xf6";
}

inline DocumentPath Path(std::string_view text) {
  Result<DocumentPath> path = DocumentPath::Parse(text, DocumentPath::Each::kAllowed);
  EXPECT_TRUE(path.has_value()) << text << ": " << path.error();
  return path.has_value() ? *std::move(path) : *DocumentPath::Parse("wrong");
}

inline std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// A map or a list, or anything else as bytes.
struct Tree {
  enum class Kind : uint8_t { kLeaf, kMap, kList };
  Kind kind = Kind::kLeaf;
  Bytes leaf = {};
  std::map<std::string, Tree> fields = {};
  std::vector<Tree> elements = {};
  bool removed = false;  // it is not written

  static Tree Of(const DocumentView& document) {
    Tree tree;
    if (document.kind() == DocumentKind::kMap) {
      tree.kind = Kind::kMap;
      document.ForEachField(
          [&](std::string_view name, const DocumentView& value) { tree.fields.emplace(name, Of(value)); });
    } else if (document.kind() == DocumentKind::kList) {
      tree.kind = Kind::kList;
      document.ForEachElement([&](const DocumentView& element) { tree.elements.push_back(Of(element)); });
    } else {
      tree.leaf = document.bytes();
    }
    return tree;
  }

  void WriteTo(DocumentWriter* to) const {
    if (kind == Kind::kLeaf) {
      to->Copy(DocumentView(leaf));
    } else if (kind == Kind::kMap) {
      to->BeginMap();
      for (const auto& [name, value] : fields) {
        if (!value.removed) value.WriteTo(&to->Name(name));
      }
      to->EndMap();
    } else {
      to->BeginList();
      for (const Tree& element : elements) {
        if (!element.removed) element.WriteTo(to);
      }
      to->EndList();
    }
  }

  Bytes ToBytes() const {
    Bytes bytes;
    DocumentWriter writer(&bytes);
    WriteTo(&writer);
    return bytes;
  }
};

// Each as often as any other, whatever size is asked for.
inline int AnyBelow(int end) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, end)); }

// Few names and values, so that documents meet: as JSON.
inline std::string AnyJson(int depth) {
  const int kind = AnyBelow(depth > 0 ? 12 : 7);
  const auto name = [] { return *rc::gen::element<std::string>("a", "b", "c", "aa", "x y", ""); };
  switch (kind) {
    case 0:
      return "null";
    case 1:
      return *rc::gen::element<std::string>("true", "false");
    case 2:
      return *rc::gen::element<std::string>("0", "1", "-1", "2.5", "1E+30", "18446744073709551616");
    case 3:
      return *rc::gen::element<std::string>(R"("")", R"("a")", R"("ab")", R"("é")");
    case 4:
      return *rc::gen::element<std::string>(R"({"$binary":""})", R"({"$binary":"YQ=="})");
    case 5:
      return *rc::gen::element<std::string>(R"({"$set":["a"]})", R"({"$set":["a","b"]})", R"({"$set":["b","c"]})");
    case 6:
      return *rc::gen::element<std::string>(R"({"$set":[1]})", R"({"$set":[1,2.5]})",
                                            R"({"$set":[{"$binary":"YQ=="}]})");
    case 7:
    case 8: {
      std::string list = "[";
      for (int left = AnyBelow(4); left > 0; --left) {
        list += (list.size() > 1 ? "," : "") + AnyJson(depth - 1);
      }
      return list + "]";
    }
    default: {
      std::map<std::string, std::string> fields;
      for (int left = AnyBelow(4); left > 0; --left) fields[name()] = AnyJson(depth - 1);
      std::string map = "{";
      for (const auto& [its, value] : fields) map += (map.size() > 1 ? ",\"" : "\"") + its + "\":" + value;
      return map + "}";
    }
  }
}

}  // namespace kvarts
