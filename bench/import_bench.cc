// How long a get takes while an import runs. A reader gets keys at a steady pace, zipfian over half a million, and its
// 99th percentile is compared with that of the same reader on an idle store. The import counts only while it keeps 70 %
// of the rate that it has alone, so it cannot be slowed down to make room for the reader. What is judged is the call
// itself. How late a get was answered, counted from when it was due, stands beside it: that has in it how long the
// machine took to wake the reader, with every core taken by the import.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "api/open.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr uint64_t kKeys = 500'000;
constexpr size_t kValueBytes = 100;
constexpr uint64_t kImportBatch = 100;
constexpr auto kPace = std::chrono::microseconds(500);

class ImportBench {
 public:
  explicit ImportBench(const Arguments& arguments)
      : rounds_(arguments.RoundsOr(arguments.full ? 5 : 3)),
        phase_(std::chrono::seconds(arguments.full ? 10 : 3)),
        scratch_(arguments) {
    {
      const auto engine = Must(OpenRocksEngine(scratch_.Sub("kvarts"), RocksOptionsOf({})));
      FillEngine(*engine, kKeys, kValueBytes);
    }
    database_.emplace(Must(Database::Open(scratch_.Sub("kvarts"))));
  }

  void Run();

 private:
  struct Phase {
    double p50_us = 0;
    double p99_us = 0;
    double late_p99_us = 0;
    double imported_per_second = 0;
  };
  Phase Measure(bool reading, bool importing);
  struct Latencies {
    std::vector<double> calls;
    std::vector<double> since_due;
  };
  Latencies Read(const std::atomic<bool>& stop);
  uint64_t Import(const std::atomic<bool>& stop);

  const int rounds_;
  const std::chrono::seconds phase_;
  Scratch scratch_;
  std::optional<Database> database_;
  uint64_t next_key_ = kKeys;
};

// In microseconds.
ImportBench::Latencies ImportBench::Read(const std::atomic<bool>& stop) {
  const Zipfian zipfian(kKeys, 0.99);
  const Scatter scatter(kKeys);
  std::mt19937_64 random(next_key_);
  Latencies latencies;
  auto due = std::chrono::steady_clock::now();
  while (!stop.load(std::memory_order_relaxed)) {
    const std::string key = KeyOf(scatter(zipfian(random)));
    due += kPace;
    std::this_thread::sleep_until(due);
    const auto began = std::chrono::steady_clock::now();
    Must(database_->Get(key));
    const auto ended = std::chrono::steady_clock::now();
    latencies.calls.push_back(std::chrono::duration<double, std::micro>(ended - began).count());
    latencies.since_due.push_back(std::chrono::duration<double, std::micro>(ended - due).count());
  }
  return latencies;
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// Puts new keys, in an order that is not theirs, a hundred a transaction.
uint64_t ImportBench::Import(const std::atomic<bool>& stop) {
  const Scatter scatter(1 << 30);
  WriteOptions options;
  options.durability = Durability::kInterval;
  uint64_t imported = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    Must(database_->Transact(
        [&](Transaction& transaction) -> Status {
          for (uint64_t i = 0; i < kImportBatch; ++i) {
            const uint64_t n = scatter(next_key_ + i);
            KVARTS_CHECK_OK(transaction.Put("import:" + KeyOf(n), ValueOf(n, kValueBytes)));
          }
          return {};
        },
        options));
    next_key_ += kImportBatch;
    imported += kImportBatch;
  }
  return imported;
}

ImportBench::Phase ImportBench::Measure(bool reading, bool importing) {
  WaitUntilIdle();
  std::atomic<bool> stop{false};
  Latencies latencies;
  Phase phase;
  std::thread reader([&] {
    if (reading) latencies = Read(stop);
  });
  std::thread importer([&] {
    const int64_t began = WallNanos();
    const uint64_t imported = importing ? Import(stop) : 0;
    phase.imported_per_second = static_cast<double>(imported) * 1e9 / static_cast<double>(WallNanos() - began);
  });
  std::this_thread::sleep_for(phase_);
  stop = true;
  reader.join();
  importer.join();
  phase.p50_us = Percentile(latencies.calls, 0.5);
  phase.p99_us = Percentile(latencies.calls, 0.99);
  phase.late_p99_us = Percentile(latencies.since_due, 0.99);
  return phase;
}

void ImportBench::Run() {
  std::vector<double> ratios, late, kept, idle_p99, busy_p99, idle_late, busy_late;
  Measure(true, false);  // warm
  for (int round = 0; round < rounds_; ++round) {
    const Phase alone = Measure(false, true);
    const Phase idle = Measure(true, false);
    const Phase both = Measure(true, true);
    ratios.push_back(both.p99_us / idle.p99_us);
    late.push_back(both.late_p99_us / idle.late_p99_us);
    kept.push_back(both.imported_per_second / alone.imported_per_second);
    idle_p99.push_back(idle.p99_us), busy_p99.push_back(both.p99_us);
    idle_late.push_back(idle.late_p99_us), busy_late.push_back(both.late_p99_us);
    Note(fmt::format(
        "get p50 {:.1f} µs idle, {:.1f} µs beside the import; import {:.0f}/s alone, {:.0f}/s beside the reader",
        idle.p50_us, both.p50_us, alone.imported_per_second, both.imported_per_second));
  }
  ReportRatios({.id = "import-p99", .what = "get p99 while an import runs, against idle", .bound = 5, .by_wall = true},
               fmt::format("{:.0f} µs", Median(busy_p99)), fmt::format("{:.0f} µs", Median(idle_p99)), ratios);
  ReportRatios({.id = "import-late", .what = "the same since the get was due", .by_wall = true},
               fmt::format("{:.0f} µs", Median(busy_late)), fmt::format("{:.0f} µs", Median(idle_late)), late);
  ReportRatios({.id = "import-rate",
                .what = "rate of that import, against alone",
                .bound = 0.7,
                .at_most = false,
                .by_wall = true},
               "–", "–", kept);
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::ImportBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
