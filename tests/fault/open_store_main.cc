// open_store DIR [USER]: opens the store in DIR without making one, and says how it went by its exit code: 0 when it is
// open, else 10 and the number of the error code. With USER it first becomes that user (a number), and may make a
// store.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "engine/rocksdb/rocks_engine.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2 && setuid(static_cast<uid_t>(std::stoul(argv[2]))) != 0) return 3;
  kvarts::RocksOptions options;
  options.create_if_missing = argc > 2;
  const auto engine = kvarts::OpenRocksEngine(argv[1], options);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().ToString().c_str());
    return 10 + static_cast<int>(engine.error().code());
  }
  return 0;
}
