// crash_writer DIR ACKS FIRST SEED [POWER_OFF_AFTER LOSS]: writes into the store in DIR until it is killed. Every
// operation is recorded in the file ACKS before it is submitted and after its outcome is known. Operations are numbered
// from FIRST; a SEED of "recover" makes it only open the store. With POWER_OFF_AFTER, the process itself plays a power
// failure after so many acknowledged commits: it loses what was not synced (LOSS: 0 to 3, as PowerLoss::Tail) and exits
// with kPowerOffExit.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "ack_log.h"
#include "op_writer.h"
#include "support/sync_tracking_fs.h"
#include "workload.h"

namespace kvarts::test {
namespace {

std::atomic<uint64_t> acked{0};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "crash_writer: %s\n", why.c_str());
  std::abort();
}

// Looks at commits while they are made: what a reader has seen of a `sync` commit must survive.
[[noreturn]] void ReadLoop(Engine& engine, AckLog& log, uint64_t seed) {
  std::mt19937_64 random(seed);
  while (true) {
    const auto writer = static_cast<uint32_t>(random() % kWriters);
    const std::string slot = std::to_string(random() % 8);
    const Bytes keys[] = {OwnPrefix(writer) + "m/" + slot, OwnPrefix(writer) + "n/" + slot,
                          OwnPrefix(writer) + "w/m/" + slot};
    const BytesView views[] = {keys[0], keys[1], keys[2]};
    std::optional<Record> found[3];
    const auto view = engine.OpenView();
    if (!view || !(*view)->Get(views, found, {})) continue;
    if (!found[0] && !found[1] && !found[2]) continue;
    const Op op{writer, found[0] ? NumberIn(found[0]->value) : 0, 0};
    const bool whole = found[0] == found[1] && found[1] == found[2];
    if (!whole) log.Append({AckRecord::Kind::kTorn, op, kNoVersion});
    if (op.durability() == Durability::kSync) log.Append({AckRecord::Kind::kSeen, op, found[0]->header.version});
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

// Keeps files moving, so that a crash meets flushes and compactions of all sorts.
[[noreturn]] void DisturbLoop(Engine& engine, uint64_t seed) {
  std::mt19937_64 random(seed);
  while (true) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 60));
    const std::string prefix = OwnPrefix(static_cast<uint32_t>(random() % kWriters));
    if (random() % 4 != 0) {
      IgnoreError(engine.Compact(KeyRange::Prefix(prefix)));
    } else {
      IgnoreError(engine.Sync());
    }
  }
}

[[noreturn]] void LosePower(SyncTrackingFs& fs, uint64_t after, const PowerLoss& loss) {
  std::mt19937_64 random(loss.seed);
  while (acked.load(std::memory_order_relaxed) < after) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
  // Mostly at an instant at which there is something to lose.
  for (int tries = 0; tries < 1000 && fs.unsynced(FileKind::kLog) == 0; ++tries) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  fs.PowerOffForGood();
  fs.LoseUnsynced(loss);
  _exit(kPowerOffExit);
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4 && arguments.size() != 6) Die("usage: crash_writer DIR ACKS FIRST SEED [AFTER LOSS]");
  const uint64_t first = std::stoull(arguments[2]);
  const bool recover_only = arguments[3] == "recover";
  const uint64_t seed = recover_only ? 0 : std::stoull(arguments[3]);
  RocksOptions options = CrashOptions();
  auto fs = std::make_shared<SyncTrackingFs>();
  if (arguments.size() == 6) options.file_system = fs;
  auto engine = OpenRocksEngine(arguments[0], options);
  if (!engine) Die(engine.error().ToString());
  while (recover_only) pause();
  if (const Status assigned = AssignProfiles(**engine); !assigned) Die(assigned.error().ToString());
  AckLog log(arguments[1]);
  std::vector<std::thread> threads;
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      OpWriter ops(**engine, log, writer, first, seed, &acked);
      while (true) ops.Step();
    });
  }
  threads.emplace_back([&] { ReadLoop(**engine, log, seed); });
  threads.emplace_back([&] { DisturbLoop(**engine, seed); });
  if (arguments.size() == 6) {
    const auto tail = static_cast<PowerLoss::Tail>(std::stoi(arguments[5]));
    LosePower(*fs, std::stoull(arguments[4]), {.tail = tail, .seed = seed});
  }
  while (true) pause();
}

}  // namespace
}  // namespace kvarts::test

int main(int argc, char** argv) { return kvarts::test::Main(std::vector<std::string>(argv + 1, argv + argc)); }
