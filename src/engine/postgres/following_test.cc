// How far commits are settled while somebody else's are on their way; that what is touched in a range is told as soon
// as it is visible; and that of all that is changed in one, by whomever, everything is told once and in order, or that
// it is not.
#include "engine/postgres/following.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>

#include "support/commits.h"
#include "support/eventually.h"
#include "support/held_commit.h"
#include "support/local_cluster.h"
#include "support/postgres_database.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::MakeCommit;
using test::TestSubmission;

class SettleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    PostgresOptions options;
    options.servers = {database_->target()};
    auto opened = OpenPostgresEngine(std::move(options));
    ASSERT_TRUE(opened) << opened.error();
    engine_ = *std::move(opened);
  }
  Version Put(const std::string& key) {
    const auto outcome = CommitAndWait(*engine_, MakeCommit({Mutation::Put(key, "")}));
    EXPECT_TRUE(outcome) << outcome.error();
    return outcome ? outcome->version : kNoVersion;
  }
  Version Settle() {
    const auto settled = engine_->Settle();
    EXPECT_TRUE(settled) << settled.error();
    return settled ? *settled : kNoVersion;
  }

  std::unique_ptr<test::PostgresDatabase> database_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(SettleTest, WhatOneHasCommittedIsSettledForIt) {
  for (int i = 0; i < 10; ++i) {
    const Version version = Put("k");
    EXPECT_GE(Settle(), version);
  }
}

TEST_F(SettleTest, TheLastCommitToBeginIsNotSettledBeforeItEnds) {
  for (int i = 0; i < 3; ++i) {
    const Version before = Put("k");
    test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("held", "")}));
    EXPECT_GT(held.version(), before);
    const Deadline end = In(milliseconds(150));
    do {
      EXPECT_LT(Settle(), held.version());
      EXPECT_LT(engine_->Settled(), held.version());
    } while (std::chrono::steady_clock::now() < end && !HasFailure());
    held.End();
    EXPECT_GE(Put("k"), held.version());
    EXPECT_GE(Settle(), held.version());
  }
}

TEST_F(SettleTest, NorIsWhatWasCommittedSince) {
  test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("held", "")}));
  const Version after = Put("k");
  EXPECT_LT(Settle(), held.version());
  held.End();
  EXPECT_GE(Settle(), after);
}

// Nor does a commit count that is of another database.
TEST_F(SettleTest, OtherTransactionsOfTheServerAreNotWaitedFor) {
  auto somebody = Connection::Open(database_->target(), {}, In(seconds(10)));
  ASSERT_TRUE(somebody) << somebody.error();
  ASSERT_TRUE((*somebody)->Simple("BEGIN; SELECT pg_current_xact_id()", In(seconds(10))));
  const test::PostgresDatabase other;
  const test::HeldCommit held(other.target(), MakeCommit({Mutation::Put("held", "")}));
  for (int i = 0; i < 3; ++i) {
    const Version version = Put("k");
    EXPECT_GE(Settle(), version);
  }
}

// Who runs again after a lost race has the fence for longer than a commit.
TEST_F(SettleTest, ALockOfASessionAloneIsNoCommit) {
  auto session = Connection::Open(database_->target(), {}, In(seconds(10)));
  ASSERT_TRUE(session) << session.error();
  // Also with a view of its own.
  for (const char* sql :
       {"SELECT pg_advisory_lock_shared(1262902610, 2)", "BEGIN; SELECT count(*) FROM kvarts.entry"}) {
    ASSERT_TRUE((*session)->Simple(sql, In(seconds(10))));
    const Version version = Put("k");
    EXPECT_GE(Settle(), version);
  }
}

