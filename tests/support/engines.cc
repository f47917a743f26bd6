#include "support/engines.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "engine/memory/memory_engine.h"
#include "engine/postgres/postgres_engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "support/postgres_database.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

std::unique_ptr<Engine> Opened(Result<std::unique_ptr<Engine>> opened) {
  if (!opened) throw std::runtime_error(opened.error().ToString());
  return *std::move(opened);
}

class MemoryData final : public EngineData {
  std::unique_ptr<Engine> Open(const Limits& limits, std::shared_ptr<Clock> clock) override {
    return OpenMemoryEngine({.limits = limits, .clock = std::move(clock)});
  }
};

class RocksData final : public EngineData {
  std::unique_ptr<Engine> Open(const Limits& limits, std::shared_ptr<Clock> clock) override {
    RocksOptions options;
    options.limits = limits;
    options.clock = std::move(clock);
    options.memory_budget = 64 << 20;
    options.hot_cache_bytes = 8 << 20;
    return Opened(OpenRocksEngine(dir_ / "data", std::move(options)));
  }

  TempDir dir_;
};

class PostgresData final : public EngineData {
  std::unique_ptr<Engine> Open(const Limits& limits, std::shared_ptr<Clock> clock) override {
    PostgresOptions options;
    const Duration second_run = options.limits.max_second_run_time;
    options.limits = limits;
    // Unless the test says otherwise.
    if (limits.max_second_run_time == Limits().max_second_run_time) options.limits.max_second_run_time = second_run;
    options.clock = std::move(clock);
    options.servers = {database_.target()};
    return Opened(OpenPostgresEngine(std::move(options)));
  }
  std::shared_ptr<void> HoldCommit() override { return database_.HoldCommit(); }

  PostgresDatabase database_;
};

template <class Data>
std::unique_ptr<EngineData> New() {
  return std::make_unique<Data>();
}

}  // namespace

TestEngine::TestEngine(std::unique_ptr<EngineData> data, const Limits& limits)
    : limits_(limits),
      clock_(std::make_shared<ManualClock>(kTestStart)),
      data_(std::move(data)),
      engine_(data_->Open(limits_, clock_)) {}

void TestEngine::Reopen() {
  engine_.reset();
  engine_ = data_->Open(limits_, clock_);
}

const std::vector<EngineKind>& EngineKinds() {
  static const std::vector<EngineKind> kinds = {
      {.name = "memory", .data = New<MemoryData>},
      {.name = "rocksdb", .data = New<RocksData>, .persistent = true, .files = true},
      {.name = "postgres",
       .data = New<PostgresData>,
       .persistent = true,
       .shared = true,
       .missing = PostgresDatabase::Missing()},
  };
  return kinds;
}

std::vector<EngineKind> EngineKindsWith(bool EngineKind::*property) {
  std::vector<EngineKind> kinds;
  std::ranges::copy_if(EngineKinds(), std::back_inserter(kinds), property);
  return kinds;
}

}  // namespace kvarts::test
