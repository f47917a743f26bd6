// Runners: every chunk once, whatever happens to whoever does it.
#include "core/job_runner.h"

#include <atomic>
#include <thread>

#include "core/feed.h"
#include "core/job_kinds.h"
#include "support/jobs.h"

namespace kvarts::test {
namespace {

// A job of so many chunks (its total). Every chunk adds one to the counter "chunks", and writes a key of its own, which
// must not be there yet.
JobKind CountKind(std::function<Status(Txn&, const JobRecord&)> also = nullptr, uint64_t units = 1) {
  return {"count", [also, units](Txn& txn, const JobRecord& job) -> Result<JobStep> {
            const uint64_t chunk = job.cursor.empty() ? 0 : std::stoull(job.cursor);
            if (also) KVARTS_CHECK_OK(also(txn, job));
            const std::string key = "chunk/" + std::to_string(1000 + chunk);
            KVARTS_TRY(const auto there, txn.Get(key));
            if (there) return Error(ErrorCode::kAlreadyExists, "a chunk is repeated");
            txn.Put(key, "");
            txn.Add("chunks", 1);
            JobStep step;
            step.cursor = std::to_string(chunk + 1);
            step.done = units;
            step.finished = chunk + 1 == job.total;
            return step;
          }};
}

class JobRunnerTest : public JobStoreTest {
 protected:
  JobId StartCount(uint64_t chunks, uint32_t throttle = 0) {
    return MustStart({.kind = "count", .throttle = throttle, .total = chunks});
  }
  std::unique_ptr<JobRunner> Runner(JobKind kind, JobRunnerOptions options = {}) {
    return std::make_unique<JobRunner>(store(), std::vector<JobKind>{std::move(kind)}, options);
  }
  static JobRunner::Turn MustTurn(JobRunner& runner) {
    const auto turn = runner.TakeTurn();
    EXPECT_TRUE(turn) << turn.error();
    return turn ? *turn : JobRunner::Turn{};
  }
  // Turns until there is nothing to do; how many.
  static int TurnsOf(JobRunner& runner) {
    int turns = 0;
    while (turns < 10'000 && MustTurn(runner).worked) ++turns;
    return turns;
  }
};
KVARTS_ON_EVERY_ENGINE(JobRunnerTest);

TEST_P(JobRunnerTest, DoesAJobChunkByChunk) {
  const JobId id = StartCount(5);
  const auto runner = Runner(CountKind());
  EXPECT_TRUE(MustTurn(*runner).worked);
  const JobRecord running = MustGet(id);
  EXPECT_EQ(running.state, JobState::kRunning);
  EXPECT_EQ(running.done, 1u);
  EXPECT_EQ(running.cursor, "1");
  EXPECT_EQ(running.fence, 1u);
  EXPECT_EQ(running.lease->owner, runner->id());
  EXPECT_EQ(running.lease->until, In(Duration::Seconds(30)));
  EXPECT_EQ(TurnsOf(*runner), 4);
  const JobRecord done = MustGet(id);
  EXPECT_EQ(done.state, JobState::kDone);
  EXPECT_EQ(done.done, 5u);
  EXPECT_FALSE(done.lease);
  EXPECT_EQ(Number("chunks"), 5);
  EXPECT_FALSE(Find(JobQueueKey(id)));
  EXPECT_FALSE(MustTurn(*runner).worked);
}

TEST_P(JobRunnerTest, AChunkAndItsProgressAreOneCommit) {
  const JobId id = StartCount(3);
  const auto runner = Runner(CountKind());
  for (int chunk = 0; chunk < 3; ++chunk) {
    EXPECT_TRUE(MustTurn(*runner).worked);
    EXPECT_EQ(Find("chunk/" + std::to_string(1000 + chunk))->header.version, MustGet(id).updated);
  }
}

TEST_P(JobRunnerTest, JobsTakeTurns) {
  std::vector<JobId> order;
  const JobKind kind{"turns", [&](Txn&, const JobRecord& job) -> Result<JobStep> {
                       order.push_back(job.id);
                       JobStep step;
                       step.cursor = job.cursor + "x";
                       step.finished = step.cursor.size() == 3;
                       return step;
                     }};
  std::vector<JobId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(MustStart({.kind = "turns"}));
    Wait(Duration::Millis(2));
  }
  JobRunner runner(store(), {kind}, {.max_look = 2});
  EXPECT_EQ(TurnsOf(runner), 9);
  std::vector<JobId> expected;
  for (int round = 0; round < 3; ++round) expected.insert(expected.end(), ids.begin(), ids.end());
  EXPECT_EQ(order, expected);
}

TEST_P(JobRunnerTest, LeavesAloneWhatItDoesNotKnow) {
  const JobId id = MustStart({.kind = "unknown"});
  const auto runner = Runner(CountKind());
  const auto turn = MustTurn(*runner);
  EXPECT_FALSE(turn.worked || turn.next);
  EXPECT_EQ(StateOf(id), "queued");
}

TEST_P(JobRunnerTest, ACrashRepeatsNothingAndSkipsNothing) {
  const JobId id = StartCount(10);
  for (int crash = 0; crash < 5; ++crash) {
    auto runner = Runner(CountKind());
    MustTurn(*runner);
    MustTurn(*runner);
    runner.reset();
    Restart();
    Wait(Duration::Seconds(30));
  }
  const JobRecord job = MustGet(id);
  EXPECT_EQ(job.state, JobState::kDone);
  EXPECT_EQ(job.done, 10u);
  EXPECT_EQ(job.fence, 5u);
  EXPECT_EQ(Number("chunks"), 10);
}

TEST_P(JobRunnerTest, ALeaseKeepsOthersAwayUntilItHasRunOut) {
  const JobId id = StartCount(10);
  const auto first = Runner(CountKind());
  const auto second = Runner(CountKind());
  EXPECT_TRUE(MustTurn(*first).worked);
  const auto turn = MustTurn(*second);
  EXPECT_FALSE(turn.worked);
  EXPECT_EQ(turn.next, MustGet(id).lease->until);
  Wait(Duration::Seconds(20));
  EXPECT_TRUE(MustTurn(*first).worked) << "which renews it";
  Wait(Duration::Micros(29'999'999));
  EXPECT_FALSE(MustTurn(*second).worked);
  Wait(Duration::Micros(1));
  EXPECT_TRUE(MustTurn(*second).worked);
  EXPECT_EQ(MustGet(id).lease->owner, second->id());
  EXPECT_EQ(MustGet(id).fence, 2u);
  EXPECT_FALSE(MustTurn(*first).worked);
  EXPECT_EQ(TurnsOf(*second), 7);
  EXPECT_EQ(Number("chunks"), 10);
}

TEST_P(JobRunnerTest, WhoHasLostAJobInTheMiddleOfAChunkCommitsNothing) {
  const JobId id = StartCount(4);
  const auto second = Runner(CountKind());
  int interrupted = 0;
  const auto first = Runner(CountKind([&](Txn&, const JobRecord&) -> Status {
    if (interrupted++ > 0) return {};
    // It dawdles, and another one takes over.
    Wait(Duration::Seconds(31));
    EXPECT_TRUE(MustTurn(*second).worked);
    return {};
  }));
  EXPECT_TRUE(MustTurn(*first).worked);
  EXPECT_EQ(interrupted, 1) << "the second run finds that the job is no longer its own";
  EXPECT_EQ(Number("chunks"), 1);
  EXPECT_EQ(MustGet(id).lease->owner, second->id());
  EXPECT_FALSE(MustTurn(*first).worked);
  EXPECT_EQ(TurnsOf(*second), 3);
  EXPECT_EQ(Number("chunks"), 4);
  EXPECT_EQ(StateOf(id), "done");
}

TEST_P(JobRunnerTest, ManyRunnersDoEveryChunkOnce) {
  constexpr int kChunks = 60;
  const JobId id = StartCount(kChunks);
  std::vector<std::thread> threads;
  std::atomic<bool> stop = false;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      // A lease so short that it has always run out: they take it from one another all the time.
      const auto runner = Runner(CountKind(), {.lease = Duration::Micros(0)});
      while (!stop) EXPECT_TRUE(runner->TakeTurn());
    });
  }
  const auto job = jobs().Wait(id);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(job) << job.error();
  EXPECT_EQ(job->state, JobState::kDone) << (job->error ? job->error->text : "");
  EXPECT_EQ(job->done, static_cast<uint64_t>(kChunks));
  EXPECT_EQ(Number("chunks"), kChunks);
}

