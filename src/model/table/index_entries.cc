#include "model/table/index_entries.h"

#include <algorithm>

#include "base/lower_case.h"
#include "core/fields.h"
#include "core/job_record.h"
#include "engine/sizes.h"

namespace kvarts {
namespace {

constexpr const char* kDamaged = "an entry of an index is damaged";

// What a job itself has in the commit of a chunk, at most.
constexpr size_t kJobOperations = 16;
constexpr size_t kJobBytes = JobRecord::kMaxCursorBytes + JobRecord::kMaxParameterBytes;

// What separates words to people: ASCII's white space.
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// How long the leading tuple of a row's key is: its partition.
Result<size_t> PartitionSize(BytesView row_key) {
  TupleReader reader(row_key);
  KVARTS_CHECK_OK(reader.Skip());
  return reader.position();
}

class EntryMaker {
 public:
  EntryMaker(const TableInfo& table, const TableIndex& index, BytesView row_key, const DocumentView& row)
      : table_(table), index_(index), spec_(index.spec), row_key_(row_key), row_(row) {}

  Result<std::vector<IndexEntry>> Make() {
    if (spec_.where && !spec_.where->Holds(row_)) return std::move(entries_);
    KVARTS_TRY(partition_size_, PartitionSize(row_key_));
    const IndexField* const each = FieldOfEach();
    if (each == nullptr) {
      KVARTS_CHECK_OK(Add(std::nullopt));
      return std::move(entries_);
    }
    std::vector<DocumentView> elements;
    each->path.ForEach(row_, [&](const DocumentView& element) { elements.push_back(element); });
    if (elements.size() > kMaxEntriesOfRow) return TooMany();
    if (elements.empty()) KVARTS_CHECK_OK(Add(std::nullopt));
    for (const DocumentView& element : elements) KVARTS_CHECK_OK(Add(element));
    std::ranges::sort(entries_);
    const auto again = std::ranges::unique(entries_, {}, &IndexEntry::key);
    entries_.erase(again.begin(), again.end());
    return std::move(entries_);
  }

 private:
  // The field that has an entry for every element, if any.
  const IndexField* FieldOfEach() const {
    const auto has_each = [](const IndexField& field) { return field.path.HasEach(); };
    for (const auto* const fields : {&spec_.partition, &spec_.sort}) {
      const auto found = std::ranges::find_if(*fields, has_each);
      if (found != fields->end()) return &*found;
    }
    return nullptr;
  }

  // The entry of the row, or of one element of it.
  Status Add(const std::optional<DocumentView>& element) {
    KeyBuffer key;
    key.append(index_.prefix);
    TupleWriter<KeyBuffer> writer(&key);
    if (spec_.local) {
      key.append(row_key_.substr(0, partition_size_));
    } else {
      writer.Begin();
      KVARTS_TRY(const bool whole, AppendAll(spec_.partition, element, &writer));
      if (!whole) return {};
      writer.End();
    }
    KVARTS_TRY(const bool whole, AppendAll(spec_.sort, element, &writer));
    if (!whole) return {};
    if (!spec_.unique) key.append(row_key_.substr(spec_.local ? partition_size_ : 0));
    entries_.push_back({Bytes(key.view()), Value()});
    return {};
  }

  // False when the row has no entry because it lacks a field.
  Result<bool> AppendAll(const std::vector<IndexField>& fields, const std::optional<DocumentView>& element,
                         TupleWriter<KeyBuffer>* to) {
    for (const IndexField& field : fields) {
      Result<Appended> appended = AppendIndexValue(field, field.path.HasEach() ? element : field.path.Find(row_), to);
      if (!appended.has_value()) return OfIndex(appended.error(), field);
      if (*appended == Appended::kYes) continue;
      if (spec_.sparse) return false;
      to->Null(field.order);
    }
    return true;
  }

  Bytes Value() const {
    Bytes value;
    if (spec_.unique) AppendSized(&value, row_key_);
    switch (spec_.included.kind) {
      case Included::Kind::kKey:
        break;
      case Included::Kind::kAll:
        value += row_.bytes();
        break;
      case Included::Kind::kSome:
        value += index_.included->Apply(row_);
        break;
    }
    return value;
  }

