// The tables in which the catalog of tables is kept. They are tables like any other, with rows that are documents,
// under identities that no clock will ever mint (ids.h): so the catalog is there before anything is, and can be read
// like everything else, as /projects/_system/datasets/_catalog/tables/_tables.
//
//   number  name        key                             row
//   1       _names      scope; name                     id: what has the name in the scope
//   2       _projects   project                         name
//   3       _datasets   project; dataset                name
//   4       _tables     project, dataset; table         name, number, what was declared, indexes (catalog_rows.h)
//   5       _numbers    number                          project, dataset, table: whose number it is
//   6       _findings   table, job; number              what a build or a verification has found
//   7       _journal    table, job; number              what a repair has changed
//
// The scope of projects is kRootScope, that of datasets their project, that of tables their dataset.
#pragma once

#include <span>
#include <string_view>

#include "model/table/table_info.h"

namespace kvarts {

inline constexpr std::string_view kSystemProject = "_system";
inline constexpr std::string_view kCatalogDataset = "_catalog";
inline constexpr ProjectId kSystemProjectId = ProjectId::Reserved(0);
inline constexpr DatasetId kCatalogDatasetId = DatasetId::Reserved(0);
inline constexpr Uuid kRootScope = {};

// The first number that a table of a user's has.
inline constexpr TableNumber kFirstTableNumber{64};

const TablePtr& NamesTable();
const TablePtr& ProjectsTable();
const TablePtr& DatasetsTable();
const TablePtr& TablesTable();
const TablePtr& NumbersTable();
const TablePtr& FindingsTable();
const TablePtr& JournalTable();

// All of them, in the order of their numbers.
std::span<const TablePtr> SystemTables();
// The range in which everything lies that names resolve by: the first four.
KeyRange CatalogRange();

}  // namespace kvarts
