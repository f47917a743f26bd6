// What is dead goes away when no view can need it any more, and not before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "engine/postgres/connection.h"
#include "engine/postgres/postgres_engine.h"
#include "support/commits.h"
#include "support/engines.h"
#include "support/eventually.h"
#include "support/held_commit.h"
#include "support/postgres_database.h"
#include "support/reads.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::CodeOf;
using test::Eventually;
using test::FromRead;
using test::MakeCommit;

class CollectorTest : public testing::Test {
 protected:
  static constexpr size_t kBatch = 10;
  static constexpr Duration kKept{Limits{}.max_view_age.micros + Duration::Seconds(60).micros};

  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    engine_ = Open();
  }

  std::unique_ptr<Engine> Open(std::shared_ptr<Clock> clock = nullptr, milliseconds pause = milliseconds(1)) {
    PostgresOptions options;
    options.servers = {database_->target()};
    options.clock = clock == nullptr ? clock_ : std::move(clock);
    options.collect_batch = kBatch;
    options.collect_pause = pause;
    options.collect_interval = milliseconds(5);
    auto opened = OpenPostgresEngine(std::move(options));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }
  Version Must(std::vector<Mutation> mutations) {
    const auto outcome = CommitAndWait(*engine_, MakeCommit(std::move(mutations)));
    EXPECT_TRUE(outcome) << outcome.error();
    return outcome ? outcome->version : kNoVersion;
  }
  std::unique_ptr<Connection> Connect() const {
    auto opened = Connection::Open(database_->target(), {}, In(seconds(10)));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }
  static void Say(Connection& connection, const std::string& sql) {
    const auto done = connection.Simple(sql, In(seconds(10)));
    EXPECT_TRUE(done.has_value()) << done.error().error;
  }
  int Rows() const { return std::stoi(database_->Ask("SELECT count(*) FROM kvarts.entry")); }
  // From here on what was dead before is not needed any more.
  void LetGo() { clock_->Advance({kKept.micros + 1}); }
  // A microsecond later the collector has been at work again, twice: what it could take it has, with a row that has
  // been dead for ever.
  void AwaitCollector() {
    clock_->Advance(Duration::Micros(1));
    for (int i = 0; i < 2; ++i) {
      database_->Ask("INSERT INTO kvarts.entry VALUES (1, -2, '3', 0, 0, 'long dead', '', '', '')");
      const std::string find = "SELECT count(*) FROM kvarts.entry WHERE key = 'long dead'";
      EXPECT_TRUE(Eventually([&] { return database_->Ask(find) == "0"; }));
    }
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(test::kTestStart);
  std::unique_ptr<test::PostgresDatabase> database_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CollectorTest, TakesWhatIsDeadWhenNoViewCanNeedItAndNothingElse) {
  const Timestamp soon{clock_->Now().micros + 1'000'000};
  Must({Mutation::Put("lives", "1"), Mutation::Put("erased", "1"), Mutation::Put("range1", "1"),
        Mutation::Put("expires", "1", soon), test::Owned(Mutation::Put("owned", "1", soon))});
  Must({Mutation::Erase("erased"), Mutation::Erase("never"), Mutation::EraseRange("range", "rangf")});
  EXPECT_EQ(Rows(), 6);
  clock_->Advance({kKept.micros - 100});
  AwaitCollector();
  EXPECT_EQ(Rows(), 6);
  clock_->Advance(Duration::Micros(200));  // what was erased before the first second
  EXPECT_TRUE(Eventually([&] { return Rows() == 3; })) << Rows();
  EXPECT_EQ(database_->Ask("SELECT count(*) FROM kvarts.erased_range"), "0");
  clock_->Advance(Duration::Seconds(1));
  EXPECT_TRUE(Eventually([&] { return Rows() == 2; })) << Rows();
  LetGo();
  AwaitCollector();
  EXPECT_EQ(Rows(), 2);  // whoever owns it looks after it
  ReadOptions expired_too;
  expired_too.expired_too = true;
  const auto owned = GetOne(*engine_, "owned", expired_too);
  ASSERT_TRUE(owned && *owned);
  EXPECT_EQ((*owned)->value, "1");
}

