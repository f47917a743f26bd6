// Jobs as whoever starts them sees them: their records, their states, and waiting for them.
#include "core/job.h"

#include <thread>

#include "core/keyspace.h"
#include "support/jobs.h"

namespace kvarts::test {
namespace {

class JobTest : public JobStoreTest {
 protected:
  bool Queued(JobId id) { return Find(JobQueueKey(id)).has_value(); }
  // Changes the record behind everybody's back.
  void Set(JobId id, const std::function<void(JobRecord&)>& change) {
    MustRun([&](Txn& txn) -> Status {
      KVARTS_TRY(JobRecord job, ReadJob(txn, id));
      change(job);
      return WriteJob(txn, job);
    });
  }
  static void Fail(JobRecord& job) {
    job.state = JobState::kFailed;
    job.error = {ErrorCode::kInternal, "made up"};
  }
};
KVARTS_ON_EVERY_ENGINE(JobTest);

TEST_P(JobTest, AStartedJobIsQueued) {
  JobSpec spec{.kind = "count", .parameters = "to ten", .throttle = 7, .total = 10};
  const JobId id = MustStart(spec);
  const JobRecord job = MustGet(id);
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.kind, "count");
  EXPECT_EQ(job.parameters, "to ten");
  EXPECT_EQ(job.throttle, 7u);
  EXPECT_EQ(job.total, 10u);
  EXPECT_EQ(job.state, JobState::kQueued);
  EXPECT_EQ(job.done, 0u);
  EXPECT_EQ(job.fence, 0u);
  EXPECT_FALSE(job.lease || job.error);
  EXPECT_EQ(job.created, engine().LastVersion());
  EXPECT_EQ(job.updated, job.created);
  EXPECT_TRUE(Queued(id));
}

TEST_P(JobTest, ItKeepsWhenItWasCreated) {
  const JobId id = MustStart({.kind = "count"});
  const Version created = MustGet(id).created;
  ASSERT_TRUE(jobs().Pause(id).has_value());
  const JobRecord job = MustGet(id);
  EXPECT_EQ(job.created, created);
  EXPECT_GT(job.updated, created);
}

TEST_P(JobTest, IsStartedInTheCommitThatNeedsItOrNotAtAll) {
  JobId id;
  EXPECT_FALSE(Run([&](Txn& txn) -> Status {
    KVARTS_TRY(id, StartJob(txn, {.kind = "count"}));
    return Error(ErrorCode::kInvalidArgument, "made up");
  }));
  EXPECT_EQ(CodeOf(jobs().Get(id)), "not_found");
  const Version version = MustRun([&](Txn& txn) -> Status {
    txn.Put("dropped", "");
    KVARTS_TRY(id, StartJob(txn, {.kind = "count"}));
    return {};
  });
  EXPECT_EQ(MustGet(id).created, version);
}

TEST_P(JobTest, WhatNoJobCanHaveIsRefused) {
  EXPECT_EQ(CodeOf(jobs().Start({.kind = ""})), "invalid_argument");
  EXPECT_EQ(CodeOf(jobs().Start({.kind = std::string(65, 'x')})), "too_large");
  EXPECT_EQ(CodeOf(jobs().Start({.kind = "x", .parameters = Bytes((64 << 10) + 1, 'x')})), "too_large");
  const auto page = jobs().List({}, 10);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->jobs.empty());
}

TEST_P(JobTest, AreListedInPagesInTheOrderOfTheirStart) {
  std::vector<JobId> started;
  for (int i = 0; i < 7; ++i) {
    started.push_back(MustStart({.kind = "k" + std::to_string(i)}));
    Wait(Duration::Millis(2));
  }
  std::vector<JobId> listed;
  std::optional<JobId> after;
  do {
    const auto page = jobs().List(after, 3);
    ASSERT_TRUE(page) << page.error();
    EXPECT_LE(page->jobs.size(), 3u);
    for (const JobRecord& job : page->jobs) listed.push_back(job.id);
    after = page->next;
  } while (after);
  EXPECT_EQ(listed, started);
  EXPECT_EQ(CodeOf(jobs().List({}, 0)), "invalid_argument");
}

TEST_P(JobTest, OneThatIsNotThereIsNotFound) {
  const JobId id{Uuid::Version7(engine().Now())};
  EXPECT_EQ(CodeOf(jobs().Get(id)), "not_found");
  EXPECT_EQ(CodeOf(jobs().Pause(id)), "not_found");
  EXPECT_EQ(CodeOf(jobs().Resume(id)), "not_found");
  EXPECT_EQ(CodeOf(jobs().Cancel(id)), "not_found");
  EXPECT_EQ(CodeOf(jobs().Wait(id)), "not_found");
}

