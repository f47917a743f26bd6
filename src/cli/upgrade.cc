// kvarts upgrade: brings a data directory of the previous format up to date, on purpose.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/place.h"
#include "cli/terminal.h"

namespace kvarts::cli {

const Syntax& UpgradeSyntax() {
  static const Syntax kSyntax = {.arguments = {{"DIR"}},
                                 .options = {},
                                 .description =
                                     "Brings a data directory of the previous format to the one that this kvarts\n"
                                     "writes. Other commands refuse such a directory. There is no way back: an older\n"
                                     "kvarts will not open it any more, so keep a copy. A directory that is up to\n"
                                     "date is left as it is.\n",
                                 .refused = {{"shards",
                                              "upgrade is about the files of a data directory; on PostgreSQL there are "
                                              "none"}}};
  return kSyntax;
}

Result<int> RunUpgrade(const Arguments& arguments) {
  const std::string& dir = arguments.at(0);
  KVARTS_TRY(const std::optional<Stamp> before, ReadStamp(dir));
  RocksOptions options = DirectoryOptions();
  options.upgrade = true;
  KVARTS_TRY(std::unique_ptr<Engine> engine, OpenRocksEngine(dir, options));
  engine.reset();
  KVARTS_TRY(const std::optional<Stamp> after, ReadStamp(dir));
  if (!after) return Error(ErrorCode::kInternal, "the upgraded directory has no stamp", {{"path", dir}});
  if (before && before->format == after->format) {
    Print(fmt::format("{} has format {}, the newest that this kvarts knows: nothing to do.\n", dir, after->format));
  } else {
    Print(
        fmt::format("{} was upgraded from format {} to format {}.\n", dir, before ? before->format : 0, after->format));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
