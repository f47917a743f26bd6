#include "support/engines.h"

#include <stdexcept>

#include "engine/memory/memory_engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

class MemoryTestEngine final : public TestEngine {
 public:
  explicit MemoryTestEngine(const Limits& limits) : TestEngine(limits) { set_engine(Open()); }

 private:
  std::unique_ptr<Engine> Open() override { return OpenMemoryEngine({.limits = limits(), .clock = shared_clock()}); }
};

class RocksTestEngine final : public TestEngine {
 public:
  explicit RocksTestEngine(const Limits& limits) : TestEngine(limits) { set_engine(Open()); }
  ~RocksTestEngine() override { set_engine(nullptr); }  // before its directory

 private:
  std::unique_ptr<Engine> Open() override {
    RocksOptions options;
    options.limits = limits();
    options.clock = shared_clock();
    options.memory_budget = 64 << 20;
    options.hot_cache_bytes = 8 << 20;
    auto opened = OpenRocksEngine(dir_ / "data", std::move(options));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }

  TempDir dir_;
};

template <class Kind>
std::unique_ptr<TestEngine> Make(const Limits& limits) {
  return std::make_unique<Kind>(limits);
}

}  // namespace

void TestEngine::Reopen() {
  engine_.reset();
  engine_ = Open();
}

const std::vector<EngineKind>& EngineKinds() {
  static const std::vector<EngineKind> kinds = {
      {"memory", Make<MemoryTestEngine>},
      {"rocksdb", Make<RocksTestEngine>},
  };
  return kinds;
}

}  // namespace kvarts::test
