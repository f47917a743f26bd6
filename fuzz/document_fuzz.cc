// Any bytes are refused as a document, or are one: as JSON it is read back as the same bytes, written anew it is the
// same, and everything in it is found. Any text is refused as a document in JSON, or becomes one.
//
// links: kvarts_encoding
#include <cstdint>

#include "encoding/document_json.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

void Rewrite(const DocumentView& value, DocumentWriter* to) {
  switch (value.kind()) {
    case DocumentKind::kNull:
      to->Null();
      return;
    case DocumentKind::kBool:
      to->Bool(value.Bool());
      return;
    case DocumentKind::kNumber:
      to->Number(value.Number());
      return;
    case DocumentKind::kText:
      to->Text(value.Text());
      return;
    case DocumentKind::kBinary:
      to->Binary(value.Binary());
      return;
    case DocumentKind::kMap:
      to->BeginMap();
      value.ForEachField([&](std::string_view name, const DocumentView& field) {
        const auto found = value.Find(name);
        Expect(found && *found == field, "a field is found by its name");
        Rewrite(field, &to->Name(name));
      });
      to->EndMap();
      return;
    case DocumentKind::kList:
      to->BeginList();
      value.ForEachElement([&](const DocumentView& element) { Rewrite(element, to); });
      to->EndList();
      return;
    default:
      to->BeginSet();
      value.ForEachElement([&](const DocumentView& element) { Rewrite(element, to); });
      Expect(!to->IsNoSet(), "a set is one");
      to->EndSet();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  if (const Result<Bytes> read = DocumentFromJson(input)) {
    Expect(CheckDocument(*read).has_value(), "what is read from JSON is a document");
    const Result<Bytes> again = DocumentFromJson(DocumentToJson(DocumentView(*read)));
    Expect(again.has_value() && *again == *read, "JSON that is written is read as the same");
  }
  if (!CheckDocument(input).has_value()) return 0;
  const DocumentView document(input);
  Expect(document.bytes() == input, "a document is all of its bytes");
  Expect(document <=> document == 0, "a document equals itself");
  Bytes written;
  DocumentWriter writer(&written);
  Rewrite(document, &writer);
  Expect(written == input, "there is one encoding");
  const Result<Bytes> back = DocumentFromJson(DocumentToJson(document));
  Expect(back.has_value() && *back == input, "JSON has all of a document");
  return 0;
}
