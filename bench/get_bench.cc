// Gets through the public interface against RocksDB's own from its block cache: one million keys, zipfian 0.99, a hot
// cache of 64 MB, four readers, the value copied out. CPU time of the readers.
//
// Hits and misses are measured apart, on key sequences that RocksDB gets too. Hits: zipfian over the hottest tenth of
// the keys, which fits the cache and is warm. Misses: the coldest six tenths, round and round, on a cache that is full
// of the others. That each sequence does what its name says is checked through the engine's own count.
#include <fmt/format.h>

#include "api/open.h"
#include "core/keyspace.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr uint64_t kKeys = 1'000'000;
constexpr size_t kValueBytes = 100;
constexpr int kReaders = 4;
constexpr uint64_t kFirstCold = kKeys * 4 / 10;  // colder than the cache has room for

using Sequence = std::vector<std::string>;  // keys in the order in which one reader gets them

class GetBench {
 public:
  explicit GetBench(const Arguments& arguments)
      : arguments_(arguments),
        rounds_(arguments.RoundsOr(arguments.full ? 11 : 5)),
        gets_(arguments.full ? 400'000 : 200'000),
        scratch_(arguments) {
    raw_ = std::make_unique<RawDb>(scratch_.Sub("raw"), RocksOptionsOf(options_));
    FillRaw(*raw_, kKeys, kValueBytes);
    MakeSequences();
    {
      auto engine = Must(OpenRocksEngine(scratch_.Sub("kvarts"), RocksOptionsOf(options_)));
      FillEngine(*engine, kKeys, kValueBytes);
    }
    CheckHits();
    database_.emplace(Must(Database::Open(scratch_.Sub("kvarts"), options_)));
  }

  void Run();

 private:
  void MakeSequences();
  // Reads what is not cold, coldest first, until the cache is full of it.
  static void FillCache(const std::function<void(const std::string&)>& get);
  void CheckHits();
  Sample Ours(const std::vector<Sequence>& sequences);
  Sample Raw(const std::vector<Sequence>& sequences);
  void Measure(const Target& target, const std::vector<Sequence>& sequences);

  const Arguments arguments_;
  const int rounds_;
  const uint64_t gets_;  // of one reader in one round
  Scratch scratch_;
  Options options_;
  std::vector<Sequence> mixed_, hits_, misses_;  // one for each reader
  std::unique_ptr<RawDb> raw_;
  std::optional<Database> database_;
};

void GetBench::MakeSequences() {
  const Scatter scatter(kKeys);
  const Zipfian all(kKeys, 0.99);
  const Zipfian hottest(kKeys / 10, 0.99);
  constexpr uint64_t kShare = (kKeys - kFirstCold) / kReaders;  // of the cold keys, for each reader
  for (uint64_t reader = 0; reader < kReaders; ++reader) {
    std::mt19937_64 random(reader);
    Sequence mixed, hits, misses;
    for (uint64_t i = 0; i < gets_; ++i) {
      mixed.push_back(KeyOf(scatter(all(random))));
      hits.push_back(KeyOf(scatter(hottest(random))));
    }
    for (uint64_t i = 0; i < kShare; ++i) misses.push_back(KeyOf(scatter(kFirstCold + reader * kShare + i)));
    mixed_.push_back(std::move(mixed));
    hits_.push_back(std::move(hits));
    misses_.push_back(std::move(misses));
  }
}

void GetBench::FillCache(const std::function<void(const std::string&)>& get) {
  const Scatter scatter(kKeys);
  for (uint64_t rank = kFirstCold; rank-- > 0;) {
    for (int pass = 0; pass < 3; ++pass) get(KeyOf(scatter(rank)));
  }
}

void GetBench::CheckHits() {
  const auto engine = Must(OpenRocksEngine(scratch_.Sub("kvarts"), RocksOptionsOf(options_)));
  const auto get = [&](const std::string& key) { Must(GetOne(*engine, UserKey(key))); };
  const auto share = [&](const std::vector<Sequence>& sequences) {
    FillCache(get);
    CacheStats before;
    for (int pass = 0; pass < 2; ++pass) {
      before = Must(engine->Stats()).hot_values;
      for (uint64_t i = 0; i < sequences[0].size(); ++i) {
        for (const Sequence& keys : sequences) get(keys[i]);
      }
    }
    const CacheStats after = Must(engine->Stats()).hot_values;
    const auto hits = static_cast<double>(after.hits - before.hits);
    return 100 * hits / (hits + static_cast<double>(after.misses - before.misses));
  };
  Note(fmt::format(
      "hot-value cache hits: {:.1f} % of the sequence of hits, {:.1f} % of misses, {:.1f} % of the whole load",
      share(hits_), share(misses_), share(mixed_)));
}

Sample GetBench::Ours(const std::vector<Sequence>& sequences) {
  return OnThreads("ours", kReaders, kReaders * sequences[0].size(), [&](int reader) {
    std::string value;
    for (const std::string& key : sequences[static_cast<size_t>(reader)]) {
      auto found = Must(database_->Get(key));
      Check(found.has_value(), "a key is missing");
      value = std::move(found->value);
    }
  });
}

Sample GetBench::Raw(const std::vector<Sequence>& sequences) {
  return OnThreads("raw", kReaders, kReaders * sequences[0].size(), [&](int reader) {
    CountNothing();
    for (const std::string& key : sequences[static_cast<size_t>(reader)]) {
      std::string value;  // as ours: a value of its own for each get
      Check((*raw_)->Get({}, key, &value));
    }
  });
}

void GetBench::Measure(const Target& target, const std::vector<Sequence>& sequences) {
  if (!arguments_.Wants(target.id)) return;
  Comparison line(target);
  FillCache([&](const std::string& key) { Must(database_->Get(key)); });
  Ours(sequences), Raw(sequences);  // warm
  for (int round = 0; round < rounds_; ++round) {
    const Sample ours = Ours(sequences);
    line.Add(ours, Raw(sequences));
  }
  line.Report();
}

void GetBench::Run() {
  Measure({.id = "get-hit", .what = "get that hits the hot-value cache", .bound = 0.3}, hits_);
  Measure({.id = "get-miss", .what = "get that misses it", .bound = 1.2}, misses_);
  Measure({.id = "get-mixed", .what = "gets of the whole load"}, mixed_);
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::GetBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
