// What becomes of a get, a put and a scan when the store holds a hundred times as many keys. Only a part of the keys,
// of the same size in both stores, is used and is in the caches: how deep the tree is shows, how fast the disk is does
// not. Gets are measured with the hot-value cache and without it, where every get goes to the block cache.
#include <fmt/format.h>

#include "api/open.h"
#include "core/keyspace.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr uint64_t kUsedKeys = 20'000;
constexpr size_t kScanEntries = 100;

// One of the two stores.
class Grown {
 public:
  Grown(const Arguments& arguments, const Scratch& scratch, uint64_t keys, size_t hot_cache_bytes)
      : operations_(arguments.full ? 200'000 : 100'000), keys_(keys) {
    Options options;
    options.hot_cache_bytes = hot_cache_bytes;
    const std::string path = scratch.Sub(std::to_string(keys));
    if (!std::filesystem::exists(path)) {
      const auto engine = Must(OpenRocksEngine(path, RocksOptionsOf(options)));
      FillEngine(*engine, keys, kValueBytes);
    }
    database_.emplace(Must(Database::Open(path, options)));
  }

  Sample Gets() {
    return OnThreads("get", 1, operations_, [&](int) {
      std::mt19937_64 random(1);
      for (uint64_t i = 0; i < operations_; ++i)
        Check(Must(database_->Get(Pick(random))).has_value(), "a key is missing");
    });
  }
  Sample Scans() {
    const uint64_t scans = operations_ / kScanEntries;
    return OnThreads("scan", 1, scans, [&](int) {
      std::mt19937_64 random(2);
      ScanOptions options;
      options.limit = kScanEntries;
      for (uint64_t i = 0; i < scans; ++i) {
        Check(Must(database_->Scan({Pick(random), {}}, options)).entries.size() == kScanEntries, "entries are missing");
      }
    });
  }
  // CPU time of everybody but flushes and compactions.
  Sample Puts() {
    const uint64_t puts = operations_ / 10;
    WriteOptions options;
    options.durability = Durability::kNone;
    std::mt19937_64 random(3);
    const std::string value = ValueOf(1, kValueBytes);
    const int64_t cpu = ForegroundCpuNanos();
    const int64_t wall = WallNanos();
    for (uint64_t i = 0; i < puts; ++i) Must(database_->Put(Pick(random), value, options));
    const auto count = static_cast<double>(puts);
    return {static_cast<double>(ForegroundCpuNanos() - cpu) / count, static_cast<double>(WallNanos() - wall) / count};
  }

 private:
  // In the middle of the keys.
  std::string Pick(std::mt19937_64& random) const { return KeyOf(keys_ / 2 + random() % kUsedKeys); }

  const uint64_t operations_;
  const uint64_t keys_;
  std::optional<Database> database_;
};

void Run(const Arguments& arguments) {
  const Scratch scratch(arguments);
  const uint64_t few = arguments.full ? 500'000 : 50'000;
  const int rounds = arguments.RoundsOr(arguments.full ? 9 : 5);
  const auto compare = [&](const char* id, const std::string& what, size_t hot_cache, Sample (Grown::*measure)()) {
    if (!arguments.Wants(id)) return;
    Comparison line({.id = id, .what = what, .bound = 2});
    Grown small(arguments, scratch, few, hot_cache);
    Grown large(arguments, scratch, 100 * few, hot_cache);
    (small.*measure)(), (large.*measure)();  // warm
    for (int round = 0; round < rounds; ++round) {
      const Sample reference = (small.*measure)();
      line.Add((large.*measure)(), reference);
    }
    line.Report();
  };
  const std::string sizes = fmt::format("{} against {} keys", 100 * few, few);
  compare("growth-get", "get, " + sizes, 64 << 20, &Grown::Gets);
  compare("growth-get-cold", "get past the hot-value cache, " + sizes, 0, &Grown::Gets);
  compare("growth-scan", "100-entry scan, " + sizes, 64 << 20, &Grown::Scans);
  compare("growth-put", "put, " + sizes, 64 << 20, &Grown::Puts);
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::Run(kvarts::bench::Arguments::Parse(argc, argv));
  return 0;
}
