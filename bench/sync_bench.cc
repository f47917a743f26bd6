// Writers that wait until their commit is on disk: 64 at once against one. What is compared is commits a second, by the
// wall clock, because a writer spends its time waiting for the disk.
#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr int kWriters = 64;
constexpr size_t kValueBytes = 100;

// Puts a second that so many writers make in the given time.
double PutsPerSecond(Database& database, int writers, int64_t nanos) {
  std::atomic<uint64_t> puts{0};
  const int64_t began = WallNanos();
  OnThreads("ours", writers, 1, [&](int writer) {
    const std::string value = ValueOf(1, kValueBytes);
    uint64_t mine = 0;
    for (; WallNanos() - began < nanos; ++mine) {
      Must(database.Put(KeyOf(static_cast<uint64_t>(writer) << 32 | mine), value));
    }
    puts += mine;
  });
  return static_cast<double>(puts.load()) * 1e9 / static_cast<double>(WallNanos() - began);
}

void Run(const Arguments& arguments) {
  const Scratch scratch(arguments);
  Database database = Must(Database::Open(scratch.Sub("kvarts")));
  const int64_t nanos = arguments.full ? 3'000'000'000 : 1'000'000'000;
  std::vector<double> one;
  std::vector<double> many;
  std::vector<double> ratios;
  for (int round = 0; round < arguments.RoundsOr(arguments.full ? 7 : 4); ++round) {
    one.push_back(PutsPerSecond(database, 1, nanos));
    many.push_back(PutsPerSecond(database, kWriters, nanos));
    ratios.push_back(many.back() / one.back());
  }
  ReportRatios({.id = "sync", .what = "64 sync writers against one", .bound = 10, .at_most = false, .by_wall = true},
               fmt::format("{:.0f} puts/s", Median(many)), fmt::format("{:.0f} puts/s", Median(one)), ratios);
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::Run(kvarts::bench::Arguments::Parse(argc, argv));
  return 0;
}
