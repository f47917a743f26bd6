#include "kvarts/document.h"

#include <charconv>

#include "api/access.h"
#include "document/condition.h"
#include "document/items.h"
#include "document/path.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

// The value at a path of a document. What is no path leads nowhere.
std::optional<DocumentView> Find(const Document& document, std::string_view path) {
  if (!document.status().has_value()) return std::nullopt;
  const DocumentView whole(document.bytes());
  if (path.empty()) return whole;
  const Result<DocumentPath> parsed = DocumentPath::Parse(path);
  if (!parsed.has_value()) return std::nullopt;
  return parsed->Find(whole);
}

std::optional<DocumentView> Find(const Document& document, std::string_view path, DocumentKind kind) {
  const std::optional<DocumentView> found = Find(document, path);
  return found && found->kind() == kind ? found : std::nullopt;
}

}  // namespace

// Writes a document and holds it against the rules, which are the caller's to keep.
struct DocumentAccess::Maker {
  std::string bytes;
  Status wrong;

  void Add(const Item& value, DocumentWriter* writer) {
    if (wrong.has_value()) wrong = WriteItem(value, writer);
  }
  Document Finish() && {
    if (wrong.has_value()) {
      if (const Status checked = CheckDocument(bytes); !checked.has_value()) {
        wrong = Error(ErrorCode::kInvalidArgument, "no document can hold these values",
                      {{"why", checked.error().ToString()}});
      }
    }
    Document made(Document::Encoded{}, {}, 0, 0);
    if (wrong.has_value()) {
      made.size_ = bytes.size();
      made.memory_ = std::move(bytes);
    } else {
      made.error_ = std::make_shared<const Error>(wrong.error());
    }
    return made;
  }
};

Document DocumentAccess::Of(std::string memory, size_t from, size_t size) {
  return Document(Document::Encoded{}, std::move(memory), from, size);
}

Document DocumentAccess::Of(std::string document) {
  const size_t size = document.size();
  return Document(Document::Encoded{}, std::move(document), 0, size);
}

Document::Document(std::initializer_list<Field> fields) {
  DocumentAccess::Maker maker;
  DocumentWriter writer(&maker.bytes);
  writer.BeginMap();
  for (const Field& field : fields) {
    maker.Add(field.value, &writer.Name(field.name));
  }
  writer.EndMap();
  *this = std::move(maker).Finish();
}

Document Document::List(std::initializer_list<Item> elements) {
  DocumentAccess::Maker maker;
  DocumentWriter writer(&maker.bytes);
  writer.BeginList();
  for (const Item& element : elements) maker.Add(element, &writer);
  writer.EndList();
  return std::move(maker).Finish();
}

Document Document::Set(std::initializer_list<Item> elements) {
  DocumentAccess::Maker maker;
  DocumentWriter writer(&maker.bytes);
  writer.BeginSet();
  for (const Item& element : elements) maker.Add(element, &writer);
  if (maker.wrong.has_value() && writer.IsNoSet()) {
    maker.wrong = Error(ErrorCode::kInvalidArgument, "a set has at least one element, and none twice");
  }
  if (maker.wrong.has_value()) writer.EndSet();
  return std::move(maker).Finish();
}

Document Document::Of(const Item& value) {
  DocumentAccess::Maker maker;
  DocumentWriter writer(&maker.bytes);
  maker.Add(value, &writer);
  return std::move(maker).Finish();
}

Result<Document> Document::FromJson(std::string_view json) {
  KVARTS_TRY(std::string bytes, DocumentFromJson(json));
  return DocumentAccess::Of(std::move(bytes));
}

std::string Document::ToJson() const { return error_ == nullptr ? DocumentToJson(DocumentView(bytes())) : "null"; }

std::string_view Document::kind() const {
  return DocumentKindName(error_ == nullptr ? DocumentView(bytes()).kind() : DocumentKind::kNull);
}

size_t Document::size() const {
  const std::optional<DocumentView> whole = Find(*this, {});
  return whole && whole->kind() >= DocumentKind::kList ? whole->size() : 0;
}

std::vector<std::string> Document::names() const {
  std::vector<std::string> names;
  const std::optional<DocumentView> map = Find(*this, {}, DocumentKind::kMap);
  if (map) map->ForEachField([&](std::string_view name, const DocumentView&) { names.emplace_back(name); });
  return names;
}

bool Document::Has(std::string_view path) const { return Find(*this, path).has_value(); }

std::optional<std::string_view> Document::Text(std::string_view path) const {
  const auto found = Find(*this, path, DocumentKind::kText);
  return found ? std::optional(found->Text()) : std::nullopt;
}

std::optional<std::string_view> Document::Bytes(std::string_view path) const {
  const auto found = Find(*this, path, DocumentKind::kBinary);
  return found ? std::optional<std::string_view>(found->Binary()) : std::nullopt;
}

std::optional<bool> Document::Bool(std::string_view path) const {
  const auto found = Find(*this, path, DocumentKind::kBool);
  return found ? std::optional(found->Bool()) : std::nullopt;
}

std::optional<int64_t> Document::Int(std::string_view path) const {
  const auto found = Find(*this, path, DocumentKind::kNumber);
  return found ? found->Number().ToInt() : std::nullopt;
}

std::optional<std::string> Document::Decimal(std::string_view path) const {
  const auto found = Find(*this, path, DocumentKind::kNumber);
  return found ? std::optional(found->Number().ToString()) : std::nullopt;
}

std::optional<double> Document::Double(std::string_view path) const {
  const std::optional<std::string> digits = Decimal(path);
  if (!digits) return std::nullopt;
  double value = 0;
  std::from_chars(digits->data(), digits->data() + digits->size(), value);
  return value;
}

std::optional<Timestamp> Document::Time(std::string_view path) const {
  const auto text = Text(path);
  return text ? Timestamp::Parse(*text) : std::nullopt;
}

std::optional<Document> Document::At(std::string_view path) const {
  const auto found = Find(*this, path);
  return found ? std::optional(DocumentAccess::Of(std::string(found->bytes()))) : std::nullopt;
}

}  // namespace kvarts
