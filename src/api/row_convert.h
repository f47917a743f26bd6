// Between the words of the public interface and those of the model of tables: rows, queries, conditions.
#pragma once

#include "kvarts/table.h"
#include "model/table/query.h"
#include "model/table/rows.h"

namespace kvarts {

// The document stays where it was read.
std::optional<Row> ToRow(ReadRow read);
std::optional<Row> ToRow(std::optional<Record> record, const std::optional<FoundRow>& found);
Rows ToRows(RowPage page);

// Each says what is wrong with its input.
Result<RowCondition> ConditionOf(const RowOptions& options);
Result<RowQuery> ToQuery(const TableInfo& table, const Query& query);
Result<RowScan> ToScan(const TableScan& scan);

}  // namespace kvarts
