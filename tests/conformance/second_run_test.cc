// Submissions that the engine runs itself: at their first turn, or again after a lost race, where nothing can change
// under them; with a budget.
#include <atomic>
#include <thread>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class SecondRunTest : public EngineTest {
 protected:
  // A submission whose commit has lost its race already, with what it does when it is run again.
  static std::unique_ptr<TestSubmission> Lost(TestSubmission::Body body) {
    Commit stale = MakeCommit({Mutation::Put("stale", "")}, {FromRead(VersionIs("~", kNoVersion))});
    return std::make_unique<TestSubmission>(std::move(stale), std::move(body));
  }
};
KVARTS_ON_EVERY_ENGINE(SecondRunTest);

// What a transaction makes of a value it read.
Precondition Seen(BytesView key, const std::optional<Record>& record) {
  return FromRead(record ? VersionIs(key, record->header.version) : Absent(key));
}

// Adds one to the text under "n": a read and a put.
Status Increment(View& view, Commit* commit) {
  KVARTS_TRY(const auto record, view.GetOne("n"));
  const int n = record ? std::stoi(record->value) : 0;
  commit->preconditions = {Seen("n", record)};
  commit->mutations = {Mutation::Put("n", std::to_string(n + 1))};
  return {};
}

TEST_P(SecondRunTest, ALostRaceIsRunAgainAndCommits) {
  const auto ticket = SubmitOne(engine(), Lost(Increment));
  EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  EXPECT_EQ(ticket->runs(), 1);
  EXPECT_EQ(Contents(), "n=1");
}

TEST_P(SecondRunTest, AWonRaceIsNotRunAgain) {
  const auto ticket = SubmitOne(
      engine(), std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a", "")}, {Absent("a")}), Increment));
  EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  EXPECT_EQ(ticket->runs(), 0);
}

TEST_P(SecondRunTest, WithoutABodyALostRaceIsAConflict) {
  EXPECT_EQ(CodeOf(SubmitOne(engine(), Lost(nullptr))->Outcome()), "conflict");
  EXPECT_EQ(Contents(), "");
}

TEST_P(SecondRunTest, AStatedPreconditionIsNotALostRace) {
  const auto ticket = SubmitOne(
      engine(), std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a", "")}, {Present("a")}), Increment));
  EXPECT_EQ(CodeOf(ticket->Outcome()), "precondition_failed");
  EXPECT_EQ(ticket->runs(), 0);
}

TEST_P(SecondRunTest, WhatTheSecondRunStatesIsChecked) {
  const auto body = [](View&, Commit* commit) -> Status {
    *commit = MakeCommit({Mutation::Put("a", "")}, {Present("a")});
    return {};
  };
  EXPECT_EQ(CodeOf(SubmitOne(engine(), Lost(body))->Outcome()), "precondition_failed");
  EXPECT_EQ(Contents(), "");
}

TEST_P(SecondRunTest, ADurabilityThatTheEngineHasNotIsRefused) {
  const auto body = [](View&, Commit* commit) -> Status {
    *commit = MakeCommit({Mutation::Put("a", "")});
    commit->durability = Durability::kApplied;
    return {};
  };
  if (engine().strongest() == Durability::kApplied) GTEST_SKIP() << "there is nothing that the engine has not";
  EXPECT_EQ(CodeOf(SubmitOne(engine(), RunFirst(body))->Outcome()), "invalid_argument");
  EXPECT_EQ(Contents(), "");
}

TEST_P(SecondRunTest, IsShownEverythingDecidedBefore) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(std::make_unique<TestSubmission>(
      MakeCommit({Mutation::Put("a", "1"), Mutation::Put("gone", ""), Mutation::Add("c", 5)})));
  batch.push_back(std::make_unique<TestSubmission>(
      MakeCommit({Mutation::Put("b", "2"), Mutation::EraseRange("g", "h"), Mutation::Add("c", 2)})));
  std::string seen;
  Version version;
  batch.push_back(Lost([&](View& view, Commit* commit) -> Status {
    KVARTS_TRY(const auto entries, ScanAll(view, {}));
    for (const Found& entry : entries) seen += entry.key;
    KVARTS_TRY(const auto record, view.GetOne("b"));
    seen += " " + ValueOf(record);
    KVARTS_TRY(const auto counter, view.GetOne("c"));
    seen += " " + std::to_string(counter ? CounterNumber(counter->header, counter->value) : -1);
    KVARTS_TRY(const auto gone, view.GetOne("gone"));
    seen += " " + ValueOf(gone);
    version = view.version();
    *commit = MakeCommit({Mutation::Put("c", "3")}, {Seen("b", record)});
    return {};
  }));
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  const auto before = tickets[1]->Outcome();
  const auto outcome = tickets[2]->Outcome();
  ASSERT_TRUE(before && outcome);
  EXPECT_EQ(seen, "abc 2 7 absent");
  EXPECT_GE(version, before->version);
  if (engine().capabilities().total_order) {
    EXPECT_EQ(version, before->version);
  }
  EXPECT_GT(outcome->version, version);
}

TEST_P(SecondRunTest, IsRunAtTheTimeOfItsCommit) {
  KVARTS_NEEDS_TURNS();
  Put("a", "1", In(Duration::Seconds(1)));
  Wait(Duration::Micros(999'999));
  Timestamp time{};
  const auto outcome = SubmitOne(engine(), Lost([&](View& view, Commit* commit) -> Status {
                                   time = view.time();
                                   KVARTS_TRY(const auto record, view.GetOne("a"));
                                   commit->preconditions = {Lapsing(Seen("a", record), record->header.expiry)};
                                   commit->mutations = {Mutation::Put("b", "")};
                                   commit->mutations = {Mutation::Put("b", "")};
                                   clock().Advance(Duration::Millis(1));
                                   return {};
                                 }))
                           ->Outcome();
  ASSERT_TRUE(outcome) << outcome.error();
  EXPECT_EQ(outcome->version.time(), time);
}

TEST_P(SecondRunTest, RunFirstRunsAtItsTurn) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 10; ++i) batch.push_back(RunFirst(Increment));
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
    EXPECT_EQ(ticket->runs(), 1);
  }
  EXPECT_EQ(Value("n"), "10");
}