// Also of a process that commits nothing itself.
TEST_F(SettleTest, WhatOthersHaveCommittedIsSettledSoon) {
  test::HeldCommit other(database_->target(), MakeCommit({Mutation::Put("held", "")}));
  other.End();
  const Deadline end = In(seconds(10));
  while (engine_->Settled() < other.version() && std::chrono::steady_clock::now() < end) usleep(5'000);
  EXPECT_GE(engine_->Settled(), other.version());
}

// Follows a range, and writes down what it is told was touched there.
class Follower final : public CommitListener {
 public:
  void Decided(const Commit&, Version, std::vector<std::unique_ptr<Submission>>*) override {}
  void Visible(const Commit&, Version) override {}
  void Elsewhere(const KeyRange& range, std::vector<std::unique_ptr<Submission>>*) override {
    const std::lock_guard lock(mutex_);
    touched_.push_back(range);
    changed_.notify_all();
  }
  void Settled(const KeyRange& range) override {
    const std::lock_guard lock(mutex_);
    settled_.push_back(range);
    changed_.notify_all();
  }
  void Followed(FollowedRanges* ranges) override {
    const std::lock_guard lock(mutex_);
    if (wanted_) ranges->touched.push_back(*wanted_);
  }
  void Begin(std::span<const KeyRange>) override {}
  void Changed(const Mutation&, Version) override {}
  void Lost() override {}

  void Want(KeyRange range) {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(range);
  }
  // The first so many, and whatever else has come by then.
  std::vector<KeyRange> Take(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(10), [&] { return touched_.size() >= count; });
    return std::exchange(touched_, {});
  }
  // Whether it is told of that range, after whatever else.
  bool IsTold(const KeyRange& range) {
    std::unique_lock lock(mutex_);
    const auto place = [&] { return std::ranges::find(touched_, range); };
    const bool told = changed_.wait_for(lock, seconds(10), [&] { return place() != touched_.end(); });
    if (told) touched_.erase(touched_.begin(), place() + 1);
    return told;
  }
  bool IsSettled(const KeyRange& range) {
    std::unique_lock lock(mutex_);
    const auto is_there = [&] { return std::ranges::find(settled_, range) != settled_.end(); };
    return changed_.wait_for(lock, seconds(10), is_there);
  }
  std::vector<KeyRange> TakeSettled() {
    const std::lock_guard lock(mutex_);
    return std::exchange(settled_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<KeyRange> wanted_;
  std::vector<KeyRange> touched_;
  std::vector<KeyRange> settled_;
};

class TouchedTest : public SettleTest {
 protected:
  void SetUp() override {
    SettleTest::SetUp();
    if (IsSkipped()) return;
    engine_->SetListener(&follower_);
  }
  void TearDown() override { engine_.reset(); }
  // Another process: one that does not know what is followed, so the server finds out.
  test::HeldCommit Hold(const std::string& key) {
    return test::HeldCommit(database_->target(), MakeCommit({Mutation::Put(key, "")}));
  }
  void PutElsewhere(const std::string& key) { Hold(key).End(); }
  // Until no commit can be on its way that does not know of it.
  void Follow() {
    follower_.Want(range_);
    engine_->FollowNow();
    ASSERT_TRUE(test::Eventually([this] { return Ask("SELECT count(*) FROM kvarts.followed") != "0"; }));
    const Version now = Put("elsewhere");
    ASSERT_TRUE(test::Eventually([&] { return engine_->Settled() >= now; }));
    // The telling of a mark is behind its being settled.
    PutElsewhere("w/begin");
    ASSERT_TRUE(follower_.IsTold(KeyRange::Single("w/begin")));
  }
  std::string Ask(const std::string& sql) { return database_->Ask(sql); }

  const KeyRange range_ = KeyRange::Prefix("w/");
  Follower follower_;
};

using Ranges = std::vector<KeyRange>;

TEST_F(TouchedTest, WhatIsVisibleIsToldOnceWhoeverElseIsCommitting) {
  Follow();
  std::shared_ptr<void> open = database_->HoldCommit();
  for (const char* key : {"w/a", "w/b", "w/a"}) {
    PutElsewhere(key);
    EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single(key)});
  }
  open.reset();
  // Not again when all have ended, either.
  const Version now = Put("elsewhere");
  ASSERT_TRUE(test::Eventually([&] { return engine_->Settled() >= now; }));
  PutElsewhere("w/c");
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/c")});
}

// For who reads in the order of versions: by then nothing before it is missing.
TEST_F(TouchedTest, ItIsToldAgainWhenItIsSettled) {
  Follow();
  EXPECT_TRUE(follower_.IsSettled(KeyRange::Single("w/begin")));
  follower_.TakeSettled();
  test::HeldCommit first = Hold("w/first");
  PutElsewhere("w/a");
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/a")});
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_EQ(follower_.TakeSettled(), Ranges());
  first.End();
  EXPECT_TRUE(follower_.IsSettled(KeyRange::Single("w/a")));
  EXPECT_GE(engine_->Settled(), first.version());
  EXPECT_TRUE(follower_.IsSettled(KeyRange::Single("w/first")));
}

