// Writes that the file system fails, injected beneath RocksDB: what is not known is said to be unknown, reads go on,
// and the store is read-only with a reason until it is opened again, or until the disk has room again.
#include <fmt/format.h>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

constexpr const char* kFailed = "a write to the disk failed; the store must be reopened";

class WriteFailureTest : public FaultTest {
 protected:
  void SetUp() override {
    Open();
    ASSERT_TRUE(engine().AssignProfile(KeyRange::Prefix("i/"), Profile::kIngest));
    Put("old", "value");
  }

  // A commit that spans two profiles, and its code.
  std::string Spanning(const std::string& value) {
    return CodeOf(Commit({Mutation::Put("a", value), Mutation::Put("i/a", value)}));
  }
  // Whole or not at all.
  void ExpectWhole(const std::string& value) {
    const std::string found = Value("a");
    EXPECT_EQ(Value("i/a"), found);
    EXPECT_TRUE(found == value || found == "absent") << found;
  }
  void ExpectReadOnly(const std::string& reason) {
    EXPECT_EQ(Value("old"), "value");
    EXPECT_NE(Contents().find("old=value"), std::string::npos);
    EXPECT_FALSE(engine().health().writable);
    EXPECT_EQ(engine().health().reason, reason);
    const auto refused = Commit({Mutation::Put("later", "value")});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(refused.error().text(), reason);
    EXPECT_EQ(Value("later"), "absent");
  }
};

TEST_F(WriteFailureTest, AFailedSyncOfTheLogIsUnknownAndEndsWritesUntilReopened) {
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
  EXPECT_EQ(Spanning("new"), "unknown_outcome");
  EXPECT_EQ(files().failed(), 1u);
  // Nobody was shown what may not be there.
  EXPECT_EQ(Value("a"), "absent");
  ExpectReadOnly(kFailed);
  // The disk is fine again, but what the failed sync left behind is not known.
  ExpectReadOnly(kFailed);
  Open();
  ExpectWhole("new");
  EXPECT_EQ(Value("later"), "absent");
  EXPECT_TRUE(engine().health().writable);
  Put("later", "value");
}

TEST_F(WriteFailureTest, AfterAFailedSyncAndAPowerFailureTheCommitIsWholeOrGone) {
  for (const auto tail : {PowerLoss::Tail::kGone, PowerLoss::Tail::kCut, PowerLoss::Tail::kZeros}) {
    for (uint64_t seed = 1; seed < 4; ++seed) {
      SCOPED_TRACE(fmt::format("{} {}", static_cast<int>(tail), seed));
      Put("before", std::to_string(seed));
      ASSERT_TRUE(Commit({Mutation::Erase("a"), Mutation::Erase("i/a")}));
      files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
      EXPECT_EQ(Spanning("new"), "unknown_outcome");
      LosePower({.tail = tail, .seed = seed});
      Open();
      ExpectWhole("new");
      EXPECT_EQ(Value("before"), std::to_string(seed));
    }
  }
}

TEST_F(WriteFailureTest, AFailedAppendToTheLogIsUnknownAndEndsWritesUntilReopened) {
  for (const bool torn : {false, true}) {
    SCOPED_TRACE(torn);
    files().Inject({.op = FileOp::kAppend, .kind = FileKind::kLog, .torn = torn});
    EXPECT_EQ(Spanning("new"), "unknown_outcome");
    ExpectReadOnly(kFailed);
    Open();
    ExpectWhole("new");
    Put("old", "value");
  }
}

