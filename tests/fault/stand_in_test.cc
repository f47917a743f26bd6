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
}

TEST_F(StandInTest, AWriterWithoutPausesIsSyncedToo) {
  options.sync_interval = Duration::Millis(1);
  Open();
  WhileWriting([this] {
    const uint64_t before = files().count(FileOp::kSync, FileKind::kLog);
    WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) >= before + 10; });
  });
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

TEST_F(StandInTest, WhatComesMeanwhileIsDoneByTheThread) {
  Open();
  files().Hold(FileOp::kSync, FileKind::kLog);
  std::thread first([this] { Put("first", "held up by the disk"); });
  WaitUntil([this] { return files().count(FileOp::kSync, FileKind::kLog) > 0; });
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) others.emplace_back([this, i] { Put("other" + std::to_string(i), "waits"); });
  files().Release();
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(Contents(), "first=held up by the disk other0=waits other1=waits other2=waits other3=waits");
}

}  // namespace
}  // namespace kvarts::test
