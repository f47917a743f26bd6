#include "model/table/key_spec.h"

#include <algorithm>

#include "base/bytes.h"
#include "document/items.h"

namespace kvarts {
namespace {

Error BadField(const char* text, const KeyField& field, std::string expected) {
  return Error(ErrorCode::kInvalidArgument, text, {{"field", Escaped(field.name)}, {"expected", std::move(expected)}});
}

Error AnotherType(const KeyField& field) {
  return BadField("a field of the key has a value of another type", field, std::string(Expected(field.type)));
}

Status CheckLength(const KeyField& field, BytesView value) {
  if (field.min_length && value.size() < *field.min_length) {
    return BadField("a field of the key is too short", field,
                    "at least " + std::to_string(*field.min_length) + " bytes");
  }
  if (field.max_length && value.size() > *field.max_length) {
    return BadField("a field of the key is too long", field, "at most " + std::to_string(*field.max_length) + " bytes");
  }
  if (field.pattern && !field.pattern->Matches(value)) {
    return BadField("a field of the key does not match its pattern", field, field.pattern->text());
  }
  return {};
}

Status AppendField(const KeyField& field, const DocumentView& row, TupleWriter<KeyBuffer>* to) {
  const std::optional<DocumentView> value = row.Find(field.name);
  if (!value) return BadField("a field of the key is missing", field, std::string(Expected(field.type)));
  if (!AppendKeyValue(to, *value, field.type, field.order)) {
    return AnotherType(field);
  }
  if (field.takes_all()) return {};
  return CheckLength(field, value->kind() == DocumentKind::kBinary ? value->Binary() : value->Text());
}

}  // namespace

const KeyField* KeySpec::FieldNamed(std::string_view name) const {
  for (const std::vector<KeyField>* const fields : {&partition, &sort}) {
    const auto found = std::ranges::find(*fields, name, &KeyField::name);
    if (found != fields->end()) return &*found;
  }
  return nullptr;
}

Status KeySpec::AppendPartition(const DocumentView& row, KeyBuffer* to) const {
  TupleWriter<KeyBuffer> writer(to);
  writer.Begin();
  for (const KeyField& field : partition) KVARTS_CHECK_OK(AppendField(field, row, &writer));
  writer.End();
  return {};
}

Status KeySpec::Append(const DocumentView& row, KeyBuffer* to) const {
  KVARTS_CHECK_OK(AppendPartition(row, to));
  TupleWriter<KeyBuffer> writer(to);
  for (const KeyField& field : sort) KVARTS_CHECK_OK(AppendField(field, row, &writer));
  return {};
}

// What has a length or a pattern is looked at as a document; the rest is written as it is.
Status KeySpec::AppendOther(const KeyField& field, const Item& value, TupleWriter<KeyBuffer>* to) {
  if (field.takes_all()) return AppendKeyItem(to, value, field.type, field.order) ? Status() : AnotherType(field);
  Bytes row;
  DocumentWriter writer(&row);
  writer.BeginMap().Name(field.name);
  KVARTS_CHECK_OK(WriteItem(value, &writer));
  writer.EndMap();
  return AppendField(field, DocumentView(row), to);
}

Status KeySpec::CheckCount(std::span<const Item> values) const {
  if (values.size() == size()) return {};
  return Error(ErrorCode::kInvalidArgument, "a key has a value for each field of the table's key",
               {{"expected", std::to_string(size())}, {"values", std::to_string(values.size())}});
}

Result<Bytes> KeySpec::Named(std::span<const Item> values) const {
  KVARTS_CHECK_OK(CheckCount(values));
  Bytes named;
  DocumentWriter writer(&named);
  writer.BeginMap();
  for (size_t i = 0; i < values.size(); ++i) KVARTS_CHECK_OK(WriteItem(values[i], &writer.Name((*this)[i].name)));
  writer.EndMap();
  return named;
}

Status KeySpec::Decode(BytesView key, DocumentWriter* to) const {
  TupleReader reader(key);
  to->BeginMap();
  const auto take = [&](const KeyField& field) {
    return TakeKeyValue(&reader, field.type, field.order, &to->Name(field.name));
  };
  KVARTS_CHECK_OK(reader.EnterTuple());
  for (const KeyField& field : partition) KVARTS_CHECK_OK(take(field));
  KVARTS_CHECK_OK(reader.LeaveTuple());
  for (const KeyField& field : sort) KVARTS_CHECK_OK(take(field));
  to->EndMap();
  return reader.Finish();
}

Status KeySpec::CheckNothingElse(const DocumentView& key) const {
  std::string other;
  key.ForEachField([&](std::string_view name, const DocumentView&) {
    if (other.empty() && !Has(name)) other = name;
  });
  if (key.size() <= size() && other.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, "a key has the fields of the table's key and no others",
               {{"field", Escaped(other)}});
}

}  // namespace kvarts