TEST_F(WriteFailureTest, EveryoneInTheGroupIsToldTheSame) {
  const uint64_t syncs = files().count(FileOp::kSync, FileKind::kLog);
  files().Hold(FileOp::kSync, FileKind::kLog);
  // The first keeps the commit thread busy; the others make up the next group.
  auto first = SubmitOne(engine(), std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("first", "1")})));
  std::vector<std::unique_ptr<TestSubmission>> group;
  group.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("x", "1")})));
  group.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("y", "1")}, {Present("nothing")})));
  group.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("z", "1")})));
  WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) > syncs; });
  const auto tickets = SubmitTogether(engine(), std::move(group));
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog, .skip = 1});
  files().Release();
  EXPECT_EQ(CodeOf(first->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[0]->Outcome()), "unknown_outcome");
  // It wrote nothing, but what it was decided on is not known.
  EXPECT_EQ(CodeOf(tickets[1]->Outcome()), "unavailable");
  EXPECT_EQ(CodeOf(tickets[2]->Outcome()), "unknown_outcome");
  Open();
  EXPECT_EQ(Value("first"), "1");
  EXPECT_EQ(Value("x"), Value("z"));
  EXPECT_EQ(Value("y"), "absent");
}

TEST_F(WriteFailureTest, AFailedSyncOfTheIntervalEndsWritesToo) {
  Put("soon", "synced", Durability::kInterval);
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
  WaitUntil([this] { return !engine().health().writable; });
  ExpectReadOnly(kFailed);
  EXPECT_EQ(Value("soon"), "synced");
  const Status synced = engine().Sync();
  EXPECT_FALSE(synced);
  Open();
  EXPECT_TRUE(engine().health().writable);
}

TEST_F(WriteFailureTest, ASyncThatWasAskedForAndFailsIsNotClaimed) {
  options.sync_interval = Duration::Seconds(3600);
  Open();
  Put("warm", "up");  // reserves versions, so that the next is not synced for that
  Put("soon", "synced", Durability::kNone);
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
  EXPECT_EQ(CodeOf(engine().Sync()), "unknown_outcome");
  ExpectReadOnly(kFailed);
}

TEST_F(WriteFailureTest, AFailedFlushInTheBackgroundIsToldWithItsReason) {
  for (const FileOp op : {FileOp::kCreate, FileOp::kAppend, FileOp::kSync}) {
    SCOPED_TRACE(static_cast<int>(op));
    Put("a", "1");
    files().Inject({.op = op, .kind = FileKind::kTable});
    EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All())), "unavailable");
    WaitUntil([this] { return !engine().health().writable; });
    EXPECT_EQ(engine().health().reason, kFailed);
    EXPECT_EQ(Value("a"), "1");
    EXPECT_EQ(PutCode("b", "1"), "unavailable");
    Open();
    EXPECT_EQ(Value("a"), "1");
    EXPECT_EQ(PutCode("b", "1"), "ok");
    EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All())), "ok");
  }
}

TEST_F(WriteFailureTest, AFailedManifestIsToldWithItsReason) {
  for (const FileOp op : {FileOp::kAppend, FileOp::kSync}) {
    SCOPED_TRACE(static_cast<int>(op));
    Put("a", "1");
    files().Inject({.op = op, .kind = FileKind::kManifest});
    EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All())), "unavailable");
    WaitUntil([this] { return !engine().health().writable; });
    EXPECT_NE(engine().health().reason, "");
    EXPECT_EQ(Value("a"), "1");
    LosePower();
    Open();
    EXPECT_EQ(Value("a"), "1");
    EXPECT_EQ(PutCode("b", "1"), "ok");
  }
}

TEST_F(WriteFailureTest, AFullDiskEndsWritesUntilThereIsRoom) {
  for (const bool torn : {false, true}) {
    for (const FileOp op : {FileOp::kAppend, FileOp::kSync}) {
      SCOPED_TRACE(fmt::format("{} {}", torn, static_cast<int>(op)));
      files().Inject({.op = op, .kind = FileKind::kLog, .times = UINT64_MAX, .no_space = true, .torn = torn});
      files().Inject({.op = FileOp::kAppend, .kind = FileKind::kTable, .times = UINT64_MAX, .no_space = true});
      EXPECT_EQ(Spanning("new"), "unknown_outcome");
      ExpectReadOnly("the disk is full");
      files().ClearFaults();
      WaitUntil([this] { return engine().health().writable; });
      ExpectWhole("new");
      EXPECT_EQ(Spanning("after"), "ok");
      ExpectWhole("after");
      Open();
      ExpectWhole("after");
      EXPECT_TRUE(engine().VerifyFiles().empty());
      ASSERT_TRUE(Commit({Mutation::Erase("a"), Mutation::Erase("i/a")}));
    }
  }
}

