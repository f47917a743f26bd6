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
#include "support/commits.h"
#include "support/sync_tracking_fs.h"
#include "workload.h"

namespace kvarts::test {
namespace {

constexpr size_t kMaxTogether = 4;

std::atomic<uint64_t> acked{0};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "crash_writer: %s\n", why.c_str());
  std::abort();
}

class Writer {
 public:
  Writer(Engine& engine, AckLog& log, uint32_t writer, uint64_t first, uint64_t seed)
      : engine_(engine), log_(log), writer_(writer), next_(first), random_(seed + writer) {}

  [[noreturn]] void Loop() {
    while (true) {
      std::vector<Op> ops = {NextOp()};
      // What depends on an outcome is submitted alone.
      const size_t together = 1 + random_() % kMaxTogether;
      while (!DependsOnOutcomes(ops.front()) && ops.size() < together && !DependsOnOutcomes({writer_, next_, 0})) {
        ops.push_back(NextOp());
      }
      SubmitAll(ops);
    }
  }

 private:
  static bool DependsOnOutcomes(const Op& op) {
    return op.kind() == OpKind::kConditional || op.kind() == OpKind::kTrim || op.kind() == OpKind::kRace;
  }

  Op NextOp() {
    Op op{writer_, next_++, 0};
    const uint64_t now = engine_.Now().micros;
    if (op.kind() == OpKind::kPutExpiring) op.aux = now + Duration::Seconds(24 * 3600).micros + random_() % 1000;
    if (op.kind() == OpKind::kOwned) op.aux = now + random_() % 2000;
    if (op.kind() == OpKind::kTrim) op.aux = stamped_number_;
    return op;
  }

  std::unique_ptr<TestSubmission> Make(const Op& op) {
    const auto body = [op](View& view, Commit* commit) { return ReadAndAdd(op, view, commit); };
    auto submission = std::make_unique<TestSubmission>(MakeOpCommit(op));
    if (op.kind() == OpKind::kTrim) submission->commit.mutations = {TrimBefore(op, stamped_version_)};
    if (op.kind() == OpKind::kConditional) AddCondition(op, &submission->commit);
    if (op.kind() == OpKind::kRun || op.kind() == OpKind::kRace) submission->body = body;
    submission->run_first = op.kind() == OpKind::kRun;
    if (op.kind() == OpKind::kRace) {
      auto view = engine_.OpenView();
      if (!view || !body(**view, &submission->commit)) Die("cannot read " + op.ToString());
    }
    return submission;
  }

  void AddCondition(const Op& op, Commit* commit) {
    const Bytes& key = commit->mutations[0].key;
    const auto record = GetOne(engine_, key);
    if (!record) Die("cannot read for " + op.ToString() + ": " + record.error().ToString());
    commit->preconditions = {*record ? VersionIs(key, (*record)->header.version) : Absent(key)};
  }

  void SubmitAll(const std::vector<Op>& ops) {
    std::vector<std::unique_ptr<TestSubmission>> submissions;
    for (const Op& op : ops) {
      submissions.push_back(Make(op));
      log_.Append({AckRecord::Kind::kIntent, op, kNoVersion});
    }
    const auto tickets = SubmitTogether(engine_, std::move(submissions));
    for (size_t i = 0; i < ops.size(); ++i) Record(ops[i], tickets[i]->Outcome());
  }

  void Record(const Op& op, const Result<Committed>& outcome) {
    if (!outcome) {
      const bool unknown = outcome.error().code() == ErrorCode::kUnknownOutcome;
      log_.Append({unknown ? AckRecord::Kind::kUnknown : AckRecord::Kind::kRefused, op, kNoVersion});
      return;
    }
    log_.Append({AckRecord::Kind::kAcked, op, outcome->version});
    acked.fetch_add(1, std::memory_order_relaxed);
    if (op.kind() != OpKind::kStamped) return;
    stamped_number_ = op.number;
    stamped_version_ = outcome->version;
  }

  Engine& engine_;
  AckLog& log_;
  const uint32_t writer_;
  uint64_t next_;
  std::mt19937_64 random_;
  // The newest stamped key.
  uint64_t stamped_number_ = 0;
  Version stamped_version_;
};

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
  fs.PowerOff();
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
    threads.emplace_back([&, writer] { Writer(**engine, log, writer, first, seed).Loop(); });
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
