// Callers who wait stand in for the commit thread: what they write is synced in time, and the thread's own work, and
// everybody else's, still gets its turn.
#include <atomic>
#include <thread>
#include <vector>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

class StandInTest : public FaultTest {
 protected:
  StandInTest() { options.version_reserve = Duration::Seconds(3600); }  // nothing is synced for its sake

  // The number under the key is at least this one when everything is lost that was not synced.
  void ExpectAfterPowerLoss(BytesView key, int at_least) {
    LosePower();
    options.version_reserve = Duration::Millis(1);
    Open();
    EXPECT_GE(std::stoi(Value(key)), at_least);
  }
  // Keeps committing, one after the other, while `body` runs.
  void WhileWriting(const std::function<void()>& body) {
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      for (int i = 0; !stop; ++i) Put("busy", std::to_string(i), Durability::kNone);
    });
    body();
    stop = true;
    writer.join();
  }
};

TEST_F(StandInTest, WhatWasWrittenIsSyncedWhenTheIntervalEnds) {
  options.sync_interval = Duration::Millis(1);
  Open();
  Put("first", "reserves versions");
  for (int i = 0; i < 20; ++i) {
    Put("k", std::to_string(i), Durability::kInterval);
    WaitUntil([this] { return files().unsynced(FileKind::kLog) == 0; });
  }
  ExpectAfterPowerLoss("k", 19);
}

TEST_F(StandInTest, AWriterWithoutPausesIsSyncedToo) {
  options.sync_interval = Duration::Millis(1);
  Open();
  Put("busy", "0");
  int seen = 0;
  WhileWriting([&] {
    WaitUntil([&] { return (seen = std::stoi(Value("busy"))) > 10; });
    const uint64_t before = files().count(FileOp::kSync, FileKind::kLog);
    WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) >= before + 10; });
  });
  ExpectAfterPowerLoss("busy", seen);
}

TEST_F(StandInTest, AWriterWithoutPausesLeavesRoomForOtherWork) {
  options.sync_interval = Duration::Seconds(3600);
  Open();
  WhileWriting([this] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(engine().Sync());
      auto handed = std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("other", std::to_string(i))}));
      EXPECT_TRUE(SubmitOne(engine(), std::move(handed))->Outcome());
      EXPECT_EQ(Value("other"), std::to_string(i));
    }
  });
}

// Commits a put, and says on which thread it was answered.
std::thread::id AnsweredOn(Engine& engine, BytesView key, bool caller_waits) {
  auto submission = std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(key, "value")}));
  submission->caller_waits = caller_waits;
  std::thread::id where;
  submission->on_done = [&](const Result<Committed>&) { where = std::this_thread::get_id(); };
  EXPECT_TRUE(SubmitOne(engine, std::move(submission))->Outcome());
  return where;
}

TEST_F(StandInTest, WhoWaitsIsAnsweredOnItsOwnThreadAndNobodyElse) {
  Open();
  Put("first", "");
  // The thread may have something to do at that moment.
  WaitUntil([this] { return AnsweredOn(engine(), "here", true) == std::this_thread::get_id(); });
  for (int i = 0; i < 20; ++i) EXPECT_NE(AnsweredOn(engine(), "there", false), std::this_thread::get_id());
}

// A put by somebody who lends its thread.
std::unique_ptr<TestSubmission> Lent(BytesView key, Durability durability, std::thread::id* answered) {
  auto submission = std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(key, "lent")}));
  submission->commit.durability = durability;
  submission->caller_lends = true;
  submission->on_done = [answered](const Result<Committed>&) { *answered = std::this_thread::get_id(); };
  return submission;
}

