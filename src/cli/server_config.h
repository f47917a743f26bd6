// The options of the server as flags of a command: those that start one, and `kvarts config`.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "server/config.h"

namespace kvarts::cli {

// --config, and a flag for every option of the server.
std::vector<OptionSyntax> ServerSyntaxOptions();

// Flags over environment over file over defaults. The block is `environ`, or a test's own.
Result<LoadedConfig> LoadConfig(const Arguments& arguments, const char* const* environment);

}  // namespace kvarts::cli