TEST_F(TouchedTest, WhatBecomesVisibleLateIsToldThen) {
  Follow();
  const std::shared_ptr<void> open = database_->HoldCommit();
  test::HeldCommit first = Hold("w/first");
  test::HeldCommit second = Hold("w/second");
  PutElsewhere("w/a");
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/a")});
  second.End();
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/second")});
  PutElsewhere("w/b");
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/b")});
  first.End();
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/first")});
}

// A commit that was on its way before a range was followed notes nothing.
TEST_F(TouchedTest, NewcomersCountAsTouchedWheneverOneEndsWhoMayNotKnowOfThem) {
  const std::shared_ptr<void> open = database_->HoldCommit();
  test::HeldCommit first = Hold("w/first");
  test::HeldCommit second = Hold("w/second");
  const auto told = [this] { return follower_.Take(1); };
  follower_.Want(range_);
  EXPECT_EQ(told(), Ranges{range_});
  first.End();
  EXPECT_EQ(told(), Ranges{range_});
  second.End();
  EXPECT_EQ(told(), Ranges{range_});
  // Also one that comes while a mark is waited for.
  test::HeldCommit third = Hold("v/third");
  follower_.Want(KeyRange::Prefix("v/"));
  EXPECT_TRUE(follower_.IsTold(KeyRange::Prefix("v/")));
  std::this_thread::sleep_for(milliseconds(200));
  follower_.Take(0);
  third.End();
  EXPECT_TRUE(follower_.IsTold(KeyRange::Prefix("v/")));
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.touched"), "0");
}

TEST_F(TouchedTest, AnInterruptionIsToldAsEverythingWhoeverElseIsCommitting) {
  Follow();
  const std::shared_ptr<void> open = database_->HoldCommit();
  // In the middle of a look, which waits for a lock.
  auto locker = Connection::Open(database_->target(), {}, In(seconds(10)));
  ASSERT_TRUE(locker) << locker.error();
  for (const char* sql : {"BEGIN", "LOCK TABLE kvarts.touched"}) ASSERT_TRUE((*locker)->Simple(sql, In(seconds(10))));
  const std::string looking =
      "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ "
      "'kvarts.touched'";
  EXPECT_TRUE(test::Eventually([&] { return Ask("SELECT count(*) " + looking) == "1"; }));
  Ask("SELECT pg_terminate_backend(pid) " + looking);
  ASSERT_TRUE((*locker)->Simple("ROLLBACK", In(seconds(10))));
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::All()});
  PutElsewhere("w/a");
  EXPECT_EQ(follower_.Take(1), Ranges{KeyRange::Single("w/a")});
}

// What there is to say of a change.
std::string Line(const Mutation& mutation, Version version) {
  std::string line =
      version.ToString() + " " + std::to_string(static_cast<int>(mutation.op)) + " " + Escaped(mutation.key);
  switch (mutation.op) {
    case Mutation::Op::kPut:
      return line + "=" + Escaped(mutation.value) + " kind " + std::to_string(static_cast<int>(mutation.kind)) +
             " schema " + std::to_string(mutation.schema) + " until " + mutation.expiry.ToString() +
             (mutation.owned ? " owned" : "");
    case Mutation::Op::kErase:
      return line;
    case Mutation::Op::kEraseRange:
      return line + ".." + Escaped(mutation.end);
    case Mutation::Op::kAdd:
      return line + "+" + std::to_string(mutation.delta);
  }
  return line;
}

using Lines = std::vector<std::string>;

// Wants to be told of a range, and writes down what it is told.
class Reporter final : public CommitListener {
 public:
  void Decided(const Commit&, Version, std::vector<std::unique_ptr<Submission>>*) override {}
  void Visible(const Commit&, Version) override {}
  void Elsewhere(const KeyRange&, std::vector<std::unique_ptr<Submission>>*) override {}
  void Followed(FollowedRanges* ranges) override {
    const std::lock_guard lock(mutex_);
    if (!wanted_) return;
    ranges->told.push_back(*wanted_);
    if (!begun_) ranges->beginning.push_back(*wanted_);
  }
  void Begin(std::span<const KeyRange> ranges) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(ranges.size(), 1u);
    EXPECT_EQ(ranges[0], *wanted_);
    begun_ = true;
    changed_.notify_all();
  }
  void Changed(const Mutation& mutation, Version version) override {
    const std::lock_guard lock(mutex_);
    if (begun_) lines_.push_back(Line(mutation, version));
    changed_.notify_all();
  }
  void Lost() override {
    const std::lock_guard lock(mutex_);
    if (begun_) lines_.push_back("lost");
    changed_.notify_all();
  }

  void Want(KeyRange range) {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(range);
  }
  bool BeginsWithin(milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return begun_; });
  }
  // The first so many, and whatever else has come by then.
  Lines Take(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(10), [&] { return lines_.size() >= count; });
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<KeyRange> wanted_;
  bool begun_ = false;
  Lines lines_;
};

