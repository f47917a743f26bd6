// One-put commits with 64 outstanding, against RocksDB's own write of a batch of 64 puts: CPU of all threads per put,
// flushes and compactions included. And conditional commits against unconditional ones: a read and a put through the
// store, and a precondition that the engine has to look up. Nothing is synced.
//
// Every contender overwrites, in the same random order, keys of a store that holds a million of them.
#include <fmt/format.h>

#include "core/keyspace.h"
#include "core/store.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"
#include "support/window.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr int kOutstanding = 64;
// The client comes back for the answers when there are this many, and fills its window up again.
constexpr int kRefill = kOutstanding / 2;

// Every figure twice: with the background work, and what the client and the commit thread did alone.
struct Figures {
  Sample all;
  Sample foreground;
};

class CommitBench {
 public:
  explicit CommitBench(const Arguments& arguments)
      : arguments_(arguments),
        rounds_(arguments.RoundsOr(arguments.full ? 7 : 3)),
        puts_(arguments.full ? 1'000'000 : 300'000),
        scratch_(arguments) {
    options_.memory_budget = 256 << 20;
    for (uint64_t i = 0; i < 1024; ++i) values_.push_back(ValueOf(i, kValueBytes));
    for (const uint32_t n : Shuffled(kKeys, 1)) order_.push_back(n);
    raw_ = std::make_unique<RawDb>(scratch_.Sub("raw"), options_);
    FillRaw(*raw_, kKeys, kValueBytes);
    engine_ = Must(OpenRocksEngine(scratch_.Sub("kvarts"), options_));
    store_ = Must(Store::Open(*engine_));
    FillEngine(*engine_, kKeys, kValueBytes);
  }
  ~CommitBench() { engine_.reset(); }

  void Run();

 private:
  static constexpr uint64_t kKeys = 1'000'000;
  static constexpr uint64_t kHotKeys = 100'000;

  uint64_t NumberOf(uint64_t i) const { return order_[(from_ + i) % kKeys]; }
  const std::string& NextValue(uint64_t i) const { return values_[i % values_.size()]; }

  // Both kinds of figures of one contender, from a store without anything to flush or to compact.
  Figures Measure(const std::function<void()>& body);
  Figures Raw();
  Figures ThroughEngine(int batch, bool waits);
  Figures ThroughStore(int batch, bool waits);
  // Reads a key and puts it, out of `keys` keys.
  Figures ReadAndPut(uint64_t keys);
  Figures PutAmong(uint64_t keys);
  // A put to the engine, with or without a precondition that it has to look up.
  Figures Submitted(uint64_t keys, bool conditional);
  void WarmUp();

  const Arguments arguments_;
  const int rounds_;
  const uint64_t puts_;
  Scratch scratch_;
  RocksOptions options_;
  std::vector<std::string> values_;
  std::vector<uint64_t> order_;
  uint64_t from_ = 0;  // where in the order this round begins
  std::unique_ptr<RawDb> raw_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
};

Figures CommitBench::Measure(const std::function<void()>& body) {
  Figures figures;
  figures.all = WithBackground(puts_, [&] {
    const int64_t cpu = ForegroundCpuNanos();
    const int64_t wall = WallNanos();
    body();
    figures.foreground = {static_cast<double>(ForegroundCpuNanos() - cpu) / static_cast<double>(puts_),
                          static_cast<double>(WallNanos() - wall) / static_cast<double>(puts_)};
  });
  Must(engine_->Compact(KeyRange::All()));
  raw_->Compact();
  return figures;
}

Figures CommitBench::Raw() {
  CountNothing();
  return Measure([&] {
    rocksdb::WriteBatch batch;
    for (uint64_t i = 0; i < puts_; ++i) {
      Check(batch.Put(KeyOf(NumberOf(i)), NextValue(i)));
      if (batch.Count() < kOutstanding) continue;
      Check((*raw_)->Write({}, &batch));
      batch.Clear();
    }
  });
}

Figures CommitBench::ThroughEngine(int batch, bool waits) {
  return Measure([&] {
    Window window(kOutstanding, batch, waits);
    SubmitAll(*engine_, window, puts_, [&](uint64_t i, Commit* commit) {
      commit->durability = Durability::kNone;
      commit->mutations.push_back(Mutation::Put(UserKey(KeyOf(NumberOf(i))), NextValue(i)));
    });
  });
}

Figures CommitBench::ThroughStore(int batch, bool waits) {
  return Measure([&] {
    Window window(kOutstanding, batch, waits);
    RunAll(*store_, window, puts_, [&](uint64_t i) -> Store::Body {
      return [key = UserKey(KeyOf(NumberOf(i))), value = &NextValue(i)](Txn& txn) -> Status {
        txn.Put(key, *value);
        return {};
      };
    });
  });
}

void CommitBench::WarmUp() {
  for (uint64_t i = 0; i < kHotKeys; ++i) Must(GetOne(*engine_, UserKey(KeyOf(order_[i]))));
}

Figures CommitBench::PutAmong(uint64_t keys) {
  WarmUp();
  return Measure([&] {
    Window window(kOutstanding, kRefill);
    RunAll(*store_, window, puts_, [&](uint64_t i) -> Store::Body {
      return [key = UserKey(KeyOf(order_[(from_ + i) * 7919 % keys])), value = &NextValue(i)](Txn& txn) -> Status {
        txn.Put(key, *value);
        return {};
      };
    });
  });
}

Figures CommitBench::ReadAndPut(uint64_t keys) {
  WarmUp();
  return Measure([&] {
    Window window(kOutstanding, kRefill);
    RunAll(*store_, window, puts_, [&](uint64_t i) -> Store::Body {
      return [key = UserKey(KeyOf(order_[(from_ + i) * 7919 % keys])), value = &NextValue(i)](Txn& txn) -> Status {
        KVARTS_TRY(const std::optional<Record> found, txn.Get(key));
        Check(found.has_value(), "a key is missing");
        txn.Put(key, *value);
        return {};
      };
    });
  });
}

Figures CommitBench::Submitted(uint64_t keys, bool conditional) {
  WarmUp();
  return Measure([&] {
    Window window(kOutstanding, kRefill);
    SubmitAll(*engine_, window, puts_, [&](uint64_t i, Commit* commit) {
      const KeyBuffer key = UserKey(KeyOf(order_[(from_ + i) * 7919 % keys]));
      if (conditional) {
        Precondition& there = commit->preconditions.emplace_back();
        there.kind = Precondition::Kind::kPresent;
        there.key = key.view();
      }
      commit->durability = Durability::kNone;
      commit->mutations.push_back(Mutation::Put(key, NextValue(i)));
    });
  });
}

void CommitBench::Run() {
  using Contender = std::function<Figures()>;
  const auto raw = [this] { return Raw(); };
  const auto put = [this] { return ThroughStore(kRefill, false); };
  const auto put_here = [this] { return ThroughStore(kOutstanding, true); };
  const auto hot_put = [this] { return PutAmong(kHotKeys); };
  const auto engine_put = [this] { return Submitted(kHotKeys, false); };
  struct Line {
    Target target;
    Contender ours;
    Contender reference;
    bool foreground = false;
  };
  const std::vector<Line> lines = {
      {{.id = "commit", .what = "one-put commit, 64 outstanding, through the store", .bound = 1.25}, put_here, raw},
      {{.id = "commit-engine", .what = "the same submitted to the engine", .bound = 1.25},
       [this] { return ThroughEngine(kOutstanding, true); },
       raw},
      {{.id = "commit-handed", .what = "one-put commit of a client that goes on meanwhile", .bound = 1.25}, put, raw},
      {{.id = "commit-handed-foreground", .what = "the same without flushes and compactions"}, put, raw, true},
      {{.id = "commit-handed-engine", .what = "the same submitted to the engine"},
       [this] { return ThroughEngine(kRefill, false); },
       raw},
      {{.id = "conditional", .what = "read and put of a hot key, against a put of it", .bound = 1.5},
       [this] { return ReadAndPut(kHotKeys); },
       hot_put},
      {{.id = "conditional-engine", .what = "stated precondition on a hot key, against none", .bound = 1.5},
       [this] { return Submitted(kHotKeys, true); },
       engine_put},
      {{.id = "conditional-cold", .what = "read and put of a key that is not in the hot-value cache"},
       [this] { return ReadAndPut(kKeys); },
       put}};
  for (const Line& line : lines) {
    if (!arguments_.Wants(line.target.id)) continue;
    Comparison comparison(line.target);
    for (int round = 0; round < rounds_; ++round) {
      from_ = static_cast<uint64_t>(round) * puts_;
      const Figures ours = line.ours();
      const Figures reference = line.reference();
      comparison.Add(line.foreground ? ours.foreground : ours.all,
                     line.foreground ? reference.foreground : reference.all);
    }
    comparison.Report();
  }
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::CommitBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
