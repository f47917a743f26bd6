// Any text is refused as a schema, or is one that reads the same again; any document is held against it in so many
// steps, and what is told of it is a place that is there. The first line is the schema, the rest the document, in JSON
// or as it is stored.
// links: kvarts_document
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/utf8.h"
#include "document/schema.h"
#include "encoding/document_json.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

std::string Unescaped(std::string_view token) {
  std::string plain;
  for (size_t i = 0; i < token.size(); ++i) {
    plain.push_back(token[i] != '~' ? token[i] : token[++i] == '0' ? '~' : '/');
  }
  return plain;
}

bool IsPlace(DocumentView value, std::string_view pointer) {
  while (!pointer.empty()) {
    if (!pointer.starts_with('/')) return false;
    pointer.remove_prefix(1);
    const std::string token = Unescaped(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(std::min(pointer.find('/'), pointer.size()));
    std::optional<DocumentView> next;
    if (value.kind() == DocumentKind::kMap) {
      next = value.Find(token);
    } else if (value.kind() >= DocumentKind::kList) {
      size_t index = SIZE_MAX;
      std::from_chars(token.data(), token.data() + token.size(), index);
      next = value.At(index);
    }
    if (!next) return false;
    value = *next;
  }
  return true;
}

void ExpectSoundly(const DocumentView& document, const Error& error) {
  if (error.code() == ErrorCode::kTooLarge) {
    Expect(error.field("limit").starts_with("max_schema_"), "a limit has a name");
    return;
  }
  Expect(error.code() == ErrorCode::kInvalidArgument, "a document follows a schema, or does not");
  const std::string_view path = error.field("path");
  Expect(path.ends_with("…") || IsPlace(document, path), "a failure is in the document");
  Expect(!error.field("keyword").empty() && !error.field("expected").empty(), "it is known what was expected");
  for (const Error::Field& field : error.fields()) Expect(IsUtf8(field.second), "what is told is text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const BytesView rest = input.substr(std::min(line + 1, input.size()));
  const Result<DocumentSchema> schema = DocumentSchema::Parse(input.substr(0, line));
  if (!schema.has_value()) {
    const ErrorCode code = schema.error().code();
    Expect(code == ErrorCode::kInvalidArgument || code == ErrorCode::kTooLarge, "a text is a schema, or is not");
    for (const Error::Field& field : schema.error().fields()) Expect(IsUtf8(field.second), "what is told is text");
    return 0;
  }
  const Result<DocumentSchema> again = DocumentSchema::Parse(schema->text());
  Expect(again.has_value() && *again == *schema, "the text of a schema is that schema");
  const Result<Bytes> read = DocumentFromJson(rest);
  if (!read.has_value() && !CheckDocument(rest).has_value()) return 0;
  const DocumentView document(read.has_value() ? BytesView(*read) : rest);
  const Status checked = schema->Check(document);
  if (!checked.has_value()) ExpectSoundly(document, checked.error());
  const Status once_more = again->Check(document);
  Expect(checked.has_value() == once_more.has_value(), "a check says the same again");
  if (!checked.has_value()) {
    Expect(checked.error().ToString() == once_more.error().ToString(), "a check says the same again");
  }
  return 0;
}
