#include "cli/directory.h"

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

}  // namespace kvarts::cli
