// Kills a writing process again and again on the same directory, and verifies what is there each time.
// KVARTS_CRASH_ROUNDS says how many rounds; a failed round tells the seed (KVARTS_CRASH_SEED repeats its random
// choices, though not its timing).
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "ack_log.h"
#include "support/child_process.h"
#include "support/environment.h"
#include "support/sync_tracking_fs.h"
#include "support/temp_dir.h"
#include "verifier.h"
#include "workload.h"

namespace kvarts::test {
namespace {

constexpr const char* kWriter = KVARTS_BINARY_DIR "/crash_writer";
constexpr uint64_t kAcksBeforeCrash = 1000;

uint64_t Rounds(uint64_t usual) { return FromEnvironment("KVARTS_CRASH_ROUNDS", LongRun() ? 5 * usual : usual); }

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() : seed_(FromEnvironment("KVARTS_CRASH_SEED", std::random_device()())), random_(seed_) {}

  std::string dir() const { return temp_ / "store"; }

  std::unique_ptr<ChildProcess> Start(std::vector<std::string> more = {}) {
    acks_ = temp_ / ("acks-" + std::to_string(round_));
    std::vector<std::string> words = {kWriter, dir(), acks_, std::to_string(verifier_.next_number()),
                                      std::to_string(random_() >> 1)};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<ChildProcess>(words);
  }

  // Waits for so many acknowledged commits; false when the process ended before.
  bool WaitForAcks(ChildProcess& process) {
    while (process.Running()) {
      const auto records = AckLog::Read(acks_);
      const auto acked =
          std::ranges::count_if(records, [](const AckRecord& r) { return r.kind == AckRecord::Kind::kAcked; });
      if (static_cast<uint64_t>(acked) >= kAcksBeforeCrash) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  // Opens the store, and holds it against what was recorded.
  void Verify(CrashKind crash) {
    auto engine = OpenRocksEngine(dir(), CrashOptions());
    ASSERT_TRUE(engine) << engine.error();
    const auto state = StoredState::Read(**engine);
    ASSERT_TRUE(state) << state.error();
    for (const Finding& finding : verifier_.Verify(crash, AckLog::Read(acks_), *state)) ADD_FAILURE() << finding;
    for (const Error& error : (*engine)->VerifyFiles()) ADD_FAILURE() << error;
    std::filesystem::remove(acks_);
  }

  // What a failed round leaves is kept for a look at it.
  void KeepFiles() {
    const std::string kept = std::filesystem::temp_directory_path() / ("kvarts-crash-" + std::to_string(seed_));
    std::error_code failed;
    std::filesystem::copy(temp_.path(), kept, std::filesystem::copy_options::recursive, failed);
    std::fprintf(stderr, "round %lu of seed %lu failed; its files are in %s\n", round_, seed_, kept.c_str());
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  TempDir temp_;
  CrashVerifier verifier_;
  std::string acks_;
  uint64_t round_ = 0;
};

TEST_F(CrashTest, KilledAtAnyInstantLosesNothingAcknowledged) {
  for (round_ = 1; round_ <= Rounds(20) && !HasFailure(); ++round_) {
    const auto process = Start();
    ASSERT_TRUE(WaitForAcks(*process)) << "crash_writer ended by itself: " << process->Wait();
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200'000));
    process->Signal(SIGKILL);
    process->Wait();
    // Now and then the recovery is killed, too. Whoever recovers next must find the same.
    for (uint64_t again = random_() % 3; again > 0; --again) {
      const ChildProcess recovery({kWriter, dir(), "/dev/null", std::to_string(verifier_.next_number()), "recover"});
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50'000));
    }
    Verify(CrashKind::kKilled);
    if (HasFailure()) KeepFiles();
  }
}

TEST_F(CrashTest, PowerFailureLeavesAPrefixThatHoldsEverythingSynced) {
  uint64_t lost = 0;
  for (round_ = 1; round_ <= Rounds(10) && !HasFailure(); ++round_) {
    const uint64_t acks = kAcksBeforeCrash + random_() % 5000;
    const auto process = Start({std::to_string(acks), std::to_string(round_ % 4)});
    ASSERT_EQ(process->Wait(), kPowerOffExit);
    Verify(CrashKind::kPowerLoss);
    lost += verifier_.lost();
    if (HasFailure()) KeepFiles();
  }
  // Else the file system beneath did not do what it is for.
  EXPECT_TRUE(HasFailure() || lost > 0);
}

}  // namespace
}  // namespace kvarts::test
