#include "encoding/document_json.h"

#include <charconv>

#include "base/base64.h"

namespace kvarts {
namespace {

constexpr std::string_view kBinary = "$binary";
constexpr std::string_view kSet = "$set";
constexpr std::string_view kNumber = "$number";
constexpr std::string_view kMap = "$map";

constexpr const char* kNotAlone = "an object with $binary, $set, $number or $map has no other field";

bool IsSpecial(std::string_view name) {
  return name.starts_with('$') && (name == kBinary || name == kSet || name == kNumber || name == kMap);
}

void ReadNumber(JsonReader& json, std::string_view digits, DocumentWriter* to) {
  int64_t integer = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto [behind, error] = std::from_chars(digits.data(), end, integer);
      error == std::errc() && behind == end) {
    to->Int(integer);
    return;
  }
  const Result<Decimal> number = Decimal::Parse(digits);
  if (number.has_value()) {
    to->Number(*number);
  } else {
    json.Require(false, number.error().text().data());  // a constant
  }
}

bool HasRoom(JsonReader& json, const DocumentWriter& to) {
  if (to.depth() < kMaxDocumentDepth) return true;
  json.Refuse(Error(ErrorCode::kTooLarge, "a document has at most 64 levels",
                    {{"limit", "max_document_depth"}, {"at_most", std::to_string(kMaxDocumentDepth)}}));
  return false;
}

void ReadSet(JsonReader& json, DocumentWriter* to) {
  if (!HasRoom(json, *to)) return;
  to->BeginSet();
  std::optional<JsonKind> kind;
  json.Array([&] {
    // A binary is the only object.
    const JsonKind its = json.Peek();
    json.Require(!kind || *kind == its, "the elements of a set are of one kind");
    kind = its;
    if (its == JsonKind::kText) {
      to->Text(json.Text());
    } else if (its == JsonKind::kNumber) {
      ReadNumber(json, json.Number(), to);
    } else {
      bool is_binary = its == JsonKind::kObject;
      size_t fields = 0;
      if (is_binary) {
        json.Object([&](std::string_view name) {
          is_binary = name == kBinary && fields++ == 0;
          if (is_binary) to->Binary(json.Base64());
        });
      }
      json.Require(is_binary && fields == 1, "the elements of a set are texts, numbers or binaries");
    }
  });
  if (!json.ok()) return;
  json.Require(!to->IsNoSet(), "a set has elements, and none twice");
  to->EndSet();
}

// The value of the one field of such an object.
void ReadSpecial(JsonReader& json, std::string_view name, DocumentWriter* to);

void ReadMap(JsonReader& json, bool literally, DocumentWriter* to) {
  if (!HasRoom(json, *to)) return;
  to->BeginMap();
  bool first = true;
  bool special = false;
  json.Object([&](std::string_view name) {
    const bool is_special = !literally && IsSpecial(name);
    json.Require(!special && (first || !is_special), kNotAlone);
    first = false;
    if (!json.ok()) return;
    if (is_special) {
      special = true;
      to->Drop();
      ReadSpecial(json, name, to);
    } else {
      to->Name(name);
      ReadDocument(json, to);
    }
  });
  if (json.ok() && !special) to->EndMap();
}

void ReadSpecial(JsonReader& json, std::string_view name, DocumentWriter* to) {
  if (name == kBinary) {
    to->Binary(json.Base64());
  } else if (name == kSet) {
    ReadSet(json, to);
  } else if (name == kNumber) {
    ReadNumber(json, json.Text(), to);
  } else {
    ReadMap(json, true, to);
  }
}

void WriteMap(const DocumentView& document, JsonWriter* to) {
  bool special = false;
  document.ForEachField([&](std::string_view name, const DocumentView&) { special = special || IsSpecial(name); });
  if (special) to->BeginObject().Name(kMap);
  to->BeginObject();
  document.ForEachField(
      [&](std::string_view name, const DocumentView& value) { WriteDocument(value, &to->Name(name)); });
  to->EndObject();
  if (special) to->EndObject();
}

void WriteNumber(const Decimal& number, JsonWriter* to) {
  if (const std::optional<int64_t> integer = number.ToInt()) {
    to->Number(*integer);
  } else {
    to->Raw(number.ToString());
  }
}

void WriteElements(const DocumentView& document, JsonWriter* to) {
  to->BeginArray();
  document.ForEachElement([&](const DocumentView& element) { WriteDocument(element, to); });
  to->EndArray();
}

}  // namespace

void ReadDocument(JsonReader& json, DocumentWriter* to) {
  switch (json.Peek()) {
    case JsonKind::kObject:
      return ReadMap(json, false, to);
    case JsonKind::kArray:
      if (!HasRoom(json, *to)) return;
      to->BeginList();
      json.Array([&] { ReadDocument(json, to); });
      if (json.ok()) to->EndList();
      return;
    case JsonKind::kText:
      to->Text(json.Text());
      return;
    case JsonKind::kNumber:
      return ReadNumber(json, json.Number(), to);
    case JsonKind::kBool:
      to->Bool(json.Bool());
      return;
    case JsonKind::kNull:
      if (json.TakeNull()) to->Null();
      return;
    case JsonKind::kNone:
      json.Skip();
      return;
  }
}

void WriteDocument(const DocumentView& document, JsonWriter* to) {
  switch (document.kind()) {
    case DocumentKind::kNull:
      to->Null();
      return;
    case DocumentKind::kBool:
      to->Bool(document.Bool());
      return;
    case DocumentKind::kNumber:
      return WriteNumber(document.Number(), to);
    case DocumentKind::kText:
      to->Text(document.Text());
      return;
    case DocumentKind::kBinary:
      to->BeginObject().Field(kBinary, std::string_view(ToBase64(document.Binary()))).EndObject();
      return;
    case DocumentKind::kList:
      return WriteElements(document, to);
    case DocumentKind::kMap:
      return WriteMap(document, to);
    case DocumentKind::kTextSet:
    case DocumentKind::kNumberSet:
    case DocumentKind::kBinarySet:
      to->BeginObject().Name(kSet);
      WriteElements(document, to);
      to->EndObject();
      return;
  }
}

Result<Bytes> DocumentFromJson(std::string_view text) {
  // A level may take two of JSON's.
  JsonReader json(text, {.max_depth = 2 * kMaxDocumentDepth + 2});
  Bytes bytes;
  DocumentWriter writer(&bytes);
  ReadDocument(json, &writer);
  KVARTS_CHECK_OK(json.Finish());
  return bytes;
}

Bytes DocumentToJson(const DocumentView& document) {
  Bytes text;
  JsonWriter writer(&text);
  WriteDocument(document, &writer);
  return text;
}

}  // namespace kvarts
