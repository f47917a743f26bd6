// kvarts version: what this binary is made of.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"
#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_version.h"

namespace kvarts::cli {

const Syntax& VersionSyntax() {
  static const Syntax kSyntax = {.arguments = {},
                                 .options = {{"json", OptionKind::kFlag, {}, "one JSON object instead of a table"}},
                                 .description =
                                     "Prints the version of kvarts, the newest format of data directories that it\n"
                                     "knows, and what it was built with.\n"};
  return kSyntax;
}

Result<int> RunVersion(const Arguments& arguments) {
  if (arguments.Has("json")) {
    std::string out;
    JsonWriter json(&out);
    json.BeginObject().Field("kvarts", std::string_view(KVARTS_VERSION)).Field("format", kFormatVersion);
    json.Field("rocksdb", RocksVersion()).Field("compiler", std::string_view("GCC " __VERSION__)).EndObject();
    Print(out + "\n");
    return kExitOk;
  }
  Table table({Table::Align::kLeft, Table::Align::kLeft});
  table.Add({"kvarts", KVARTS_VERSION});
  table.Add({"format", std::to_string(kFormatVersion)});
  table.Add({"RocksDB", RocksVersion()});
  table.Add({"compiler", "GCC " __VERSION__});
  Print(table.ToString());
  return kExitOk;
}

}  // namespace kvarts::cli