TEST_F(CollectorTest, GoesOnUntilABatchIsNotFull) {
  for (const size_t dead : {kBatch - 1, kBatch, kBatch + 1, 3 * kBatch}) {
    std::vector<Mutation> erases;
    for (size_t i = 0; i < dead; ++i) erases.push_back(Mutation::Erase("k" + std::to_string(i)));
    Must(std::move(erases));
    EXPECT_EQ(Rows(), static_cast<int>(dead));
    LetGo();
    EXPECT_TRUE(Eventually([&] { return Rows() == 0; })) << dead;
  }
}

TEST_F(CollectorTest, TellsWhatItHasNotComeTo) {
  Must({Mutation::Erase("a"), Mutation::Erase("b"), Mutation::Erase("c")});
  auto other = Connect();
  Say(*other, "BEGIN; SELECT FROM kvarts.entry FOR UPDATE");
  LetGo();
  EXPECT_TRUE(Eventually([&] { return engine_->Stats()->collect_backlog == 3; }));
  EXPECT_EQ(Rows(), 3);
  other.reset();
  EXPECT_TRUE(Eventually([&] { return Rows() == 0 && engine_->Stats()->collect_backlog == 0; }));
  EXPECT_EQ(engine_->Stats()->expired_dropped, 3u);
}

TEST_F(CollectorTest, TellsWhatIsLeftWhileItIsAtWork) {
  std::vector<Mutation> erases;
  for (int i = 0; i < 35; ++i) erases.push_back(Mutation::Erase("k" + std::to_string(i)));
  Must(std::move(erases));
  engine_ = nullptr;
  LetGo();
  engine_ = Open(nullptr, std::chrono::hours(1));
  EXPECT_TRUE(Eventually([&] { return Rows() == 25; }));
  EXPECT_EQ(engine_->Stats()->collect_backlog, 35u);
}

TEST_F(CollectorTest, OfSeveralProcessesTakeEachRowOnce) {
  constexpr int kDead = 3'000;
  const auto second = Open();
  const auto third = Open();
  std::vector<Mutation> erases;
  for (int i = 0; i < kDead; ++i) erases.push_back(Mutation::Erase("k" + std::to_string(i)));
  const Version last = Must(std::move(erases));
  LetGo();
  EXPECT_TRUE(Eventually([&] { return Rows() == 0; }));
  EXPECT_EQ(database_->Ask("SELECT floor FROM kvarts.state"), std::to_string(last.stamp));
  const auto taken = [&] {
    uint64_t sum = 0;
    for (Engine* engine : {engine_.get(), second.get(), third.get()}) sum += engine->Stats()->expired_dropped;
    return sum;
  };
  EXPECT_TRUE(Eventually([&] { return taken() == kDead; })) << taken();
}

// Nobody waits until another has taken away what it is at.
TEST_F(CollectorTest, SeveralProcessesCollectAtOnce) {
  // Only when both raise the floor does one wait for the other's end.
  database_->Ask("UPDATE kvarts.state SET floor = 9223372036854775807, floor_tx = '9223372036854775807'");
  Must({Mutation::Erase("a"), Mutation::Erase("b")});
  auto other = Connect();
  Say(*other, "BEGIN; SELECT FROM kvarts.entry FOR UPDATE");
  LetGo();
  Say(*other, "SELECT kvarts.collect(9223372036854775807, 1000)");
  std::vector<Mutation> erases;
  for (size_t i = 0; i < 3 * kBatch; ++i) erases.push_back(Mutation::Erase("k" + std::to_string(i)));
  Must(std::move(erases));
  LetGo();
  EXPECT_TRUE(Eventually([&] { return Rows() == 2; })) << Rows();  // which are on their way out
  Say(*other, "COMMIT");
  EXPECT_EQ(Rows(), 0);
  EXPECT_TRUE(Eventually([&] { return engine_->Stats()->expired_dropped == 3 * kBatch; }));
}

TEST_F(CollectorTest, VersionsNeverGoBackForAKeyThatWasCollected) {
  Version last;
  for (int round = 0; round < 3; ++round) {
    const Version put = Must({Mutation::Put("k", "1")});
    EXPECT_GT(put, last);
    last = Must({Mutation::Erase("k")});
    EXPECT_GT(last, put);
    LetGo();
    ASSERT_TRUE(Eventually([&] { return Rows() == 0; }));
  }
  // Nor for a process whose clock is behind.
  const auto behind = Open(std::make_shared<ManualClock>(test::kTestStart));
  const auto put = CommitAndWait(*behind, MakeCommit({Mutation::Put("k", "1")}));
  ASSERT_TRUE(put) << put.error();
  EXPECT_GT(put->version, last);
}

