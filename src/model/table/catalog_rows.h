// The rows of the catalog, read and written in a transaction: names in their scopes, projects, datasets, tables. What
// keeps names unique, and the catalog whole, is that all of it is read and written in one commit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/txn.h"
#include "model/table/system_tables.h"

namespace kvarts {

// What has the name in the scope, if anything has.
Result<std::optional<Uuid>> FindName(Txn& txn, const Uuid& scope, std::string_view name);
Result<std::optional<Uuid>> FindName(View& view, const Uuid& scope, std::string_view name);
// `already_exists` when something has it.
Status ClaimName(Txn& txn, const Uuid& scope, std::string_view name, const Uuid& id);
Status ReleaseName(Txn& txn, const Uuid& scope, std::string_view name);

struct NamedId {
  std::string name;
  Uuid id;
};
// The names of a scope behind one of them, in their order, at most `limit`.
Result<std::vector<NamedId>> ListNames(View& view, const Uuid& scope, std::string_view after, size_t limit);
// Whether the scope has any.
Result<bool> HasNames(Txn& txn, const Uuid& scope);

Status PutProject(Txn& txn, ProjectId project, std::string_view name);
Status PutDataset(Txn& txn, ProjectId project, DatasetId dataset, std::string_view name);
Status EraseProject(Txn& txn, ProjectId project);
Status EraseDataset(Txn& txn, ProjectId project, DatasetId dataset);

// What they are called; empty when they are not there.
Result<std::string> ProjectName(View& view, ProjectId project);
Result<std::string> DatasetName(View& view, ProjectId project, DatasetId dataset);

// A table that is new, and one that is there.
Status AddTable(Txn& txn, const TableInfo::Stored& table);
Status PutTable(Txn& txn, const TableInfo::Stored& table);
Status EraseTable(Txn& txn, const TableInfo& table);
// Null when it is not there.
Result<TablePtr> ReadTable(Txn& txn, ProjectId project, DatasetId dataset, TableId table);
Result<TablePtr> ReadTable(View& view, ProjectId project, DatasetId dataset, TableId table);

// All tables but those of the catalog itself, in the order in which it has them, from a place on; at first an empty
// one.
struct TablesPage {
  std::vector<TablePtr> tables;
  std::vector<Bytes> places;  // of each of them
  std::optional<Bytes> rest;  // the place to go on from; nothing when that was all
};
Result<TablesPage> ReadTables(Txn& txn, BytesView place, size_t limit);
Result<TablesPage> ReadTables(View& view, BytesView place, size_t limit);

// Of a number; null when it is nobody's any more.
Result<TablePtr> ReadTable(Txn& txn, TableNumber number);

// A table as a document, and back: `corruption` when it is none.
Bytes EncodeTable(const TableInfo::Stored& table);
Result<TableInfo::Stored> DecodeTable(const DocumentView& row);

// Gives out a number for a table, once.
Result<TableNumber> TakeTableNumber(Txn& txn);

}  // namespace kvarts
