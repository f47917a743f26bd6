// Writes a golden directory of the current format: golden DIR. How one is kept is said in golden_test.cc.
#include <iostream>

#include "engine/rocksdb/rocks_engine.h"
#include "golden/golden_store.h"

int main(int argc, char** argv) {
  using namespace kvarts;  // NOLINT: a program of ten lines
  if (argc != 2) {
    std::cerr << "usage: golden DIR\n";
    return 2;
  }
  RocksOptions options;
  options.clock = test::GoldenClock();
  auto engine = OpenRocksEngine(argv[1], options);
  const Status written = engine.has_value() ? test::WriteGolden(**engine) : Status(engine.error());
  if (!written.has_value()) std::cerr << written.error() << "\n";
  return written.has_value() ? 0 : 1;
}
