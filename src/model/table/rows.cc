#include "model/table/rows.h"

#include <algorithm>

#include "base/log.h"
#include "encoding/document_json.h"
#include "model/table/drift.h"
#include "model/table/row.h"
#include "model/table/row_change.h"

namespace kvarts {
namespace {

// What a row is before it has any fields.
DocumentView NoFields() {
  static const Bytes kEmpty = [] {
    Bytes bytes;
    DocumentWriter(&bytes).BeginMap().EndMap();
    return bytes;
  }();
  return DocumentView(kEmpty);
}

// The instant that a field of a row says, if it says one: a timestamp, or seconds since 1970.
std::optional<Timestamp> InstantOf(const std::optional<DocumentView>& value) {
  if (!value) return std::nullopt;
  if (value->kind() == DocumentKind::kText) return Timestamp::Parse(value->Text());
  if (value->kind() != DocumentKind::kNumber) return std::nullopt;
  const Decimal seconds = value->Number();
  if (seconds.IsNegative()) return Timestamp{0};
  if (seconds.IsZero()) return Timestamp{0};
  // Beyond what a clock can show there is no end.
  if (seconds.LeadingExponent() > 11) return kNever;
  const auto micros = Decimal::FromParts(false, seconds.coefficient(), seconds.exponent() + 6);
  if (!micros.has_value()) return Timestamp{0};
  const std::string digits = micros->ToPlainString();
  const uint64_t whole = std::stoull(digits.substr(0, digits.find('.')));
  return whole > kLastTimestamp.micros ? kNever : Timestamp{whole};
}

Status CheckMap(const DocumentView& row) {
  if (row.kind() == DocumentKind::kMap) return {};
  return Error(ErrorCode::kInvalidArgument, "a row is a map of fields");
}

Result<Bytes> Patched(const DocumentView& row, const PatchRow& patch) {
  if (const auto* merge = std::get_if<PatchRow::Merge>(&patch.change)) {
    return MergePatch(row, DocumentView(merge->patch));
  }
  const auto& updates = std::get<std::vector<FieldUpdate>>(patch.change);
  KVARTS_CHECK_OK(CheckUpdates(updates));
  return ApplyUpdates(row, updates);
}

}  // namespace

Result<KeyBuffer> RowKey(const TableInfo& table, const DocumentView& row) {
  KVARTS_CHECK_OK(CheckMap(row));
  KeyBuffer key;
  key.append(table.rows());
  KVARTS_CHECK_OK(table.key().Append(row, &key));
  return key;
}

Result<KeyBuffer> RowKeyOf(const TableInfo& table, const DocumentView& key) {
  KeyBuffer buffer;
  KVARTS_CHECK_OK(AppendRowKeyOf(table, key, &buffer));
  return buffer;
}

Status AppendRowKeyOf(const TableInfo& table, const DocumentView& key, KeyBuffer* to) {
  KVARTS_CHECK_OK(CheckMap(key));
  // When it has as many fields as the key, and all of those, it has no others.
  if (key.size() != table.key().size()) KVARTS_CHECK_OK(table.key().CheckNothingElse(key));
  to->append(table.rows());
  return table.key().Append(key, to);
}

std::string RowKeyText(const TableInfo& table, BytesView physical_key) {
  const Bytes fields = RowFields(table, physical_key.substr(table.rows().size()));
  return fields.empty() ? Escaped(physical_key) : DocumentToJson(DocumentView(fields));
}

Error NoSuchRow(const TableInfo& table, BytesView physical_key) {
  return Error(ErrorCode::kNotFound, "there is no such row",
               {{"table", table.stored().name}, {"key", RowKeyText(table, physical_key)}});
}

Status RowWriter::Apply(const RowCommand& command, RowOutcome* outcome) {
  if (const auto* put = std::get_if<PutRow>(&command)) return Put(*put, outcome);
  if (const auto* erase = std::get_if<DeleteRow>(&command)) return Delete(*erase, outcome);
  return Patch(std::get<PatchRow>(command), outcome);
}

Error RowWriter::ConditionFailed(BytesView key, const Found& found) const {
  return Error(ErrorCode::kPreconditionFailed, "the condition does not hold",
               {{"table", table_.stored().name}, {"key", RowKeyText(table_, key)}, {"version", VersionText(found)}});
}

Result<RowWriter::Found> RowWriter::Read(BytesView key, const RowCondition& condition) {
  KVARTS_TRY(Found found, txn_.GetExpired(key));
  if (condition.none()) return found;
  // A condition is about what was there before the transaction, wherever in it the write stands.
  Found before = IsLive(found) ? found : std::nullopt;
  if (!txn_.mutations().empty()) KVARTS_CHECK_OK(txn_.GetBeneath({&key, 1}, {&before, 1}));
  if (!condition.version.HoldsFor(before)) return ConditionFailed(key, before);
  if (!condition.where) return found;
  if (!before) return condition.where->Holds(NoFields()) ? Result<Found>(found) : ConditionFailed(key, before);
  KVARTS_TRY(const DocumentView row, Readable(key, *before));
  if (!condition.where->Holds(row)) return ConditionFailed(key, before);
  return found;
}

Result<RowWriter::End> RowWriter::EndOf(const DocumentView& row, const std::optional<Kept>& kept) {
  End end;
  KVARTS_TRY(end.expiry, EndOfLife(row, kept));
  const std::optional<RetentionSpec>& retention = table_.spec().retention;
  if (!retention) return end;
  // A field of the key, which was seen to be a time.
  const std::optional<Timestamp> time = InstantOf(row.Find(retention->field));
  const Timestamp of_bucket = time ? retention->EndOf(*time) : kNever;
  if (of_bucket <= end.expiry) end = {of_bucket, true};
  return end;
}

Result<Timestamp> RowWriter::EndOfLife(const DocumentView& row, const std::optional<Kept>& kept) {
  const std::optional<TtlSpec>& ttl = table_.spec().ttl;
  if (!ttl) return kNever;
  const auto said_by = [&](const DocumentView& document) {
    return ttl->field.empty() ? std::nullopt : InstantOf(document.Find(ttl->field));
  };
  if (const std::optional<Timestamp> said = said_by(row)) return *said;
  if (kept && !said_by(kept->document)) return OwnEndOf(kept->record);
  return StandardEnd();
}

Result<Timestamp> RowWriter::StandardEnd() {
  const std::optional<Duration>& standard = table_.spec().ttl->standard;
  return standard ? ExpiryAfter(txn_.Now(), *standard) : Result<Timestamp>(kNever);
}

Result<Timestamp> RowWriter::OwnEndOf(const Record& kept) {
  const ValueHeader& header = kept.header;
  if (!table_.spec().retention || header.owned) return header.expiry;
  // That was its bucket's end. Its own would have been as late at least, and is not known.
  KVARTS_TRY(const Timestamp from_now, StandardEnd());
  return std::max(from_now, header.expiry);
}

Status RowWriter::Put(const PutRow& put, RowOutcome* outcome) {
  const DocumentView row(put.row);
  KVARTS_TRY(const KeyBuffer key, RowKey(table_, row));
  Found before;
  // Who wants to know what was there reads it.
  if (table_.has_indexes() || !put.condition.none() || outcome != nullptr) {
    KVARTS_TRY(before, Read(key, put.condition));
  }
  KVARTS_TRY(const End end, EndOf(row, std::nullopt));
  return Write(key, before, row, end, outcome);
}

Status RowWriter::Delete(const DeleteRow& command, RowOutcome* outcome) {
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(table_, DocumentView(command.key)));
  // What has expired is not there for the caller, but what hangs on it goes with it.
  KVARTS_TRY(const Found before, Read(key, command.condition));
  if (!IsLive(before) && !command.missing_ok) return NoSuchRow(table_, key);
  if (!before) return {};
  const std::optional<DocumentView> old = Open(key, *before);
  if (outcome != nullptr && old && IsLive(before)) outcome->before = Bytes(old->bytes());
  return Remove(key, *before, old, outcome);
}

