// A scan of 1,000 entries, from random places of one million keys, against RocksDB's own iterator: through the public
// interface and at a view. Both give out a page whose entries lie in one buffer: so does the reference. A second one
// keeps every key and value as a string.
#include <array>

#include "api/open.h"
#include "core/keyspace.h"
#include "support/contenders.h"
#include "support/load.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr uint64_t kKeys = 1'000'000;
constexpr size_t kValueBytes = 100;
constexpr size_t kEntries = 1000;

class ScanBench {
 public:
  explicit ScanBench(const Arguments& arguments)
      : rounds_(arguments.RoundsOr(arguments.full ? 15 : 9)), scans_(arguments.full ? 1000 : 300), scratch_(arguments) {
    raw_ = std::make_unique<RawDb>(scratch_.Sub("raw"), RocksOptionsOf(options_));
    FillRaw(*raw_, kKeys, kValueBytes);
    for (const char* name : {"database", "engine"}) {
      engine_ = Must(OpenRocksEngine(scratch_.Sub(name), RocksOptionsOf(options_)));
      FillEngine(*engine_, kKeys, kValueBytes);
      engine_.reset();
    }
    engine_ = Must(OpenRocksEngine(scratch_.Sub("engine"), RocksOptionsOf(options_)));
    database_.emplace(Must(Database::Open(scratch_.Sub("database"), options_)));
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < scans_; ++i) starts_.push_back(KeyOf(random() % (kKeys - kEntries)));
  }

  void Run();

 private:
  // Each scans once from every start.
  Sample Public();
  Sample AtView();
  Sample RawStrings();
  Sample RawBuffer();

  const int rounds_;
  const uint64_t scans_;
  Scratch scratch_;
  Options options_;
  std::vector<std::string> starts_;
  std::unique_ptr<RawDb> raw_;
  std::unique_ptr<Engine> engine_;
  std::optional<Database> database_;
};

Sample ScanBench::Public() {
  return OnThreads("ours", 1, scans_ * kEntries, [&](int) {
    for (const std::string& start : starts_) {
      const Page page = Must(database_->Scan({start, {}}));
      Check(page.entries.size() == kEntries, "entries are missing");
    }
  });
}

Sample ScanBench::AtView() {
  return OnThreads("ours", 1, scans_ * kEntries, [&](int) {
    for (const std::string& start : starts_) {
      const auto view = Must(engine_->OpenView());
      ScanRequest request;
      request.range = UserRange({start, {}});
      const ScanPage page = Must(view->Scan(request));
      Check(page.size() == kEntries, "entries are missing");
    }
  });
}

// Calls `begin` before every scan, and `take` with each entry.
template <class Begin, class Take>
Sample ScanRaw(RawDb& raw, const std::vector<std::string>& starts, const Begin& begin, const Take& take) {
  return OnThreads("raw", 1, starts.size() * kEntries, [&](int) {
    CountNothing();
    for (const std::string& start : starts) {
      begin();
      const std::unique_ptr<rocksdb::Iterator> it(raw->NewIterator({}));
      size_t taken = 0;
      for (it->Seek(start); it->Valid() && taken < kEntries; it->Next(), ++taken) take(*it);
      Check(it->status());
      Check(taken == kEntries, "entries are missing");
    }
  });
}

Sample ScanBench::RawStrings() {
  std::vector<std::pair<std::string, std::string>> page;
  return ScanRaw(
      *raw_, starts_,
      [&] {
        page = {};
        page.reserve(kEntries);
      },
      [&](rocksdb::Iterator& it) { page.emplace_back(it.key().ToStringView(), it.value().ToStringView()); });
}

Sample ScanBench::RawBuffer() {
  std::string page;
  std::vector<std::array<uint32_t, 2>> sizes;  // without which the page is of no use
  return ScanRaw(
      *raw_, starts_, [&] { page = {}, sizes = {}; },
      [&](rocksdb::Iterator& it) {
        sizes.push_back({static_cast<uint32_t>(it.key().size()), static_cast<uint32_t>(it.value().size())});
        page.append(it.key().ToStringView()).append(it.value().ToStringView());
      });
}

void ScanBench::Run() {
  Comparison in_public({.id = "scan", .what = "entry of a 1,000-entry scan, public interface", .bound = 1.2});
  Comparison to_strings({.id = "scan-strings", .what = "the same against raw entries kept as strings"});
  Comparison at_view({.id = "scan-view", .what = "the same at a view", .bound = 1.2});
  Public(), RawStrings(), AtView(), RawBuffer();  // warm
  for (int round = 0; round < rounds_; ++round) {
    const Sample ours = Public();
    const Sample buffer = RawBuffer();
    in_public.Add(ours, buffer);
    to_strings.Add(ours, RawStrings());
    at_view.Add(AtView(), buffer);
  }
  in_public.Report();
  to_strings.Report();
  at_view.Report();
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::ScanBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