TEST_P(SecondRunTest, AnErrorOfTheBodyIsItsOutcome) {
  const auto body = [](View&, Commit* commit) -> Status {
    commit->mutations = {Mutation::Put("a", "")};
    return Error(ErrorCode::kAlreadyExists, "made up");
  };
  const auto outcome = SubmitOne(engine(), Lost(body))->Outcome();
  ASSERT_EQ(CodeOf(outcome), "already_exists");
  EXPECT_EQ(outcome.error().text(), "made up");
  EXPECT_EQ(CodeOf(SubmitOne(engine(), RunFirst(body))->Outcome()), "already_exists");
  EXPECT_EQ(Contents(), "");
}

TEST_P(SecondRunTest, ASubmissionThatWasGivenUpHasNoEffect) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 3; ++i) {
    batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a" + std::to_string(i), "")})));
  }
  batch.push_back(RunFirst(Increment));
  batch[1]->on_claim = [] { return false; };
  batch[3]->on_claim = [] { return false; };
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  EXPECT_TRUE(tickets[0]->Wait());
  EXPECT_FALSE(tickets[1]->Wait());
  EXPECT_TRUE(tickets[2]->Wait());
  EXPECT_FALSE(tickets[3]->Wait());
  EXPECT_EQ(tickets[3]->runs(), 0);
  EXPECT_EQ(Contents(), "a0= a2=");
}

TEST_P(SecondRunTest, IsClaimedOnceAndBeforeItIsRun) {
  std::string calls;
  auto submission = Lost([&](View& view, Commit* commit) {
    calls += "run ";
    return Increment(view, commit);
  });
  submission->on_claim = [&] { return calls += "claim ", true; };
  submission->on_done = [&](const auto&) { calls += "done"; };
  EXPECT_TRUE(SubmitOne(engine(), std::move(submission))->Outcome());
  EXPECT_EQ(calls, "claim run done");
}

TEST_P(SecondRunTest, MayReadSoManyKeys) {
  Limits limits;
  limits.max_second_run_keys = 20;
  limits.max_second_run_time = Duration::Seconds(100);
  Open(limits);
  const auto code = [&](int gets) {
    const auto body = [gets](View& view, Commit* commit) -> Status {
      for (int i = 0; i < gets; ++i) KVARTS_CHECK_OK(view.GetOne("k" + std::to_string(i)));
      commit->mutations = {Mutation::Put("done", std::to_string(gets))};
      return {};
    };
    const std::string lost = CodeOf(SubmitOne(engine(), Lost(body))->Outcome());
    EXPECT_EQ(CodeOf(SubmitOne(engine(), RunFirst(body))->Outcome()), lost);
    return lost;
  };
  EXPECT_EQ(code(19), "ok");
  EXPECT_EQ(code(20), "ok");
  EXPECT_EQ(code(21), "overloaded");
  EXPECT_EQ(Contents(), "done=20");
}

