// The commands of `kvarts table` that hold indexes against their rows; the others are in the file that lists them all.
#pragma once

#include "cli/arguments.h"
#include "cli/command.h"

namespace kvarts::cli {

const Syntax& TableVerifySyntax();
Result<int> RunTableVerify(const Arguments& arguments);

const Syntax& TableFindingsSyntax();
Result<int> RunTableFindings(const Arguments& arguments);

const Syntax& TableRepairSyntax();
Result<int> RunTableRepair(const Arguments& arguments);

}  // namespace kvarts::cli
