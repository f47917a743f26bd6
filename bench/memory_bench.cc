// Resident memory through an import: keys in random order, values of one kilobyte, 64 one-put commits outstanding, with
// a reader beside it. The largest resident size, sampled all the time, is compared with the configured budget.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "core/keyspace.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"
#include "support/window.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 1000;
constexpr size_t kBudget = 256 << 20;
constexpr int kOutstanding = 64;
constexpr auto kSampleEvery = std::chrono::milliseconds(100);

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void Run(const Arguments& arguments) {
  const Scratch scratch(arguments);
  RocksOptions options;
  options.memory_budget = kBudget;
  options.stall_patience = Duration::Seconds(600);  // an importer waits for compaction to catch up
  const uint64_t keys = (arguments.full ? uint64_t{10} << 30 : uint64_t{1} << 30) / (kKeyBytes + kValueBytes);
  const uint64_t before = ResidentBytes();
  const auto engine = Must(OpenRocksEngine(scratch.Sub("kvarts"), options));
  std::atomic<bool> stop{false};
  std::vector<double> resident;
  std::thread sampler([&] {
    for (; !stop; std::this_thread::sleep_for(kSampleEvery)) resident.push_back(static_cast<double>(ResidentBytes()));
  });
  const Scatter scatter(keys);
  std::atomic<uint64_t> written{0};
  std::thread reader([&] {
    std::mt19937_64 random(1);
    while (!stop) {
      const uint64_t n = written.load();
      if (n > 0) Must(GetOne(*engine, UserKey(KeyOf(scatter(random() % n)))));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const int64_t began = WallNanos();
  Window window(kOutstanding, 1);
  SubmitAll(*engine, window, keys, [&](uint64_t i, Commit* commit) {
    commit->durability = Durability::kInterval;
    commit->mutations.push_back(Mutation::Put(UserKey(KeyOf(scatter(i))), ValueOf(i, kValueBytes)));
    written.store(i);
  });
  const double seconds = static_cast<double>(WallNanos() - began) / 1e9;
  stop = true;
  sampler.join();
  reader.join();
  const double largest = std::ranges::max(resident);
  Note(fmt::format("imported {} keys in {:.0f} s; resident before opening {} MB, median {:.0f} MB", keys, seconds,
                   before >> 20, Median(resident) / (1 << 20)));
  ReportRatios({.id = "memory",
                .what = fmt::format("largest resident size through an import of {} GB", arguments.full ? 10 : 1),
                .bound = 1.15},
               fmt::format("{:.0f} MB", largest / (1 << 20)), fmt::format("{} MB budget", kBudget >> 20),
               {largest / kBudget});
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::Run(kvarts::bench::Arguments::Parse(argc, argv));
  return 0;
}
