#include "support/contenders.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "core/keyspace.h"
#include "engine/rocksdb/tuning.h"
#include "support/load.h"

namespace kvarts::bench {
namespace {

constexpr uint64_t kFillBatch = 1000;

}  // namespace

Arguments Arguments::Parse(int argc, char** argv) {
  Arguments arguments;
  arguments.dir = std::filesystem::temp_directory_path().string();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--full") {
      arguments.full = true;
    } else if (argument.starts_with("--rounds=")) {
      arguments.rounds = std::atoi(argv[i] + 9);
    } else if (argument.starts_with("--only=")) {
      arguments.only = argument.substr(7);
    } else if (argument.starts_with("--dir=")) {
      arguments.dir = argument.substr(6);
    } else if (argument != "--quick") {
      fmt::print(stderr, "usage: {} [--quick|--full] [--rounds=N] [--only=ID] [--dir=DIR]\n", argv[0]);
      std::exit(2);
    }
  }
  return arguments;
}

Scratch::Scratch(const Arguments& arguments)
    : path_(std::filesystem::path(arguments.dir) / fmt::format("kvarts-bench-{}", getpid())) {
  std::filesystem::create_directories(path_);
}

Scratch::~Scratch() { Remove(path_.string()); }

void Scratch::Remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void Check(const rocksdb::Status& status) { Check(status.ok(), status.ToString()); }

void Check(bool good, const std::string& what) {
  if (good) return;
  fmt::print(stderr, "the benchmark cannot go on: {}\n", what);
  std::_Exit(1);
}

void CountNothing() { rocksdb::SetPerfLevel(rocksdb::kDisable); }

RawDb::RawDb(const std::string& path, const RocksOptions& options) : path_(path), options_(options) { Open(); }

void RawDb::Open() {
  const MemoryPlan plan(options_);
  SharedTuning shared;
  shared.block_cache = rocksdb::NewLRUCache(plan.blocks_and_buffers + plan.hot_values);
  const rocksdb::DBOptions db_options = DatabaseOptions(options_, plan, shared);
  db_options.env->SetBackgroundThreads(options_.background_threads, rocksdb::Env::Priority::LOW);
  db_options.env->SetBackgroundThreads(1, rocksdb::Env::Priority::HIGH);
  db_options.env->LowerThreadPoolCPUPriority(rocksdb::Env::Priority::LOW);
  rocksdb::DB* db = nullptr;
  Check(rocksdb::DB::Open({db_options, FamilyOptions(Profile::kLookup, options_, plan, shared)}, path_, &db));
  db_.reset(db);
}

RawDb::~RawDb() { Close(); }

void RawDb::Close() {
  rocksdb::Status closed = db_->Close();
  closed.PermitUncheckedError();
  db_.reset();
}

void RawDb::Reopen() {
  Close();
  Open();
}

void RawDb::Compact() {
  rocksdb::CompactRangeOptions how;
  how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  Check(db_->CompactRange(how, nullptr, nullptr));
}

void FillRaw(RawDb& raw, uint64_t n, size_t value_bytes) {
  rocksdb::WriteBatch batch;
  for (uint64_t i = 0; i < n; ++i) {
    Check(batch.Put(KeyOf(i), ValueOf(i, value_bytes)));
    if (i % kFillBatch != kFillBatch - 1 && i + 1 != n) continue;
    Check(raw->Write({}, &batch));
    batch.Clear();
  }
  raw.Compact();
  raw.Reopen();
}

void FillEngine(Engine& engine, uint64_t n, size_t value_bytes) {
  Commit commit;
  for (uint64_t i = 0; i < n; ++i) {
    commit.mutations.push_back(Mutation::Put(UserKey(KeyOf(i)), ValueOf(i, value_bytes)));
    if (i % kFillBatch != kFillBatch - 1 && i + 1 != n) continue;
    commit.durability = Durability::kNone;
    Must(CommitAndWait(engine, std::exchange(commit, {})));
  }
  Must(engine.Compact(KeyRange::All()));
}

}  // namespace kvarts::bench