TEST_P(JobTest, PauseAndResumeMayBeAskedForTwice) {
  const JobId id = MustStart({.kind = "count"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(jobs().Pause(id).has_value());
    EXPECT_EQ(StateOf(id), "paused");
    EXPECT_FALSE(Queued(id));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(jobs().Resume(id).has_value());
    EXPECT_EQ(StateOf(id), "queued");
    EXPECT_TRUE(Queued(id));
  }
}

TEST_P(JobTest, PausingTakesItFromItsRunner) {
  const JobId id = MustStart({.kind = "count"});
  Set(id, [&](JobRecord& job) {
    job.state = JobState::kRunning;
    job.lease = {Uuid::Version7(engine().Now()), In(Duration::Seconds(30))};
    job.fence = 3;
  });
  ASSERT_TRUE(jobs().Pause(id).has_value());
  EXPECT_FALSE(MustGet(id).lease);
  EXPECT_EQ(MustGet(id).fence, 3u);
}

TEST_P(JobTest, AFailedJobCanBeResumed) {
  const JobId id = MustStart({.kind = "count"});
  Set(id, [](JobRecord& job) {
    job.cursor = "half way";
    Fail(job);
  });
  EXPECT_FALSE(Queued(id));
  EXPECT_EQ(CodeOf(jobs().Pause(id)), "precondition_failed");
  ASSERT_TRUE(jobs().Resume(id).has_value());
  const JobRecord job = MustGet(id);
  EXPECT_EQ(job.state, JobState::kQueued);
  EXPECT_EQ(job.cursor, "half way");
  EXPECT_FALSE(job.error);
  EXPECT_TRUE(Queued(id));
}

TEST_P(JobTest, CancelledIsForGoodAndDoneIsDone) {
  const JobId cancelled = MustStart({.kind = "count"});
  EXPECT_TRUE(jobs().Cancel(cancelled).has_value());
  EXPECT_TRUE(jobs().Cancel(cancelled).has_value());
  EXPECT_EQ(StateOf(cancelled), "cancelled");
  EXPECT_FALSE(Queued(cancelled));
  const auto resumed = jobs().Resume(cancelled);
  ASSERT_EQ(CodeOf(resumed), "precondition_failed");
  EXPECT_EQ(resumed.error().field("state"), "cancelled");
  const JobId done = MustStart({.kind = "count"});
  Set(done, [](JobRecord& job) { job.state = JobState::kDone; });
  EXPECT_EQ(CodeOf(jobs().Cancel(done)), "precondition_failed");
  EXPECT_EQ(CodeOf(jobs().Pause(done)), "precondition_failed");
  const JobId failed = MustStart({.kind = "count"});
  Set(failed, Fail);
  EXPECT_TRUE(jobs().Cancel(failed).has_value());
  EXPECT_FALSE(MustGet(failed).error);
}

TEST_P(JobTest, WhatHasEndedIsKeptForAWhile) {
  const JobId id = MustStart({.kind = "count"});
  Jobs brief(store(), Duration::Seconds(10));
  ASSERT_TRUE(brief.Cancel(id).has_value());
  Wait(Duration::Seconds(9));
  EXPECT_EQ(StateOf(id), "cancelled");
  Wait(Duration::Seconds(1));
  EXPECT_EQ(CodeOf(jobs().Get(id)), "not_found");
}

TEST_P(JobTest, WaitReturnsAtOnceWhatHasEnded) {
  const JobId id = MustStart({.kind = "count"});
  ASSERT_TRUE(jobs().Cancel(id).has_value());
  const auto job = jobs().Wait(id);
  ASSERT_TRUE(job) << job.error();
  EXPECT_EQ(job->state, JobState::kCancelled);
}

TEST_P(JobTest, WaitIsWokenByTheEndAndNotBefore) {
  const JobId id = MustStart({.kind = "count"});
  std::atomic<bool> returned = false;
  std::thread waiter([&] {
    const auto job = jobs().Wait(id);
    returned = true;
    ASSERT_TRUE(job) << job.error();
    EXPECT_EQ(job->state, JobState::kFailed);
    EXPECT_EQ(job->error->text, "made up");
  });
  ASSERT_TRUE(jobs().Pause(id).has_value());
  ASSERT_TRUE(jobs().Resume(id).has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(returned);
  Set(id, Fail);
  waiter.join();
}

TEST_P(JobTest, WaitGivesUpWhenAskedTo) {
  const JobId id = MustStart({.kind = "count"});
  const auto late = jobs().Wait(id, {.patience = Duration::Millis(10)});
  ASSERT_EQ(CodeOf(late), "unavailable");
  EXPECT_EQ(late.error().field("state"), "queued");
  std::stop_source source;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    source.request_stop();
  });
  EXPECT_EQ(CodeOf(jobs().Wait(id, {.patience = {}, .stop = source.get_token()})), "unavailable");
  stopper.join();
}

}  // namespace
}  // namespace kvarts::test