// Whoever read the range before what is gone was erased is told, at whatever time it was.
TEST_F(CollectorTest, ARangeThatWasReadBeforeTheFloorHasChanged) {
  for (const Duration later : {Duration::Micros(0), Duration::Micros(1), Duration::Seconds(1)}) {
    Must({Mutation::Put("r1", "1")});
    auto view = engine_->OpenView();
    ASSERT_TRUE(view) << view.error();
    const Version seen = (*view)->version();
    view->reset();
    clock_->Advance(later);
    Must({Mutation::Erase("r1")});
    clock_->Advance({kKept.micros - 1});
    AwaitCollector();  // a microsecond later
    const auto outcome = CommitAndWait(
        *engine_, MakeCommit({Mutation::Put("sum", "1")}, {FromRead(test::RangeUnchanged("r", "s", seen))}));
    EXPECT_EQ(CodeOf(outcome), "conflict") << later.micros;
  }
}

// Also when it goes while the commit is being decided.
TEST_F(CollectorTest, ARangeThatIsCollectedFromDuringACommitHasChanged) {
  Must({Mutation::Put("r1", "1")});
  const Version seen = (*engine_->OpenView())->version();
  Must({Mutation::Erase("r1")});
  auto keeper = Connect();
  Say(*keeper, "BEGIN; SELECT FROM kvarts.entry FOR UPDATE");
  LetGo();
  // The commit takes its version when it has its locks and has seen the state of the store, and then looks at the
  // range.
  auto clock = Connect();
  Say(*clock, "SELECT pg_advisory_lock(1262902610, 1)");
  std::optional<Result<Committed>> outcome;
  std::jthread deciding([&] {
    outcome = CommitAndWait(*engine_, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("r", "s", seen)}));
  });
  const std::string waits =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted AND database = "
      "(SELECT oid FROM pg_database WHERE datname = current_database())";
  EXPECT_TRUE(Eventually([&] { return database_->Ask(waits) == "1"; }));
  keeper.reset();
  EXPECT_TRUE(Eventually([&] { return Rows() == 0; }));
  clock.reset();
  deciding.join();
  EXPECT_EQ(CodeOf(*outcome), "precondition_failed");
}

// What is gone from elsewhere, or was erased before, is no change, however long ago the range was read.
TEST_F(CollectorTest, ARangeThatNothingWasTakenFromSinceHasNotChanged) {
  Must({Mutation::Put("r1", "1"), Mutation::Put("r2", "1")});
  Must({Mutation::Erase("r1")});
  // Of whatever began before that and is still under way a view cannot tell whether it is from before.
  const std::string settled = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > max(tx) FROM kvarts.entry";
  EXPECT_TRUE(Eventually([&] { return database_->Ask(settled) == "t"; }));
  const Version seen = (*engine_->OpenView())->version();
  for (int i = 0; i < 3; ++i) {
    LetGo();
    AwaitCollector();
    EXPECT_EQ(Rows(), i == 0 ? 1 : 2);
    const auto outcome =
        CommitAndWait(*engine_, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("r", "s", seen)}));
    EXPECT_EQ(CodeOf(outcome), "ok");
  }
  Must({Mutation::Erase("r2")});
  LetGo();
  AwaitCollector();
  const auto outcome =
      CommitAndWait(*engine_, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("r", "s", seen)}));
  EXPECT_EQ(CodeOf(outcome), "precondition_failed");
}

// What was erased by a commit that was on its way when the range was read has changed it, though its version is older.
TEST_F(CollectorTest, ARangeThatWasReadWhileACommitWasOnItsWayHasChanged) {
  // One that waits for replicas is on its way for as long as there are none.
  for (const Duration under_way : {Duration::Seconds(5), Duration::Seconds(70), Duration::Seconds(10'000)}) {
    Must({Mutation::Put("r1", "1")});
    test::HeldCommit slow(database_->target(), MakeCommit({Mutation::Erase("r1")}), clock_->Now());
    clock_->Advance(under_way);
    Must({Mutation::Put("later", "1")});
    const Version seen = (*engine_->OpenView())->version();
    EXPECT_GT(seen, slow.version());
    slow.End();
    LetGo();
    AwaitCollector();
    EXPECT_EQ(database_->Ask("SELECT count(*) FROM kvarts.entry WHERE key = 'r1'"), "0");
    const auto outcome =
        CommitAndWait(*engine_, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("r", "s", seen)}));
    EXPECT_EQ(CodeOf(outcome), "precondition_failed") << under_way.micros;
  }
}

