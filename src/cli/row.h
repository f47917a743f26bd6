// The commands of `kvarts row` that read many rows; the others are in the file that lists them all.
#pragma once

#include "cli/arguments.h"
#include "cli/command.h"

namespace kvarts::cli {

const Syntax& RowQuerySyntax();
Result<int> RunRowQuery(const Arguments& arguments);

const Syntax& RowScanSyntax();
Result<int> RunRowScan(const Arguments& arguments);

}  // namespace kvarts::cli
