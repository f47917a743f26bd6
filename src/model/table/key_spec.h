// The key of a table's rows, as it is declared: partition fields, which say where a row lives, and sort fields, in
// whose order the rows of a partition lie.
//
// In a physical key the partition fields are a tuple of their own, so that where a partition ends can be read off any
// key without knowing its table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/regex.h"
#include "encoding/document.h"
#include "encoding/key_buffer.h"
#include "model/table/key_value.h"

namespace kvarts {

struct KeyField {
  static constexpr size_t kMaxNameBytes = 255;

  std::string name;  // of a field of the row, at its top
  KeyType type = KeyType::kText;
  Order order = Order::kAscending;
  // Of texts and binaries, in bytes.
  std::optional<uint32_t> min_length = {};
  std::optional<uint32_t> max_length = {};
  // That a text must match, whole; nothing: any text.
  std::optional<Regex> pattern = {};

  // Whether any value of the type will do.
  bool takes_all() const { return !min_length && !max_length && !pattern; }

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

struct KeySpec {
  static constexpr size_t kMaxFields = 16;

  std::vector<KeyField> partition;  // at least one
  std::vector<KeyField> sort;

  size_t size() const { return partition.size() + sort.size(); }
  // Of all fields, those of the partition first.
  const KeyField& operator[](size_t i) const {
    return i < partition.size() ? partition[i] : sort[i - partition.size()];
  }
  // Null when there is none.
  const KeyField* FieldNamed(std::string_view name) const;
  bool Has(std::string_view name) const { return FieldNamed(name) != nullptr; }

  // Appends the key of a row to a physical key: (partition…), sort…. `row` is a map that has at least the key's fields.
  // `invalid_argument` when a field is missing, or is not as declared; then `to` is of no use.
  Status Append(const DocumentView& row, KeyBuffer* to) const;
  // The same by position: the values of all fields, in their order.
  Status Append(std::span<const Item> values, KeyBuffer* to) const;
  // Of a row's values by position, the map that has them under their names; what is wrong with a value says Append.
  Result<Bytes> Named(std::span<const Item> values) const;
  // The same for the partition alone.
  Status AppendPartition(const DocumentView& row, KeyBuffer* to) const;
  // Writes what Append appended as a map of the key's fields. `corruption` when it is something else.
  Status Decode(BytesView key, DocumentWriter* to) const;
  // That the map has the key's fields and no others.
  Status CheckNothingElse(const DocumentView& key) const;

  friend bool operator==(const KeySpec&, const KeySpec&) = default;

 private:
  Status CheckCount(std::span<const Item> values) const;
  static Status AppendOther(const KeyField& field, const Item& value, TupleWriter<KeyBuffer>* to);
};

// In line, as it is on the way of every row that is read: most fields of keys are any text, and ascend.
[[gnu::always_inline]] inline Status KeySpec::Append(std::span<const Item> values, KeyBuffer* to) const {
  if (values.size() != size()) return CheckCount(values);
  const Item* value = values.data();
  TupleWriter<KeyBuffer> writer(to);
  writer.Begin();
  for (const std::vector<KeyField>* fields = &partition;; fields = &sort) {
    for (const KeyField& field : *fields) {
      const auto* const text = std::get_if<std::string_view>(&value->value());
      const bool any_text = text != nullptr && field.type == KeyType::kText && field.takes_all();
      if (!any_text || !writer.CheckedText(*text, field.order)) [[unlikely]] {
        KVARTS_CHECK_OK(AppendOther(field, *value, &writer));
      }
      ++value;
    }
    if (fields == &sort) return {};
    writer.End();
  }
}

}  // namespace kvarts
