// The parts by themselves: encoding a key, JSON, the hot-value cache, deciding a commit. For finding where time goes;
// none of these is a target.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/histogram.h"
#include "base/top_keys.h"
#include "base/utf8.h"
#include "core/cursor.h"
#include "core/keyspace.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocksdb/group.h"
#include "engine/rocksdb/hot_cache.h"
#include "engine/rocksdb/key_hash.h"
#include "model/access/token.h"
#include "model/access/tokens.h"
#include "support/load.h"

namespace kvarts::bench {
namespace {

constexpr uint64_t kKeys = 100'000;
constexpr size_t kCacheBytes = 64 << 20;
constexpr size_t kMaxValue = 4096;
constexpr Version kNow{1000};

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> keys;
    for (const uint32_t n : Shuffled(kKeys, 1)) keys.push_back(KeyOf(n));
    return keys;
  }();
  return kAll;
}

ValueHeader HeaderOf(uint64_t version) {
  ValueHeader header;
  header.version = {version};
  return header;
}

void EncodeUserKey(benchmark::State& state) {
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(UserKey(Keys()[i++ % kKeys]));
}
BENCHMARK(EncodeUserKey);

// Of a page of a user's keys: made, and opened again.
void SealedCursor(benchmark::State& state) {
  const Bytes key(32, 'k');
  const CursorQuery query{.range = UserRange(KeyRange::Prefix("user:"))};
  const KeyRange rest{Bytes(UserKey("user:0000012345").view()), query.range.end};
  const Timestamp now{1'700'000'000'000'000};
  for (auto _ : state) {
    const std::string text = MakeCursor(query, rest, Version::FromTime(now), now, key);
    benchmark::DoNotOptimize(OpenCursor(text, query, now, Duration::Seconds(60), key));
  }
}
BENCHMARK(SealedCursor);

// Of a hundred tokens: by hash, and as the one that the connection bore last.
void CheckToken(benchmark::State& state) {
  const auto engine = OpenMemoryEngine(MemoryOptions());
  auto store = *Store::Open(*engine);
  const auto tokens = *Tokens::Open(*store);
  std::string text;
  const NewToken token{.name = "bench", .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  for (int i = 0; i < 100; ++i) text = store->Run([&](Txn& txn) { return CreateToken(txn, token); })->text;
  Tokens::Last last;
  for (auto _ : state) benchmark::DoNotOptimize(tokens->Check(text, state.range(0) != 0 ? &last : nullptr));
}
BENCHMARK(CheckToken)->Arg(0)->Arg(1)->ArgName("remembered");

void EncodeTuple(benchmark::State& state) {
  size_t i = 0;
  for (auto _ : state) {
    KeyBuffer key;
    TupleWriter<KeyBuffer> writer(&key);
    writer.Int(7).Text(Keys()[i % kKeys]).Int(static_cast<int64_t>(i));
    ++i;
    benchmark::DoNotOptimize(key);
  }
}
BENCHMARK(EncodeTuple);

// Text of 100 bytes, as most values are in the benchmarks.
std::string SomeText() {
  std::string text;
  while (text.size() < 100) text.append("a value that is text; ");
  text.resize(100);
  return text;
}

void CheckUtf8(benchmark::State& state) {
  const std::string text = SomeText();
  for (auto _ : state) benchmark::DoNotOptimize(IsUtf8(text));
}
BENCHMARK(CheckUtf8);

void WriteJsonText(benchmark::State& state) {
  const std::string text = SomeText();
  std::string out;
  for (auto _ : state) {
    out.clear();
    AppendJsonText(&out, text);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(WriteJsonText);

// What a GET answers.
void WriteJsonAnswer(benchmark::State& state) {
  const std::string text = SomeText();
  std::string out;
  for (auto _ : state) {
    out.clear();
    JsonWriter json(&out);
    json.BeginObject().BytesField("key", "user:00001234").BytesField("value", text);
    json.Field("version", "1783245330123456.0").Name("expiry").Null().EndObject();
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(WriteJsonAnswer);

// What a PUT carries; with an escape in it, the text has to be copied.
void ReadJsonRequest(benchmark::State& state, std::string_view begin) {
  std::string text = R"({"value":")";
  text.append(begin).append(SomeText()).append(R"(","ttl":60})");
  for (auto _ : state) {
    std::string_view value;
    uint64_t ttl = 0;
    JsonReader json(text);
    json.Object([&](std::string_view name) {
      if (name == "value") {
        value = json.Text();
      } else if (name == "ttl") {
        ttl = json.Uint();
      } else {
        json.Unknown(name);
      }
    });
    benchmark::DoNotOptimize(json.Finish().has_value());
    benchmark::DoNotOptimize(value);
    benchmark::DoNotOptimize(ttl);
  }
}
BENCHMARK_CAPTURE(ReadJsonRequest, plain, "");
BENCHMARK_CAPTURE(ReadJsonRequest, escaped, R"(\n)");
void RecordLatency(benchmark::State& state) {
  LatencyHistogram histogram;
  uint64_t nanos = 1;
  for (auto _ : state) histogram.Record(nanos += 977);
}
BENCHMARK(RecordLatency);

void RecordLatencyAlone(benchmark::State& state) {
  LatencyHistogram histogram;
  uint64_t nanos = 1;
  for (auto _ : state) histogram.RecordAlone(nanos += 977);
}
BENCHMARK(RecordLatencyAlone);

// Keys with four prefixes each, zipfian, as the hot keys of an event loop see them.
const std::vector<std::string>& DeepKeys() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> keys;
    std::mt19937_64 random(1);
    const Zipfian zipfian(1'000'000, 0.99);
    for (int i = 0; i < 1 << 20; ++i) {
      const uint64_t n = zipfian(random);
      keys.push_back(fmt::format("t/{}/case/{}/event/{}", n % 50, n % 5000, n));
    }
    return keys;
  }();
  return kAll;
}

// A clock that a benchmark moves on, so that the load is what it says: so many reads a second.
void TrackReads(benchmark::State& state, uint64_t per_second) {
  ManualClock clock({1});
  TopKeys top(clock);
  const std::vector<std::string>& keys = DeepKeys();
  size_t i = 0;
  for (auto _ : state) {
    if (i % 128 == 0) clock.Advance(Duration::Micros(static_cast<int64_t>(128'000'000 / per_second)));
    top.Read(keys[i++ % keys.size()], 100);
  }
}
void TrackReadsOfAFullLoop(benchmark::State& state) { TrackReads(state, 125'000); }
void TrackEveryRead(benchmark::State& state) { TrackReads(state, 1'000); }
BENCHMARK(TrackReadsOfAFullLoop);
BENCHMARK(TrackEveryRead);

void TakeHotKeys(benchmark::State& state) {
  ManualClock clock({1});
  TopKeys top(clock);
  for (size_t i = 0; i < 100'000; ++i) top.Read(DeepKeys()[i], 100);
  for (auto _ : state) benchmark::DoNotOptimize(top.Take());
}
BENCHMARK(TakeHotKeys);

// A cache with every key in it.
std::unique_ptr<HotCache> FullCache() {
  auto cache = std::make_unique<HotCache>(kCacheBytes, kMaxValue);
  const std::string value = ValueOf(1, 100);
  for (const std::string& key : Keys()) cache->Fill(KeyHash(key), key, HeaderOf(1), value, kNow);
  return cache;
}

void CacheHit(benchmark::State& state) {
  const auto cache = FullCache();
  Record record;
  size_t i = 0;
  for (auto _ : state) {
    const std::string& key = Keys()[i++ % kKeys];
    benchmark::DoNotOptimize(cache->Find(KeyHash(key), key, kNow, &record));
  }
}
BENCHMARK(CacheHit);

void CacheMiss(benchmark::State& state) {
  const auto cache = FullCache();
  Record record;
  std::string key = KeyOf(kKeys);
  for (auto _ : state) {
    ++key[8];
    benchmark::DoNotOptimize(cache->Find(KeyHash(key), key, kNow, &record));
  }
}
BENCHMARK(CacheMiss);

// Filling a cache that has room for a tenth of what is offered.
void CacheFill(benchmark::State& state) {
  HotCache cache(kKeys * 20, kMaxValue);
  const std::string value = ValueOf(1, 100);
  size_t i = 0;
  for (auto _ : state) {
    const std::string& key = Keys()[i++ % kKeys];
    cache.Fill(KeyHash(key), key, HeaderOf(1), value, kNow);
  }
}
BENCHMARK(CacheFill);

void CacheWrite(benchmark::State& state) {
  const auto cache = FullCache();
  const std::string value = ValueOf(2, 100);
  size_t i = 0;
  for (auto _ : state) {
    const std::string& key = Keys()[i++ % kKeys];
    cache->Write(KeyHash(key), key, HeaderOf(2 + i), value);
  }
}
BENCHMARK(CacheWrite);

class MutedSubmission final : public Submission {
 public:
  void Done(Result<Committed>) override {}
};

// A group of 64 one-put commits, decided and made into a batch, but not written.
void DecideCommit(benchmark::State& state) {
  constexpr int kGroup = 64;
  RocksStore store(RocksOptions{}, "");
  store.routing = std::make_shared<const Routing>(std::vector<Routing::Assignment>());
  Group group(store, kNoVersion);
  const std::string value = ValueOf(1, 100);
  std::vector<std::unique_ptr<Submission>> next;
  size_t i = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::unique_ptr<Submission>> submissions;
    for (int n = 0; n < kGroup; ++n) {
      submissions.push_back(std::make_unique<MutedSubmission>());
      submissions.back()->commit.mutations.push_back(Mutation::Put(Keys()[i++ % kKeys], value));
    }
    state.ResumeTiming();
    group.Begin();
    for (auto& submission : submissions) group.Decide(std::move(submission), &next);
  }
  state.SetItemsProcessed(state.iterations() * kGroup);
}
BENCHMARK(DecideCommit);

}  // namespace
}  // namespace kvarts::bench

BENCHMARK_MAIN();
