#include "model/table/entry_state.h"

#include <limits>

#include "model/table/job_rows.h"

namespace kvarts {
namespace {

constexpr const char* kDamaged = "the state of an entry is damaged";

Error Damaged(const char* field) { return Error(ErrorCode::kCorruption, kDamaged, {{"field", field}}); }

// A small number that may be missing, and is zero then.
Result<uint32_t> Small(const DocumentView& map, const char* name, uint32_t at_most) {
  if (!map.Find(name)) return 0;
  const std::optional<DocumentView> field = FieldOf(map, name, DocumentKind::kNumber);
  const std::optional<int64_t> number = field ? field->Number().ToInt() : std::nullopt;
  if (!number || *number < 0 || *number > int64_t{at_most}) return Damaged(name);
  return static_cast<uint32_t>(*number);
}

}  // namespace

EntryState EntryState::Of(const Record& record) {
  return {record.value, record.header.expiry, record.header.kind, record.header.owned, record.header.schema};
}

std::optional<EntryState> EntryState::Of(const std::optional<Record>& record) {
  return record ? std::optional(Of(*record)) : std::nullopt;
}

Mutation EntryState::PutAt(BytesView key) const {
  Mutation put = Mutation::Put(key, value, expiry);
  put.kind = kind;
  put.owned = owned;
  put.schema = schema;
  return put;
}

bool EntryState::SameButExpiry(const EntryState& other) const {
  return value == other.value && kind == other.kind && owned == other.owned && schema == other.schema;
}

void EntryState::Write(size_t max_bytes, DocumentWriter* to) const {
  to->BeginMap().Name("value").Binary(BytesView(value).substr(0, max_bytes));
  if (value.size() > max_bytes) to->Name("bytes").Int(static_cast<int64_t>(value.size()));
  if (expiry != kNever) to->Name("expiry").Text(expiry.ToString());
  if (kind != ValueKind::kBytes) to->Name("kind").Int(static_cast<int64_t>(kind));
  if (owned) to->Name("owned").Bool(true);
  if (schema != 0) to->Name("schema").Int(schema);
  to->EndMap();
}

Result<EntryState> EntryState::Read(const DocumentView& map) {
  if (map.kind() != DocumentKind::kMap) return Damaged("map");
  EntryState state;
  const std::optional<DocumentView> value = FieldOf(map, "value", DocumentKind::kBinary);
  if (!value || map.Find("bytes")) return Damaged("value");
  state.value = value->Binary();
  if (map.Find("expiry")) {
    const std::optional<DocumentView> text = FieldOf(map, "expiry", DocumentKind::kText);
    const std::optional<Timestamp> expiry = text ? Timestamp::Parse(text->Text()) : std::nullopt;
    if (!expiry) return Damaged("expiry");
    state.expiry = *expiry;
  }
  KVARTS_TRY(const uint32_t kind, Small(map, "kind", static_cast<uint32_t>(ValueKind::kStructure)));
  state.kind = static_cast<ValueKind>(kind);
  const std::optional<DocumentView> owned = FieldOf(map, "owned", DocumentKind::kBool);
  state.owned = owned && owned->Bool();
  KVARTS_TRY(state.schema, Small(map, "schema", std::numeric_limits<uint32_t>::max()));
  return state;
}

}  // namespace kvarts