class ToldTest : public SettleTest {
 protected:
  void SetUp() override {
    SettleTest::SetUp();
    if (IsSkipped()) return;
    engine_->SetListener(&reporter_);
    PostgresOptions options;
    options.servers = {database_->target()};
    auto opened = OpenPostgresEngine(std::move(options));
    ASSERT_TRUE(opened) << opened.error();
    other_ = *std::move(opened);
  }
  void TearDown() override {
    engine_.reset();
    other_.reset();
  }
  void Begin(KeyRange range = KeyRange::Prefix("w/")) {
    reporter_.Want(std::move(range));
    engine_->FollowNow();
    ASSERT_TRUE(reporter_.BeginsWithin(seconds(10)));
  }
  // Commits, and expects to be told of the first so many of the mutations.
  void Do(Engine& engine, std::vector<Mutation> mutations, size_t told = SIZE_MAX) {
    const auto outcome = CommitAndWait(engine, MakeCommit(mutations));
    ASSERT_TRUE(outcome) << outcome.error();
    for (Mutation& mutation : mutations) {
      if (told-- == 0) break;
      mutation.Stamp(outcome->version);
      expected_.push_back(Line(mutation, outcome->version));
    }
  }
  std::string Ask(const std::string& sql) { return database_->Ask(sql); }
  std::unique_ptr<Connection> Connect() {
    auto opened = Connection::Open(database_->target(), AllStatements(), In(seconds(10)));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }

  Reporter reporter_;
  std::unique_ptr<Engine> other_;  // of another process
  Lines expected_;
};

TEST_F(ToldTest, EveryKindOfChangeByAnyProcessIsToldAsItWas) {
  Begin();
  Mutation stamped = Mutation::Put("w/log/........", "at ........!");
  stamped.key_stamp = 6;
  stamped.value_stamp = 3;
  Mutation typed = test::Owned(Mutation::Put("w/typed", "1", Timestamp{4'000'000'000'000'000}));
  typed.kind = ValueKind::kJson;
  typed.schema = 7;
  const Bytes long_key = "w/" + Bytes(3000, 'k');
  for (Engine* engine : {engine_.get(), other_.get()}) {
    Do(*engine, {Mutation::Put("w/a", "1")});
    Do(*engine, {stamped, typed, Mutation::Put(Bytes("w/\0\xff", 4), Bytes("\0\xff", 2)), test::PutCounter("w/n", -2)});
    Do(*engine, {Mutation::Add("w/n", 5), Mutation::Erase("w/a"), Mutation::Erase("w/never there")});
    Do(*engine, {Mutation::Put(long_key, "long"), Mutation::Erase(long_key)});
    Do(*engine,
       {Mutation::EraseRange("a", "w/b"), Mutation::EraseRange(long_key, ""), Mutation::EraseRange("w/x", "w/y")});
    // A key several times in a commit.
    Do(*engine, {Mutation::Put("w/a", "2"), Mutation::Put("w/a", "3"), Mutation::Erase("w/a")});
    Do(*engine, {Mutation::Put("elsewhere", "")}, 0);
  }
  EXPECT_EQ(reporter_.Take(expected_.size()), expected_);
}

// Together they would be one statement, which keeps the last put of a key.
TEST_F(ToldTest, OfAGroupOfPutsEachIsTold) {
  Begin();
  for (Engine* engine : {other_.get(), engine_.get()}) {
    std::vector<std::unique_ptr<TestSubmission>> batch;
    for (int i = 0; i < 100; ++i) {
      batch.push_back(std::make_unique<TestSubmission>(
          MakeCommit({Mutation::Put("w/" + std::to_string(i % 3), std::to_string(i)), Mutation::Put("x", "")})));
    }
    int i = 0;
    for (const auto& ticket : test::SubmitTogether(*engine, std::move(batch))) {
      const auto outcome = ticket->Outcome();
      ASSERT_TRUE(outcome) << outcome.error();
      expected_.push_back(Line(Mutation::Put("w/" + std::to_string(i % 3), std::to_string(i)), outcome->version));
      ++i;
    }
  }
  EXPECT_EQ(reporter_.Take(expected_.size()), expected_);
}

TEST_F(ToldTest, WhoDoesNotKnowThatPutsAreToBeToldIsToldToSayThemAll) {
  Begin();
  const Snapshots none;
  const KnownFollowed nobody;
  const Commit inside = MakeCommit({Mutation::Put("w/a", "")});
  const Commit outside = MakeCommit({Mutation::Put("v", "")});
  Group concerned(none, nobody), other(none, nobody);
  concerned.Add(inside);
  other.Add(outside);
  const auto connection = Connect();
  const auto put = [&](const Group& group) {
    const auto rows = connection->Fly(kPutAll, group.Puts(std::nullopt).value().params, In(seconds(10)));
    if (!rows) throw std::runtime_error(rows.error().error.ToString());
    return FirstVersionOf(*rows).has_value();
  };
  EXPECT_FALSE(put(concerned));
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.entry"), "0");
  EXPECT_TRUE(put(other));
}

TEST_F(ToldTest, WhatIsNotCommittedIsNotTold) {
  Begin();
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("w/a", "1")})));
  batch.push_back(std::make_unique<TestSubmission>(
      MakeCommit({Mutation::Put("w/b", ""), Mutation::Add("w/c", 1)}, {test::Absent("w/a")})));
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("w/d", "2")}, {test::Present("w/a")})));
  const auto tickets = test::SubmitTogether(*engine_, std::move(batch));
  EXPECT_FALSE(tickets[1]->Outcome());
  expected_ = {Line(Mutation::Put("w/a", "1"), tickets[0]->Outcome()->version),
               Line(Mutation::Put("w/d", "2"), tickets[2]->Outcome()->version)};
  EXPECT_EQ(reporter_.Take(2), expected_);
}