// Nor has it changed because of whoever has a transaction open, before what is collected and ever since.
TEST_F(CollectorTest, ARangeHasNotChangedBecauseSomebodyHasATransactionOpen) {
  auto other = Connect();
  Say(*other, "BEGIN; SELECT pg_current_xact_id()");
  Must({Mutation::Put("r1", "1"), Mutation::Put("r2", "1")});
  Must({Mutation::Erase("r1")});
  // Others who are under way now may end later, and a view cannot tell what they did.
  const std::string settled =
      "SELECT count(*) = 1 FROM pg_snapshot_xip(pg_current_snapshot()) x, kvarts.entry t WHERE t.key = 'r1' AND x < "
      "t.tx";
  EXPECT_TRUE(Eventually([&] { return database_->Ask(settled) == "t"; }));
  const Version before = (*engine_->OpenView())->version();
  LetGo();
  AwaitCollector();
  EXPECT_EQ(Rows(), 1);
  const Version after = (*engine_->OpenView())->version();
  for (const Version seen : {before, after}) {
    const auto outcome =
        CommitAndWait(*engine_, MakeCommit({Mutation::Add("sum", 1)}, {test::RangeUnchanged("r", "s", seen)}));
    EXPECT_EQ(CodeOf(outcome), "ok");
  }
}

TEST_F(CollectorTest, ACompactionGoesThroughItsRangeInPages) {
  constexpr int kKeys = 12'000;
  const auto key = [](int i) { return "k" + std::to_string(i) + Bytes(i % 1000 == 0 ? 2'500 : 1, 'x'); };
  for (int i = 0; i < kKeys; i += 2'000) {
    std::vector<Mutation> puts;
    for (int n = i; n < i + 2'000; ++n)
      puts.push_back(n % 3 == 0 ? Mutation::Put(key(n), "") : Mutation::Erase(key(n)));
    Must(std::move(puts));
  }
  const Version seen = (*engine_->OpenView())->version();
  EXPECT_EQ(Rows(), kKeys);
  ASSERT_TRUE(engine_->Compact(KeyRange::Prefix("k")));
  EXPECT_EQ(Rows(), kKeys / 3);
  const auto outcome =
      CommitAndWait(*engine_, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("k", "l", seen)}));
  EXPECT_EQ(CodeOf(outcome), "ok");
}

// The same against a collector at work, between the first reading of a range and the commit: who counts what is in it
// never misses an erase.
TEST_F(CollectorTest, RaceWithReadersOfRanges) {
  const auto second_process = Open();
  const auto third_process = Open();
  for (int round = 0; round < 100; ++round) {
    Must({Mutation::Put("r1", "1"), Mutation::Put("r2", "1"), Mutation::Put("count", "2")});
    Version erased;
    std::jthread erasing([&] { erased = Must({Mutation::Erase("r1"), Mutation::Add("both", 1)}); });
    std::atomic<bool> second = false;
    const auto counted = test::Transact(*engine_, [&](View& view, Commit* commit) -> Status {
      ScanRequest request;
      request.range = KeyRange::Prefix("r");
      KVARTS_TRY(const auto found, test::ScanAll(view, request));
      commit->preconditions = {FromRead(test::RangeUnchanged("r", "s", view.version()))};
      commit->mutations = {Mutation::Put("count", std::to_string(found.size())), Mutation::Add("both", 1)};
      if (!second.exchange(true)) {
        LetGo();
        std::this_thread::sleep_for(milliseconds(round % 8));
      }
      return {};
    });
    EXPECT_TRUE(counted) << counted.error();
    erasing.join();
    // Both add to one key, so their versions say which was first. If it was the erase, it was counted.
    const auto count = GetOne(*engine_, "count");
    ASSERT_TRUE(count && *count);
    const Bytes expected = (*count)->header.version > erased ? "1" : "2";
    EXPECT_EQ((*count)->value, expected) << round;
  }
}

}  // namespace
}  // namespace kvarts::postgres
