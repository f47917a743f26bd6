// Writes a document, in one pass and into one buffer:
//
//   DocumentWriter document(&bytes);
//   document.BeginMap().Name("name").Text("Ada").Name("tags").BeginSet().Text("a").Text("b").EndSet().EndMap();
//
// Fields and elements of sets may come in any order; at the end they are brought into theirs. The caller keeps what
// begins and ends balanced, names unique, and texts UTF-8.
#pragma once

#include <span>
#include <vector>

#include "encoding/document.h"

namespace kvarts {

class DocumentWriter {
 public:
  // Behind what is there already.
  explicit DocumentWriter(Bytes* to) : out_(*to) {}
  DocumentWriter(const DocumentWriter&) = delete;
  DocumentWriter& operator=(const DocumentWriter&) = delete;

  DocumentWriter& Null() { return Simple(cbor::kNull); }
  DocumentWriter& Bool(bool value) { return Simple(value ? cbor::kTrue : cbor::kFalse); }
  DocumentWriter& Int(int64_t value);
  DocumentWriter& Number(const Decimal& value);
  DocumentWriter& Text(std::string_view text) { return String(cbor::Major::kText, text); }
  DocumentWriter& Binary(BytesView bytes) { return String(cbor::Major::kBytes, bytes); }
  // A value of another document.
  DocumentWriter& Copy(const DocumentView& value);

  DocumentWriter& BeginList() { return Begin(DocumentKind::kList); }
  DocumentWriter& EndList() { return End(); }
  DocumentWriter& BeginMap() { return Begin(DocumentKind::kMap); }
  // Of the value that comes next.
  DocumentWriter& Name(std::string_view name);
  DocumentWriter& EndMap();
  // Of texts, numbers or binaries, all of one kind; at least one, and none twice.
  DocumentWriter& BeginSet() { return Begin(DocumentKind::kTextSet); }
  DocumentWriter& EndSet();
  // Whether the set that is open is none: it has nothing in it, or something twice.
  bool IsNoSet();
  // What was begun last, with all that is in it, was not.
  void Drop();
  // How many are open.
  size_t depth() const { return open_.size(); }

 private:
  // Something that is open. The head is one byte until it is known how much is in it.
  struct Open {
    DocumentKind kind;  // a set of any kind is kTextSet
    size_t from;        // with its tag
    size_t head;        // behind that
    size_t parts;       // of parts_, the first of its own
    uint64_t count = 0;
  };
  // A field of a map, from its name on, or an element of a set: where it is in the output.
  struct Part {
    size_t from;
    size_t to;
  };

  DocumentWriter& Simple(uint64_t value);
  DocumentWriter& String(cbor::Major major, BytesView bytes);
  DocumentWriter& Begin(DocumentKind kind);
  DocumentWriter& End();
  void Integer(bool negative, Decimal::Coefficient magnitude);
  // That a value begins here, or a field.
  void BeginValue();
  void BeginPart();
  // Brings the parts of what was opened last into the order of their bytes; that of fields is that of their names.
  void Sort();

  Bytes& out_;
  std::vector<Open> open_;
  std::vector<Part> parts_;  // of all that are open
  Bytes sorted_;
};

}  // namespace kvarts