TEST_F(ToldTest, WhatBecomesVisibleLateIsToldInItsPlace) {
  Begin();
  test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("w/held", "")}));
  expected_.push_back(Line(Mutation::Put("w/held", ""), held.version()));
  Do(*engine_, {Mutation::Put("w/later", "")});
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(reporter_.Take(0), Lines());
  held.End();
  EXPECT_EQ(reporter_.Take(2), expected_);
}

TEST_F(ToldTest, NothingBeginsWhileACommitIsOnItsWayThatDoesNotKnow) {
  test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("w/held", "")}));
  reporter_.Want(KeyRange::Prefix("w/"));
  EXPECT_FALSE(reporter_.BeginsWithin(milliseconds(300)));
  held.End();
  ASSERT_TRUE(reporter_.BeginsWithin(seconds(10)));
  Do(*other_, {Mutation::Put("w/a", "")});
  EXPECT_EQ(reporter_.Take(1), expected_);
}

TEST_F(ToldTest, ManyChangesAreToldInPages) {
  Begin();
  std::vector<Mutation> many;
  for (int i = 0; i < 600; ++i) many.push_back(Mutation::Put("w/" + std::to_string(i), ""));
  for (int i = 0; i < 3; ++i) many.push_back(Mutation::Put("w/large", Bytes(3 << 20, 'x')));
  Do(*other_, std::move(many));
  EXPECT_EQ(reporter_.Take(expected_.size()), expected_);
}

TEST_F(ToldTest, NothingIsWrittenDownForNobody) {
  for (const char* key : {"w/a", "w/b"}) Do(*engine_, {Mutation::Put(key, ""), Mutation::Add("w/n", 1)});
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.changed"), "0");
  Begin();
  Do(*engine_, {Mutation::Put("x", "")});
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.changed"), "0");
  Do(*engine_, {Mutation::Put("w/c", "")});
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.changed"), "1");
}

// As a crash of the server leaves them.
TEST_F(ToldTest, WhatACrashTookAwayIsToldAsLost) {
  Begin();
  Do(*engine_, {Mutation::Put("w/a", "")});
  EXPECT_EQ(reporter_.Take(1), expected_);
  Ask("TRUNCATE kvarts.noting, kvarts.changed, kvarts.touched, kvarts.followed");
  EXPECT_EQ(reporter_.Take(1), Lines{"lost"});
  // And from there on everything is told.
  expected_.clear();
  Do(*other_, {Mutation::Put("w/b", "")});
  EXPECT_EQ(reporter_.Take(1), expected_);
}

