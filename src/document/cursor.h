// DocumentCursor: goes through a document from front to back, once. Whoever merges documents, or changes one on the way
// down, reads every byte of it a fixed number of times, however deep it is: the loops of DocumentView would go over
// what is inside again on every level.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoding/cbor.h"
#include "encoding/document.h"

namespace kvarts {

class DocumentCursor {
 public:
  explicit DocumentCursor(const DocumentView& document) : rest_(document.bytes()) {}

  // The value that comes next.
  DocumentView value() const { return DocumentView(rest_); }
  DocumentKind kind() const { return value().kind(); }
  void Skip() { cbor::Skip(&rest_); }
  // Steps into it, a list, map or set: how many elements or fields come.
  uint64_t Open() {
    cbor::Head head = TakeHead();
    if (head.major == cbor::Major::kTag) head = TakeHead();
    return head.argument;
  }
  // Of a field, before its value.
  std::string_view TakeName() { return cbor::TakeString(&rest_); }

 private:
  cbor::Head TakeHead() {
    const cbor::Head head = cbor::ReadHead(rest_);
    rest_.remove_prefix(head.size);
    return head;
  }

  BytesView rest_;
};

inline bool IsSet(DocumentKind kind) { return kind >= DocumentKind::kTextSet; }

// Whether at most so many lists, maps and sets are inside each other, the value itself among them.
bool HasAtMostLevels(const DocumentView& value, size_t levels);

}  // namespace kvarts