Status RowWriter::Patch(const PatchRow& patch, RowOutcome* outcome) {
  const DocumentView key_fields(patch.key);
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(table_, key_fields));
  KVARTS_TRY(const Found before, Read(key, patch.condition));
  const bool live = IsLive(before);
  if (!live && !patch.make) return NoSuchRow(table_, key);
  std::optional<Kept> kept;
  if (live) {
    KVARTS_TRY(const DocumentView old, Readable(key, *before));
    kept.emplace(*before, old);
  }
  KVARTS_TRY(const Bytes changed, Patched(kept ? kept->document : key_fields, patch));
  const DocumentView row(changed);
  KVARTS_TRY(const KeyBuffer same, RowKey(table_, row));
  if (same.view() != key.view()) {
    return Error(ErrorCode::kInvalidArgument, "the key of a row cannot be changed",
                 {{"table", table_.stored().name}, {"key", RowKeyText(table_, key)}});
  }
  KVARTS_TRY(const End end, EndOf(row, kept));
  return Write(key, before, row, end, outcome);
}

Result<DocumentView> RowWriter::Readable(BytesView key, const Record& stored) const {
  const std::optional<DocumentView> row = ReadableRow(table_, key.substr(table_.rows().size()), stored.value);
  if (row) return *row;
  return Error(ErrorCode::kCorruption, "the row is damaged",
               {{"table", table_.stored().name}, {"key", RowKeyText(table_, key)}});
}

std::optional<DocumentView> RowWriter::Open(BytesView key, const Record& stored) {
  const std::optional<DocumentView> row = ReadableRow(table_, key.substr(table_.rows().size()), stored.value);
  if (!row && table_.has_indexes() && !stored.header.ExpiredAt(txn_.Now())) {
    txn_.AfterCommit([table = table_.stored().name, key = RowKeyText(table_, key)](Version) {
      Log(LogLevel::kWarning,
          "a damaged row was replaced or deleted; what it had in indexes is found by a verification",
          {{"table", table}, {"key", key}});
    });
  }
  return row;
}

Result<bool> RowWriter::RemoveExpired(BytesView physical_key, const Record& record) {
  std::optional<DocumentView> old;
  if (physical_key.starts_with(table_.rows())) {
    old = Open(physical_key, record);
  }
  if (old) {
    KVARTS_CHECK_OK(Remove(physical_key, record, old, nullptr));
  } else {
    txn_.Erase(physical_key);
  }
  return old.has_value();
}

Status RowWriter::Remove(BytesView key, const Record& record, const std::optional<DocumentView>& row,
                         RowOutcome* outcome) {
  Change change{.row_key = key.substr(table_.rows().size()), .before = &record};
  change.old_row = row;
  for (const TableIndex& index : table_.indexes()) KVARTS_CHECK_OK(KeepIndex(index, change, outcome));
  txn_.Erase(key);
  return {};
}

}  // namespace kvarts
