// Who is who in the catalog of tables: identities that stay what they are through every rename. A project's cannot be
// passed for a table's.
//
// Minted ones are UUIDs of version 7. Those that begin with ffffffff-ffff are reserved: a clock reaches them in the
// year 10889, so what Kvarts keeps for itself is never taken for a user's.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/uuid.h"

namespace kvarts {

template <class Of>
struct CatalogId {
  Uuid uuid;

  static CatalogId New(Timestamp now) { return {Uuid::Version7(now)}; }
  static constexpr CatalogId Reserved(unsigned char number) {
    CatalogId id;
    for (size_t i = 0; i < 6; ++i) id.uuid.bytes[i] = 0xff;
    id.uuid.bytes[15] = number;
    return id;
  }
  std::string ToString() const { return uuid.ToString(); }
  friend constexpr auto operator<=>(const CatalogId&, const CatalogId&) = default;
};

using ProjectId = CatalogId<struct OfProject>;
using DatasetId = CatalogId<struct OfDataset>;
using TableId = CatalogId<struct OfTable>;

// What stands for a table in every key of its rows and entries: short, and never given to another.
struct TableNumber {
  uint64_t value = 0;
  friend constexpr auto operator<=>(TableNumber, TableNumber) = default;
};

// Likewise for an index, within its table. The rows themselves stand where an index zero would.
struct IndexNumber {
  uint64_t value = 0;
  friend constexpr auto operator<=>(IndexNumber, IndexNumber) = default;
};
inline constexpr IndexNumber kRowsNumber{0};

}  // namespace kvarts
