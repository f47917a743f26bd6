// Document: what a row holds. Typed values as JSON has them, and besides exact decimals, binaries, and sets of texts,
// numbers or binaries.
//
//   Document order = {{"customer", "ada"}, {"lines", Document::List({Document{{"sku", "x-1"}}})}};
//   order.Text("lines[0].sku");   // x-1
//
// A document is a value. One that was made of what no document can hold (a text that is no UTF-8, a set with something
// twice) carries the error, and every call that it is given to answers with it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvarts/item.h"
#include "kvarts/result.h"

namespace kvarts {

class Document {
 public:
  struct Field {
    std::string_view name;
    Item value;
  };

  // A map without fields, or with these.
  Document() : Document(std::initializer_list<Field>{}) {}
  Document(std::initializer_list<Field> fields);
  static Document List(std::initializer_list<Item> elements);
  // Of texts, numbers or binaries; at least one.
  static Document Set(std::initializer_list<Item> elements);
  static Document Of(const Item& value);

  // JSON, with {"$binary": …} and {"$set": […]} for what it does not have. Numbers keep all their digits.
  static Result<Document> FromJson(std::string_view json);
  std::string ToJson() const;

  // That it is a document: the error of one that could not be made.
  Status status() const { return error_ == nullptr ? Status() : Status(*error_); }

  // What kind of value it is: null, bool, number, text, binary, list, map, text_set, number_set or binary_set.
  std::string_view kind() const;
  // Elements of a list or set, fields of a map; otherwise none.
  size_t size() const;
  std::vector<std::string> names() const;

  // The value at a path such as address.city or lines[0].sku; an empty path is the document itself. Nothing when it is
  // not there, or of another kind. Texts and binaries are borrowed from the document.
  bool Has(std::string_view path) const;
  std::optional<std::string_view> Text(std::string_view path) const;
  std::optional<std::string_view> Bytes(std::string_view path) const;
  std::optional<bool> Bool(std::string_view path) const;
  // A number that is an integer and fits; a number as its digits; and as the nearest one that a machine has.
  std::optional<int64_t> Int(std::string_view path) const;
  std::optional<std::string> Decimal(std::string_view path) const;
  std::optional<double> Double(std::string_view path) const;
  // A text that is a time.
  std::optional<Timestamp> Time(std::string_view path) const;
  std::optional<Document> At(std::string_view path) const;

  // Its encoding (FORMAT.md), which is one for each value: equal documents are equal bytes.
  std::string_view bytes() const { return std::string_view(memory_).substr(from_, size_); }
  friend bool operator==(const Document& a, const Document& b) { return a.bytes() == b.bytes(); }

 private:
  friend struct DocumentAccess;
  friend class Item;
  struct Encoded {};
  // Bytes that are a document, within memory that comes along.
  Document(Encoded, std::string memory, size_t from, size_t size)
      : memory_(std::move(memory)), from_(from), size_(size) {}

  std::string memory_;
  size_t from_ = 0;
  size_t size_ = 0;
  std::shared_ptr<const Error> error_;
};

inline Item::Item(const Document& document) : value_(Encoded{document.bytes(), document.error_.get()}) {}

}  // namespace kvarts