  Error OfIndex(const Error& error, const IndexField& field) const {
    return Error(ErrorCode::kInvalidArgument, "a field of an index has a value of another type",
                 {{"table", table_.stored().name},
                  {"index", spec_.name},
                  {"field", field.path.ToString()},
                  {"expected", std::string(error.field("expected"))}});
  }
  Error TooMany() const {
    return Error(ErrorCode::kTooLarge, "a row has too many entries in an index",
                 {{"table", table_.stored().name},
                  {"index", spec_.name},
                  {"limit", "max_entries_of_row"},
                  {"at_most", std::to_string(kMaxEntriesOfRow)}});
  }

  const TableInfo& table_;
  const TableIndex& index_;
  const IndexSpec& spec_;
  const BytesView row_key_;
  const DocumentView row_;
  size_t partition_size_ = 0;
  std::vector<IndexEntry> entries_;
};

}  // namespace

std::string Normalised(const IndexField& field, std::string_view text) {
  if (field.trim) text = Trimmed(text);
  return field.lower ? LowerCase(text) : std::string(text);
}

Result<Appended> AppendIndexValue(const IndexField& field, const std::optional<DocumentView>& value,
                                  TupleWriter<KeyBuffer>* to) {
  if (!value || value->kind() == DocumentKind::kNull) return Appended::kNothing;
  if (value->kind() == DocumentKind::kText && (field.trim || field.lower)) {
    Bytes bytes;
    DocumentWriter(&bytes).Text(Normalised(field, value->Text()));
    IndexField plain = field;
    plain.trim = plain.lower = false;
    return AppendIndexValue(plain, DocumentView(bytes), to);
  }
  if (!field.type) {
    return AppendAnyKeyValue(to, *value, field.order) ? Appended::kYes : Appended::kNothing;
  }
  if (AppendKeyValue(to, *value, *field.type, field.order)) return Appended::kYes;
  return Error(ErrorCode::kInvalidArgument, "a field of an index has a value of another type",
               {{"field", field.path.ToString()}, {"expected", std::string(Expected(*field.type))}});
}

Result<std::vector<IndexEntry>> EntriesOf(const TableInfo& table, const TableIndex& index, BytesView row_key,
                                          const DocumentView& row) {
  return EntryMaker(table, index, row_key, row).Make();
}

void EntryLoad::Add(const TableIndex& index, const std::vector<IndexEntry>& entries) {
  const size_t each = index.spec.unique ? 2 : 1;
  operations += each * entries.size();
  for (const IndexEntry& entry : entries) bytes += each * entry.key.size() + entry.value.size();
}

bool CanBePut(const Limits& limits, const TableIndex& index, const std::vector<IndexEntry>& entries) {
  EntryLoad load;
  load.Add(index, entries);
  return load.operations + kJobOperations <= limits.max_commit_operations &&
         load.bytes + kJobBytes <= limits.max_commit_bytes &&
         std::ranges::all_of(
             entries, [&](const IndexEntry& entry) { return CheckSizes(entry.key, entry.value, limits).has_value(); });
}

Result<EntryView> OpenEntry(const TableInfo& table, const TableIndex& index, BytesView key, BytesView value) {
  EntryView entry;
  entry.row_key.append(table.rows());
  entry.included = value;
  if (index.spec.unique) {
    FieldReader fields(value);
    entry.row_key.append(fields.Sized());
    entry.included = fields.Rest();
    KVARTS_CHECK_OK(fields.Finish(kDamaged));
    return entry;
  }
  const BytesView behind = key.substr(index.prefix.size());
  TupleReader reader(behind);
  KVARTS_CHECK_OK(reader.Skip());
  const size_t partition_size = reader.position();
  for (size_t i = 0; i < index.spec.sort.size(); ++i) KVARTS_CHECK_OK(reader.Skip());
  if (index.spec.local) entry.row_key.append(behind.substr(0, partition_size));
  entry.row_key.append(behind.substr(reader.position()));
  return entry;
}

}  // namespace kvarts
