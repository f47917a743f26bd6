// What a check sees of a document: a value where it lies, and the way from one to the next.
#pragma once

#include "document/schema_program.h"
#include "encoding/document.h"

namespace kvarts {

// At the front of what is left of a document; where it ends need not be known.
struct SchemaValue {
  explicit SchemaValue(BytesView begins_with) : from(begins_with), kind(DocumentView(begins_with).kind()) {}

  DocumentView view() const { return DocumentView(from); }
  bool IsSet() const { return kind >= DocumentKind::kTextSet; }
  bool HasElements() const { return kind == DocumentKind::kList || IsSet(); }
  // The bits of the types it is of: a whole number is of two.
  uint32_t Types() const;

  BytesView from;
  DocumentKind kind;
};

// Takes the head of a list, map or set off the front; how many are in it.
uint64_t TakeCount(BytesView* from);
// Takes the value off the front; how many there were in it, names included, at all depths.
uint64_t SkipCounting(BytesView* from);

// Of a text that is UTF-8.
uint64_t CountCharacters(std::string_view text);

}  // namespace kvarts