TEST_P(SecondRunTest, MayScanSoManyKeys) {
  durability_ = Durability::kNone;
  Limits limits;
  limits.max_second_run_keys = 20;
  limits.max_second_run_time = Duration::Seconds(100);
  Open(limits);
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(100 + i), "");
  const auto code = [&](BytesView end) {
    return CodeOf(SubmitOne(engine(), RunFirst([end](View& view, Commit*) -> Status {
                              ScanRequest request;
                              request.range = {"k", Bytes(end)};
                              KVARTS_CHECK_OK(ScanAll(view, request));
                              return {};
                            }))
                      ->Outcome());
  };
  EXPECT_EQ(code("k110"), "ok");
  EXPECT_EQ(code("l"), "overloaded");
}

TEST_P(SecondRunTest, MayStepOverSoMuch) {
  durability_ = Durability::kNone;
  Limits limits;
  limits.max_second_run_keys = 20;
  limits.max_second_run_time = Duration::Seconds(100);
  Open(limits);
  const auto code = [&](BytesView prefix) {
    return CodeOf(SubmitOne(engine(), RunFirst([prefix](View& view, Commit*) -> Status {
                              ScanRequest request;
                              request.range = KeyRange::Prefix(prefix);
                              request.max_entries = 1;
                              KVARTS_CHECK_OK(view.Scan(request));
                              return {};
                            }))
                      ->Outcome());
  };
  for (int i = 0; i < 30; ++i) {
    if (i < 15) Put("few" + std::to_string(100 + i), "", In(Duration::Seconds(1)));
    Put("many" + std::to_string(100 + i), "", In(Duration::Seconds(1)));
  }
  clock().Advance(Duration::Seconds(2));
  EXPECT_EQ(code("few"), "ok");
  EXPECT_EQ(code("many"), "overloaded");
}

TEST_P(SecondRunTest, TheReadingBudgetIsEachOnesOwn) {
  Limits limits;
  limits.max_second_run_keys = 2;
  limits.max_second_run_time = Duration::Seconds(100);
  Open(limits);
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 10; ++i) batch.push_back(RunFirst(Increment));
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  }
  EXPECT_EQ(Value("n"), "10");
}

TEST_P(SecondRunTest, MayTakeSoLong) {
  Limits limits;
  limits.max_second_run_time = Duration::Millis(1);
  Open(limits);
  const auto outcome = SubmitOne(engine(), RunFirst([&](View& view, Commit* commit) -> Status {
                                   // Whichever clock the engine goes by.
                                   clock().Advance(Duration::Millis(10));
                                   std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                   return Increment(view, commit);
                                 }))
                           ->Outcome();
  EXPECT_EQ(CodeOf(outcome), "overloaded");
  EXPECT_EQ(Contents(), "");
}

TEST_P(SecondRunTest, NobodyStarves) {
  constexpr int kThreads = 6;
  constexpr int kEach = 50;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) failed += Transact(engine(), Increment) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Value("n"), std::to_string(kThreads * kEach));
}

TEST_P(SecondRunTest, NothingChangesWhileItRuns) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const std::string n = std::to_string(i);
      Commit commit = MakeCommit({Mutation::Put("a", n), Mutation::Put("b", n)});
      commit.durability = Durability::kNone;
      IgnoreError(CommitAndWait(engine(), std::move(commit)));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto outcome =
        SubmitOne(
            engine(), Lost([](View& view, Commit* commit) -> Status {
              KVARTS_TRY(const auto a, view.GetOne("a"));
              KVARTS_TRY(const auto entries, ScanAll(view, {}));
              KVARTS_TRY(const auto b, view.GetOne("b"));
              commit->preconditions = {Seen("a", a), Seen("b", b), FromRead(RangeUnchanged("a", "c", view.version()))};
              commit->mutations = {Mutation::Put("seen", "")};
              if (a != b) return Error(ErrorCode::kInternal, "torn");
              return {};
            }))
            ->Outcome();
    EXPECT_EQ(CodeOf(outcome), "ok");
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace kvarts::test
