// What requests about tables say by their path and query: whose table, which row, under which condition, which fields.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/condition.h"
#include "document/projection.h"
#include "model/table/rows.h"
#include "model/table/tables.h"
#include "protocol/http/call.h"

namespace kvarts::http {

// "/projects/{project}", "…/datasets/{dataset}", "…/tables/{table}". What no project, dataset or table can be called is
// refused here.
Result<std::string> ProjectOf(const Call& call);
Result<DatasetPath> DatasetOf(const Call& call);
Result<TablePath> TableOf(const Call& call);
Status CheckPath(const TablePath& path);

// As scopes have it: "acme/metrics/events".
std::string ScopePath(const DatasetPath& path);
std::string ScopePath(const TablePath& path);

// The key of a row in a path, "{pk}/{sk}": the texts of its fields, in their order. Which types they have is known with
// the table.
Result<std::vector<std::string>> KeyTextsOf(const Call& call);
// A map of the key's fields.
Result<Bytes> KeyDocument(const TableInfo& table, std::span<const std::string> texts);

// "a,b.c": paths of fields; nothing when the parameter is not there.
Result<std::optional<Projection>> ParseFields(std::optional<std::string_view> text);
// Likewise a condition.
Result<std::optional<Condition>> ParseCondition(std::string_view parameter, std::optional<std::string_view> text);

}  // namespace kvarts::http