TEST_F(WriteFailureTest, AFullDiskWithCommitsThatAreNotSyncedYetEndsToo) {
  options.sync_interval = Duration::Millis(1);
  Open();
  for (const FileOp op : {FileOp::kAppend, FileOp::kSync}) {
    SCOPED_TRACE(static_cast<int>(op));
    for (int i = 0; i < 20; ++i) Put("unsynced", std::to_string(i), Durability::kNone);
    files().Inject({.op = op, .kind = FileKind::kLog, .times = UINT64_MAX, .no_space = true});
    files().Inject({.op = FileOp::kAppend, .kind = FileKind::kTable, .times = UINT64_MAX, .no_space = true});
    EXPECT_NE(Spanning("new"), "ok");  // unavailable if the interval's sync failed first
    EXPECT_EQ(Value("unsynced"), "19");
    for (int i = 0; i < 20; ++i) EXPECT_NE(CodeOf(engine().Sync()), "ok");
    files().ClearFaults();
    WaitUntil([this] { return engine().health().writable; });
    EXPECT_EQ(CodeOf(engine().Sync()), "ok");
    EXPECT_EQ(Spanning("after"), "ok");
    LosePower();
    Open();
    EXPECT_EQ(Value("unsynced"), "19");
    ExpectWhole("after");
  }
}

TEST_F(WriteFailureTest, ADiskTooFullForANewLogMustBeReopened) {
  for (const FileOp op : {FileOp::kAppend, FileOp::kCreate}) {
    files().Inject({.op = op, .kind = FileKind::kLog, .times = UINT64_MAX, .no_space = true});
  }
  EXPECT_EQ(Spanning("new"), "unknown_outcome");
  WaitUntil([this] { return engine().health().reason == kFailed; });
  files().ClearFaults();
  ExpectReadOnly(kFailed);
  Open();
  ExpectWhole("new");
  Put("later", "value");
}

TEST_F(WriteFailureTest, AFullDiskInTheBackgroundEndsWritesUntilThereIsRoom) {
  for (const FileKind kind : {FileKind::kTable, FileKind::kManifest}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Put("a", "1");
    files().Inject({.op = FileOp::kAppend, .kind = kind, .times = UINT64_MAX, .no_space = true});
    EXPECT_NE(CodeOf(engine().Compact(KeyRange::All())), "ok");
    WaitUntil([this] { return !engine().health().writable; });
    EXPECT_EQ(engine().health().reason, "the disk is full");
    EXPECT_EQ(PutCode("b", "1"), "unavailable");
    EXPECT_EQ(Value("a"), "1");
    files().ClearFaults();
    WaitUntil([this] { return engine().health().writable; });
    EXPECT_EQ(PutCode("b", "1"), "ok");
    EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All())), "ok");
  }
}

TEST_F(WriteFailureTest, AfterAFullDiskNothingComesBackHalf) {
  // The commit was written to the log, whole, and the sync failed: it is unknown. The store goes on without it.
  files().Inject({.op = FileOp::kSync, .kind = FileKind::kLog, .no_space = true});
  EXPECT_EQ(Spanning("unknown"), "unknown_outcome");
  WaitUntil([this] { return engine().health().writable; });
  EXPECT_EQ(Value("a"), "absent");
  Put("old", "value", Durability::kNone);
  LosePower({.tail = PowerLoss::Tail::kCut, .seed = 3});
  Open();
  EXPECT_EQ(Value("a"), "absent");
  EXPECT_EQ(Value("i/a"), "absent");
}

}  // namespace
}  // namespace kvarts::test
