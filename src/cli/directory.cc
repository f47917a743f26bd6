#include "cli/directory.h"

#include <fstream>
#include <sstream>

namespace kvarts::cli {

RocksOptions DirectoryOptions() {
  RocksOptions options;
  options.create_if_missing = false;
  options.limits.max_view_age = kMaxViewAge;
  return options;
}

Result<std::unique_ptr<Engine>> OpenDirectory(const std::string& dir, RocksOptions options) {
  return OpenRocksEngine(dir, std::move(options));
}

Result<std::optional<Stamp>> StampOf(const std::string& dir) {
  std::ifstream in(dir + "/KVARTS", std::ios::binary);
  if (!in) return std::optional<Stamp>();
  std::ostringstream text;
  text << in.rdbuf();
  KVARTS_TRY(Stamp stamp, Stamp::Decode(text.str()));
  return std::optional<Stamp>(std::move(stamp));
}

}  // namespace kvarts::cli
