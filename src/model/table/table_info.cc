#include "model/table/table_info.h"

#include <algorithm>
#include <array>

#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"building", "ready", "dropping"};

}  // namespace

std::string_view IndexStateName(IndexState state) { return kStates[static_cast<size_t>(state)]; }

std::optional<IndexState> ParseIndexState(std::string_view name) {
  const auto* const found = std::ranges::find(kStates, name);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<IndexState>(found - kStates.begin());
}

KeyBuffer IndexPrefix(TableNumber table, IndexNumber index) {
  KeyBuffer key;
  BeginKey(&key, Space::kTables).Uint(table.value).Uint(index.value);
  return key;
}

TableInfo::TableInfo(Stored stored, BytesView catalog_key, Version version, Version seen_at)
    : stored_(std::move(stored)),
      catalog_key_(catalog_key),
      version_(version),
      rows_(IndexPrefix(stored_.number, kRowsNumber).view()),
      seen_at_(seen_at) {
  for (TableIndex& index : stored_.indexes) {
    index.prefix = IndexPrefix(stored_.number, index.number).view();
    if (index.spec.included.kind == Included::Kind::kSome) {
      // That it can be made was seen to when the index was declared.
      index.included = *IncludedFields(index.spec, stored_.spec.key);
    }
    if (index.maintained()) has_indexes_ = true;
  }
}

const TableIndex* TableInfo::IndexNamed(std::string_view name) const {
  const auto found = std::ranges::find(stored_.indexes, name, &TableIndex::name);
  return found == stored_.indexes.end() ? nullptr : &*found;
}

KeyRange TableInfo::range() const {
  KeyBuffer key;
  BeginKey(&key, Space::kTables).Uint(stored_.number.value);
  return KeyRange::Prefix(key);
}

Precondition TableInfo::Unchanged() const {
  Precondition unchanged;
  unchanged.kind = Precondition::Kind::kVersionIs;
  unchanged.key = catalog_key_;
  unchanged.version = version_;
  unchanged.seen_at = seen_at_.get();
  return unchanged;
}

}  // namespace kvarts
