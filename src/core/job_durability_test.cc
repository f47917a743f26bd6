// What is said of a job that has ended is on disk before anybody hears it; its chunks before need not be.
#include <gmock/gmock.h>

#include "core/job_runner.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "support/commits.h"
#include "support/forwarding_engine.h"
#include "support/sync_tracking_fs.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;

// A job of three chunks, each of which writes a key of its own.
JobKind ThreeChunks() {
  return {"three", [](Txn& txn, const JobRecord& job) -> Result<JobStep> {
            txn.Put("chunk/" + std::to_string(job.done), "");
            JobStep step;
            step.done = 1;
            step.finished = job.done == 2;
            return step;
          }};
}

// Notes how durable commits are to be. Its own syncs fail.
class NotingEngine final : public ForwardingEngine {
 public:
  NotingEngine() : ForwardingEngine(OpenMemoryEngine({})) {}

  std::vector<Durability> noted;

  void Submit(std::span<std::unique_ptr<Submission>> submissions) override {
    for (const auto& submission : submissions) noted.push_back(submission->commit.durability);
    inner().Submit(submissions);
  }
  Status Sync() override { return Error(ErrorCode::kUnavailable, "the disk of a test"); }
};

TEST(JobDurabilityTest, TheLastChunkAloneWaitsForTheDisk) {
  NotingEngine engine;
  const std::unique_ptr<Store> store = *Store::Open(engine);
  const JobId id = Jobs(*store).Start({.kind = "three"}).value();
  JobRunner runner(*store, {ThreeChunks()});
  for (int turn = 0; turn < 3; ++turn) {
    const auto taken = runner.TakeTurn();
    ASSERT_TRUE(taken) << taken.error();
    EXPECT_TRUE(taken->worked);
  }
  EXPECT_EQ(Jobs(*store).Get(id).value().state, JobState::kDone);
  constexpr Durability kSoon = Durability::kInterval;
  EXPECT_THAT(engine.noted, ElementsAre(Durability::kSync, Durability::kSync, kSoon, kSoon, Durability::kSync))
      << "the start of the job, the claim, and the chunks";
}

class JobOnDiskTest : public testing::Test {
 protected:
  JobOnDiskTest() { Open(); }
  ~JobOnDiskTest() override { Close(); }

  void Open() {
    files_ = std::make_shared<SyncTrackingFs>();
    RocksOptions options;
    options.file_system = files_;
    options.memory_budget = 16 << 20;
    options.hot_cache_bytes = 1 << 20;
    options.min_free_disk_bytes = 0;
    // Nothing is synced that nobody has asked for.
    options.sync_interval = Duration::Seconds(3600);
    auto opened = OpenRocksEngine(temp_ / "data", options);
    ASSERT_TRUE(opened) << opened.error();
    engine_ = *std::move(opened);
    store_ = *Store::Open(*engine_);
  }
  void Close() {
    engine_.reset();
    store_.reset();
  }
  // The machine loses what was not synced, and starts anew.
  void LosePower() {
    files_->PowerOff();
    Close();
    files_->LoseUnsynced({});
    Open();
  }
  JobRecord Job(JobId id) { return Jobs(*store_).Get(id).value(); }
  static void MustTurn(JobRunner& runner) {
    const auto turn = runner.TakeTurn();
    ASSERT_TRUE(turn) << turn.error();
    EXPECT_TRUE(turn->worked);
  }

  TempDir temp_;
  std::shared_ptr<SyncTrackingFs> files_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
};

TEST_F(JobOnDiskTest, WhoHearsThatAJobIsDoneFindsItSoAfterAPowerFailure) {
  const JobId id = Jobs(*store_).Start({.kind = "three"}).value();
  bool told = false;
  store_->subscriptions().Watch(KeyRange::Single(JobKey(id)), [&](const Mutation* mutation, Version version) {
    const auto job = JobRecord::FromStored(mutation->key, mutation->value, version);
    if (!job.has_value() || job->state != JobState::kDone) return;
    told = true;
    files_->PowerOff();
  });
  {
    JobRunner runner(*store_, {ThreeChunks()});
    for (int turn = 0; turn < 3; ++turn) MustTurn(runner);
  }
  EXPECT_TRUE(told);
  LosePower();
  EXPECT_EQ(Job(id).state, JobState::kDone);
  EXPECT_EQ(Job(id).done, 3U);
}

TEST_F(JobOnDiskTest, AJobWhoseLastChunkDoesNotReachTheDiskIsNotDone) {
  const JobId id = Jobs(*store_).Start({.kind = "three"}).value();
  {
    JobRunner runner(*store_, {ThreeChunks()});
    for (int turn = 0; turn < 2; ++turn) MustTurn(runner);
    files_->Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
    MustTurn(runner);
    EXPECT_EQ(files_->failed(), 1U);
    EXPECT_EQ(Job(id).state, JobState::kRunning);
    EXPECT_EQ(Job(id).done, 2U);
    const auto turn = runner.TakeTurn();
    ASSERT_TRUE(turn) << turn.error();
    EXPECT_TRUE(turn->next) << "it is tried again later";
  }
  LosePower();
  EXPECT_EQ(Job(id).state, JobState::kRunning);
  // The chunks after the last sync are lost, and are done by whoever has the job next.
  ASSERT_TRUE(Jobs(*store_).Pause(id));
  ASSERT_TRUE(Jobs(*store_).Resume(id));
  JobRunner other(*store_, {ThreeChunks()});
  for (int turn = 0; turn < 3; ++turn) MustTurn(other);
  EXPECT_EQ(Job(id).state, JobState::kDone);
  EXPECT_EQ(Job(id).done, 3U);
}

}  // namespace
}  // namespace kvarts::test
