// kvarts version: what this binary is made of.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_version.h"

namespace kvarts::cli {

const Syntax& VersionSyntax() {
  static const Syntax kSyntax = {.arguments = {},
                                 .options = {},
                                 .description =
                                     "Prints the version of kvarts, the newest format of data directories that it\n"
                                     "knows, and what it was built with.\n"};
  return kSyntax;
}

Result<int> RunVersion(const Arguments&) {
  Table table({Table::Align::kLeft, Table::Align::kLeft});
  table.Add({"kvarts", KVARTS_VERSION});
  table.Add({"format", std::to_string(kFormatVersion)});
  table.Add({"RocksDB", RocksVersion()});
  table.Add({"compiler", "GCC " __VERSION__});
  Print(table.ToString());
  return kExitOk;
}

}  // namespace kvarts::cli