TEST_P(JobRunnerTest, AThrottledJobRestsByTheStoresTime) {
  const JobId id = StartCount(100, 10);
  const auto runner = Runner(CountKind(nullptr, 5));
  EXPECT_EQ(TurnsOf(*runner), 1) << "five units of ten in a second";
  EXPECT_EQ(MustTurn(*runner).next, In(Duration::Millis(500)));
  Wait(Duration::Micros(499'999));
  EXPECT_EQ(TurnsOf(*runner), 0);
  Wait(Duration::Micros(1));
  EXPECT_EQ(TurnsOf(*runner), 1);
  int turns = 0;
  for (int tenth = 0; tenth < 100; ++tenth) {
    Wait(Duration::Millis(100));
    turns += TurnsOf(*runner);
  }
  EXPECT_EQ(turns, 20) << "ten seconds of ten units";
  EXPECT_EQ(MustGet(id).done, 110u);
}

TEST_P(JobRunnerTest, AThrottlesPauseIsNotCutShortByAnotherRunner) {
  const JobId id = StartCount(100, 1);
  const auto first = Runner(CountKind(nullptr, 100));
  EXPECT_EQ(TurnsOf(*first), 1);
  EXPECT_EQ(MustGet(id).lease->until, In(Duration::Seconds(130))) << "the owner is not late while it may not go on";
  const auto second = Runner(CountKind(nullptr, 100));
  Wait(Duration::Seconds(99));
  EXPECT_EQ(TurnsOf(*first) + TurnsOf(*second), 0);
  Wait(Duration::Seconds(1));
  EXPECT_EQ(TurnsOf(*second), 0);
  EXPECT_EQ(TurnsOf(*first), 1);
}

TEST_P(JobRunnerTest, PauseStopsItAndResumeGoesOn) {
  const JobId id = StartCount(6);
  const auto runner = Runner(CountKind());
  EXPECT_TRUE(MustTurn(*runner).worked);
  ASSERT_TRUE(jobs().Pause(id).has_value());
  EXPECT_FALSE(MustTurn(*runner).worked);
  EXPECT_EQ(MustGet(id).done, 1u);
  ASSERT_TRUE(jobs().Resume(id).has_value());
  EXPECT_EQ(TurnsOf(*runner), 5);
  EXPECT_EQ(StateOf(id), "done");
  EXPECT_EQ(Number("chunks"), 6);
}

TEST_P(JobRunnerTest, CancelledInTheMiddleOfAChunkTheChunkIsNotCommitted) {
  const JobId id = StartCount(6);
  int chunk = 0;
  const auto runner =
      Runner(CountKind([&](Txn&, const JobRecord&) -> Status { return ++chunk == 2 ? jobs().Cancel(id) : Status{}; }));
  EXPECT_EQ(TurnsOf(*runner), 2);
  EXPECT_EQ(StateOf(id), "cancelled");
  EXPECT_EQ(MustGet(id).done, 1u);
  EXPECT_EQ(Number("chunks"), 1);
}

TEST_P(JobRunnerTest, AnErrorOfTheKindFailsTheJob) {
  const JobId id = StartCount(6);
  bool broken = true;
  const auto runner = Runner(CountKind([&](Txn& txn, const JobRecord& job) -> Status {
    txn.Put("left behind", "");
    if (!broken || job.done < 2) return {};
    return Error(ErrorCode::kInvalidArgument, "made up", {{"chunk", job.cursor}});
  }));
  EXPECT_EQ(TurnsOf(*runner), 3);
  const JobRecord failed = MustGet(id);
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_EQ(failed.done, 2u);
  EXPECT_EQ(failed.error, (JobError{ErrorCode::kInvalidArgument, "invalid_argument: made up (chunk=2)"}));
  EXPECT_EQ(Number("chunks"), 2);
  broken = false;
  ASSERT_TRUE(jobs().Resume(id).has_value());
  EXPECT_EQ(TurnsOf(*runner), 4);
  EXPECT_EQ(StateOf(id), "done");
  EXPECT_EQ(Number("chunks"), 6);
}

TEST_P(JobRunnerTest, WhatPassesIsTriedAgainLessAndLessOften) {
  const JobId id = StartCount(2);
  int tries = 0;
  const auto runner =
      Runner(CountKind([&](Txn&, const JobRecord&) -> Status {
               if (++tries > 4) return {};
               return Error(tries % 2 == 0 ? ErrorCode::kUnavailable : ErrorCode::kOverloaded, "made up");
             }),
             {.first_backoff = Duration::Millis(10), .max_backoff = Duration::Millis(35)});
  for (const int64_t pause_ms : {10, 20, 35, 35}) {
    EXPECT_EQ(TurnsOf(*runner), 1);
    EXPECT_EQ(MustTurn(*runner).next, In(Duration::Millis(pause_ms)));
    EXPECT_EQ(StateOf(id), "running");
    Wait(Duration::Millis(pause_ms));
  }
  EXPECT_EQ(TurnsOf(*runner), 2);
  EXPECT_EQ(StateOf(id), "done");
  EXPECT_EQ(tries, 6);
}

TEST_P(JobRunnerTest, ItRestsAfterAChunkBesideWhichOthersHaveCommitted) {
  StartCount(6);
  bool others = false;
  const auto runner = Runner(CountKind([&](Txn&, const JobRecord&) -> Status {
    if (!others) return {};
    // So that how long the chunk took can be told from nothing.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Run(Putting("others", ""), Quick()).has_value() ? Status() : Error(ErrorCode::kInternal, "not written");
  }));
  for (int chunk = 0; chunk < 6; ++chunk) {
    others = chunk % 2 == 1;
    const JobRunner::Turn turn = MustTurn(*runner);
    EXPECT_TRUE(turn.worked);
    if (others) {
      EXPECT_GE(turn.rest, Duration::Millis(3)) << "several times as long as the chunk took";
      EXPECT_LE(turn.rest, Duration::Seconds(1));
    } else {
      EXPECT_EQ(turn.rest, Duration());
    }
  }
  const JobRunner::Turn idle = MustTurn(*runner);
  EXPECT_FALSE(idle.worked);
  EXPECT_EQ(idle.rest, Duration());
}

TEST_P(JobRunnerTest, TheThreadIsWokenByNewJobs) {
  JobRunner runner(store(), {CountKind()}, {.look_interval = Duration::Seconds(3600)});
  runner.Start();
  for (int i = 0; i < 3; ++i) {
    const JobId id = StartCount(4);
    const auto job = jobs().Wait(id, {.patience = Duration::Seconds(60)});
    ASSERT_TRUE(job) << job.error();
    EXPECT_EQ(job->state, JobState::kDone) << job->error->text;
    Must({Mutation::EraseRange("chunk/", "chunk0")});
  }
  const JobId paused = StartCount(4, 1);
  ASSERT_TRUE(jobs().Pause(paused).has_value());
  ASSERT_TRUE(jobs().Cancel(paused).has_value());
  EXPECT_TRUE(jobs().Wait(paused));
}

TEST_P(JobRunnerTest, StoppingGivesJobsBackAtOnce) {
  const JobId id = StartCount(10, 1);
  const auto first = Runner(CountKind());
  first->Start();
  while (MustGet(id).done == 0) std::this_thread::yield();
  first->Stop();
  EXPECT_EQ(StateOf(id), "queued");
  Wait(Duration::Seconds(1));
  const auto second = Runner(CountKind());
  EXPECT_EQ(TurnsOf(*second), 1);
  EXPECT_EQ(MustGet(id).fence, 2u);
}

TEST_P(JobRunnerTest, EraseRangeErasesKeyByKeySoThatFeedsHaveIt) {
  Limits limits;
  limits.max_commit_operations = 100;
  OpenWith(limits);
  durability_ = Durability::kNone;
  for (int i = 0; i < 300; ++i) Must({Mutation::Put("r/" + std::to_string(1000 + i), "v")});
  Must({Mutation::Put("q", ""), Mutation::Put("s", "")});
  const auto feed = store().feeds().Declare(KeyRange::Prefix("r/"));
  ASSERT_TRUE(feed) << feed.error();
  const JobId id = MustStart(EraseRangeJob(KeyRange::Prefix("r/")));
  const auto runner = Runner(EraseRangeKind(20));
  EXPECT_EQ(TurnsOf(*runner), 15);
  const JobRecord job = MustGet(id);
  EXPECT_EQ(job.state, JobState::kDone) << (job.error ? job.error->text : "");
  EXPECT_EQ(job.done, 300u);
  EXPECT_EQ(ShownScan(*NewView(), {"q", "t"}), "q= s=");
  const auto page = store().feeds().Read(*feed, {}, 1000);
  ASSERT_TRUE(page) << page.error();
  EXPECT_EQ(page->entries.size(), 300u);
  for (const FeedEntry& entry : page->entries) {
    EXPECT_EQ(entry.op, Mutation::Op::kErase);
    EXPECT_EQ(entry.before->value, "v");
  }
}

TEST_P(JobRunnerTest, EraseRangeOfNothingIsDoneAtOnce) {
  const JobId id = MustStart(EraseRangeJob({"a", "b"}));
  const auto runner = Runner(EraseRangeKind());
  EXPECT_EQ(TurnsOf(*runner), 1);
  EXPECT_EQ(StateOf(id), "done");
}

TEST_P(JobRunnerTest, BadParametersFailTheJob) {
  const JobId id = MustStart({.kind = "erase_range", .parameters = "\x05"});
  const auto runner = Runner(EraseRangeKind());
  EXPECT_EQ(TurnsOf(*runner), 1);
  EXPECT_EQ(StateOf(id), "failed");
  EXPECT_EQ(MustGet(id).error->code, ErrorCode::kCorruption);
}

TEST_P(JobRunnerTest, WritersInTheRangeDoNotStopIt) {
  durability_ = Durability::kNone;
  for (int i = 0; i < 200; ++i) Must({Mutation::Put("r/" + std::to_string(1000 + i), "")});
  const JobId id = MustStart(EraseRangeJob(KeyRange::Prefix("r/")));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) ASSERT_TRUE(Run(Putting("r/0", std::to_string(i)), Quick()));
  });
  const auto runner = Runner(EraseRangeKind(10));
  EXPECT_GE(TurnsOf(*runner), 20);
  stop = true;
  writer.join();
  EXPECT_EQ(StateOf(id), "done");
  EXPECT_EQ(ShownScan(*NewView(), {"r/1", "s"}), "");
}

}  // namespace
}  // namespace kvarts::test