TEST_F(StandInTest, WhoLendsItsThreadIsAnsweredOnItUnlessThatTakesASync) {
  options.sync_interval = Duration::Seconds(3600);
  Open();
  Put("first", "");
  std::thread::id answered;
  const auto put = [&](BytesView key, Durability durability) {
    EXPECT_TRUE(SubmitOne(engine(), Lent(key, durability, &answered))->Outcome());
    return answered;
  };
  WaitUntil([&] { return put("none", Durability::kNone) == std::this_thread::get_id(); });
  WaitUntil([&] { return put("interval", Durability::kInterval) == std::this_thread::get_id(); });
  for (int i = 0; i < 20; ++i) EXPECT_NE(put("sync", Durability::kSync), std::this_thread::get_id());
  EXPECT_EQ(Contents(), "first= interval=lent none=lent sync=lent");
}

TEST_F(StandInTest, WhoLendsItsThreadIsNeverKeptByTheDisk) {
  Open();
  Put("zero", "");
  files().Hold(FileOp::kSync, FileKind::kLog);
  std::vector<std::thread::id> answered(20);
  std::vector<std::shared_ptr<Ticket>> tickets;
  // Whichever of them finds the thread idle leaves it a group; the others queue up behind. None waits.
  for (size_t i = 0; i < answered.size(); ++i) {
    const Durability durability = i % 2 == 0 ? Durability::kSync : Durability::kNone;
    tickets.push_back(SubmitOne(engine(), Lent("k" + std::to_string(i), durability, &answered[i])));
  }
  files().Release();
  for (const auto& ticket : tickets) EXPECT_TRUE(ticket->Outcome());
  for (size_t i = 0; i < answered.size(); ++i) EXPECT_EQ(Value("k" + std::to_string(i)), "lent");
}

TEST_F(StandInTest, WhatComesMeanwhileIsDoneByTheThread) {
  Open();
  Put("zero", "");
  const uint64_t syncs = files().count(FileOp::kSync, FileKind::kLog);
  files().Hold(FileOp::kSync, FileKind::kLog);
  std::thread first([this] { Put("first", "held up by the disk"); });
  WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) > syncs; });
  std::vector<std::unique_ptr<TestSubmission>> submissions;
  std::vector<std::thread::id> answered(3);
  for (size_t i = 0; i < answered.size(); ++i) {
    auto& next = submissions.emplace_back(
        std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("other" + std::to_string(i), "waits")})));
    next->caller_waits = true;
    next->on_done = [&answered, i](const Result<Committed>&) { answered[i] = std::this_thread::get_id(); };
  }
  const auto tickets = SubmitTogether(engine(), std::move(submissions));
  const std::thread::id stood_in = first.get_id();
  files().Release();
  first.join();
  for (const auto& ticket : tickets) EXPECT_TRUE(ticket->Outcome());
  for (const std::thread::id& id : answered) {
    EXPECT_NE(id, std::this_thread::get_id());
    EXPECT_NE(id, stood_in);
  }
  EXPECT_EQ(Contents(), "first=held up by the disk other0=waits other1=waits other2=waits zero=");
}

TEST_F(StandInTest, AStoreCanBeUsedTheMomentItIsOpen) {
  for (int round = 0; round < 30; ++round) {
    Open();
    std::vector<std::thread> writers;
    for (int i = 0; i < 3; ++i) {
      writers.emplace_back([this, i] { Put("w" + std::to_string(i), "value", Durability::kNone); });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(Contents(), "w0=value w1=value w2=value");
  }
}

TEST_F(StandInTest, WhoIsRefusedDoesNobodysWork) {
  options.limits.max_queued_commits = 1;
  Open();
  Put("zero", "");
  const uint64_t syncs = files().count(FileOp::kSync, FileKind::kLog);
  files().Hold(FileOp::kSync, FileKind::kLog);
  std::thread first([this] { Put("first", ""); });
  WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) > syncs; });
  const auto queued = SubmitOne(engine(), std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("queued", "")})));
  EXPECT_EQ(PutCode("refused", ""), "overloaded");
  files().Release();
  first.join();
  EXPECT_TRUE(queued->Outcome());
  EXPECT_EQ(Contents(), "first= queued= zero=");
}

}  // namespace
}  // namespace kvarts::test