// One that has seen it took away what another has not: no later change is told before that is.
TEST_F(ToldTest, WhatWasForgottenTooEarlyIsToldAsLost) {
  Begin();
  test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("x", "")}));
  Do(*engine_, {Mutation::Put("w/a", "")});
  const auto connection = Connect();
  Params forget;
  forget.Int8(0);
  forget.Int8(std::stoll(Ask("SELECT last_value + 1 FROM kvarts.clock")));
  ASSERT_TRUE(connection->Fly(kForget, std::move(forget), In(seconds(10))));
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.changed"), "0");
  Do(*engine_, {Mutation::Put("w/b", "")});
  held.End();
  EXPECT_EQ(reporter_.Take(1), Lines{"lost"});
}

TEST_F(ToldTest, AnInterruptionAloneLosesNothing) {
  Begin();
  int interrupted = 0;
  for (int i = 0; i < 10; ++i) {
    Do(*engine_, {Mutation::Put("w/a", std::to_string(i))});
    // The connections that look, and those alone.
    interrupted += std::stoi(Ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
        "pg_backend_pid() AND query ~ 'kvarts.(clock|touched|changed|noting)|pg_locks' AND query !~ 'kvarts.entry'"));
    std::this_thread::sleep_for(milliseconds(10 * i));
  }
  EXPECT_GT(interrupted, 3);
  EXPECT_EQ(reporter_.Take(expected_.size()), expected_);
}

// A server that crashes, and one whose replica takes its place, with the same engine on it all the time.
TEST(ToldFailoverTest, ACrashAndAPromotionAreToldAsLost) {
  if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
  const test::LocalCluster cluster(1);
  PostgresOptions options;
  options.servers = cluster.targets();
  options.probe_interval = milliseconds(200);
  options.primary_patience = milliseconds(300);
  Reporter reporter;
  auto opened = OpenPostgresEngine(options);
  ASSERT_TRUE(opened) << opened.error();
  const std::unique_ptr<Engine> engine = *std::move(opened);
  engine->SetListener(&reporter);
  reporter.Want(KeyRange::Prefix("w/"));
  ASSERT_TRUE(reporter.BeginsWithin(seconds(10)));
  const auto put = [&] {
    const Deadline end = In(seconds(20));
    Result<Committed> outcome = CommitAndWait(*engine, MakeCommit({Mutation::Put("w/a", "")}));
    while (!outcome && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(20));
      outcome = CommitAndWait(*engine, MakeCommit({Mutation::Put("w/a", "")}));
    }
    EXPECT_TRUE(outcome) << outcome.error();
    return Line(Mutation::Put("w/a", ""), outcome ? outcome->version : kNoVersion);
  };
  std::string line = put();
  EXPECT_EQ(reporter.Take(1), Lines{line});
  cluster.Do("kill 0-primary");
  cluster.Do("start 0-primary");
  EXPECT_EQ(reporter.Take(1), Lines{"lost"});
  line = put();
  EXPECT_EQ(reporter.Take(1), Lines{line});
  cluster.Do("stop 0-primary");
  cluster.Do("promote 0 1");
  EXPECT_EQ(reporter.Take(1), Lines{"lost"});
  line = put();
  EXPECT_EQ(reporter.Take(1), Lines{line});
}

// When its time is up nobody writes down anything for a range, and all processes hear of it.
TEST_F(ToldTest, WhatNobodyFollowsAnyMoreIsTakenAway) {
  const auto connection = Connect();
  Ask("INSERT INTO kvarts.followed VALUES ('\\x00', '\\x00', '', '\\xff', '', true, 0)");
  const std::string before = Ask("SELECT epoch FROM kvarts.state");
  Params forget;
  forget.Int8(0);
  forget.Int8(0);
  ASSERT_TRUE(connection->Fly(kForget, std::move(forget), In(seconds(10))));
  EXPECT_EQ(Ask("SELECT count(*) FROM kvarts.followed"), "0");
  EXPECT_NE(Ask("SELECT epoch FROM kvarts.state"), before);
}

}  // namespace
}  // namespace kvarts::postgres
