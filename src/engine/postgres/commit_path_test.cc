// The way of commits to the server: one round trip for each group, no deadlocks between any of them, and nobody pays
// for a neighbour that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/postgres/entry_codec.h"
#include "engine/postgres/group.h"
#include "engine/postgres/postgres_engine.h"
#include "engine/postgres/schema.h"
#include "support/commits.h"
#include "support/environment.h"
#include "support/held_commit.h"
#include "support/local_cluster.h"
#include "support/own_server.h"
#include "support/postgres_database.h"
#include "support/reads.h"

namespace kvarts::postgres {
namespace {

using std::chrono::seconds;
using test::CodeOf;
using test::FromRead;
using test::MakeCommit;
using test::TestSubmission;

class CommitPathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
  }

  std::unique_ptr<Engine> Open(PostgresOptions options = {}) {
    options.servers = {database_->target()};
    auto opened = OpenPostgresEngine(std::move(options));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }
  // What libpq says to the server during a flight, a message in a line.
  std::string Traced(Connection& connection, const Call& call) {
    char* text = nullptr;
    size_t size = 0;
    FILE* const file = open_memstream(&text, &size);
    connection.Trace(file);
    const auto rows = connection.Fly(std::span(&call, 1), In(seconds(10)));
    connection.Trace(nullptr);
    fclose(file);
    EXPECT_TRUE(rows.has_value()) << rows.error().error;
    std::string said(text, size);
    free(text);
    return said;
  }

  std::unique_ptr<test::PostgresDatabase> database_;
};

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

std::string ValueOf(Engine& engine, BytesView key) {
  const auto record = GetOne(engine, key);
  if (!record) return record.error().ToString();
  return *record ? (*record)->value : "absent";
}

TEST_F(CommitPathTest, ACommitIsOneRoundTripAndSoIsAGroup) {
  ASSERT_TRUE(MakeSchema(database_->target(), CurrentSchema(), In(seconds(10))));
  auto connection = Connection::Open(database_->target(), AllStatements(), In(seconds(10)));
  ASSERT_TRUE(connection) << connection.error();
  std::vector<Commit> commits;
  for (int i = 0; i < 64; ++i) {
    const std::string n = std::to_string(i);
    commits.push_back(MakeCommit({Mutation::Put("a" + n, n)}, {test::Absent("b" + n)}));
  }
  const Snapshots none;
  const KnownFollowed nobody;
  for (const size_t size : {1u, 64u}) {
    Group group(none, nobody);
    for (size_t i = 0; i < size; ++i) group.Add(commits[i]);
    for (const Call& call : {group.Commits(std::nullopt, 0), group.Puts(std::nullopt).value()}) {
      const std::string said = Traced(**connection, call);
      EXPECT_EQ(Count(said, "\tSync"), 1u) << said;
      EXPECT_EQ(Count(said, "\tExecute"), 1u) << said;
      EXPECT_EQ(Count(said, "\tReadyForQuery"), 1u) << said;
    }
  }
}

TEST_F(CommitPathTest, NothingCanBeSubmitted) {
  const auto engine = Open();
  engine->Submit({});
  EXPECT_EQ(CodeOf(CommitAndWait(*engine, MakeCommit({Mutation::Put("a", "1")}))), "ok");
  engine->Submit({});
  EXPECT_EQ(ValueOf(*engine, "a"), "1");
}

TEST_F(CommitPathTest, WhatIsSubmittedTogetherIsOneGroup) {
  const auto engine = Open();
  std::vector<std::unique_ptr<TestSubmission>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a" + std::to_string(i), "1")})));
  }
  for (const auto& ticket : SubmitTogether(*engine, std::move(all))) EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  const auto stats = engine->Stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->commit_path.group_sizes.Count(), 1u);
  EXPECT_EQ(stats->commit_path.group_sizes.Sum(), 64);
}

// The server's table has room for some 700 locks here, and one commit may ask for more.
TEST_F(CommitPathTest, ATableOfLocksThatIsFullStopsNobody) {
  const test::LocalCluster small(0, "--set fsync=off --set max_connections=30 --set max_locks_per_transaction=10");
  auto connection = Connection::Open(small.targets().front(), {}, In(seconds(10)));
  ASSERT_TRUE(connection) << connection.error();
  ASSERT_FALSE(
      (*connection)->Simple("SELECT count(pg_advisory_lock(i)) FROM generate_series(1, 1500) i", In(seconds(10))));
  connection->reset();
  PostgresOptions options;
  options.servers = small.targets();
  const auto engine = OpenPostgresEngine(options);
  ASSERT_TRUE(engine) << engine.error();
  ASSERT_LT(1'500u, Locks::kMaxKeys);
  std::vector<Mutation> puts;
  std::vector<Mutation> adds;
  for (int i = 0; i < 1'500; ++i) {
    puts.push_back(Mutation::Put("p" + std::to_string(i), "1"));
    adds.push_back(Mutation::Add("n" + std::to_string(i), 1));
  }
  EXPECT_EQ(CodeOf(CommitAndWait(**engine, MakeCommit(puts))), "ok");
  EXPECT_EQ(CodeOf(CommitAndWait(**engine, MakeCommit(adds))), "ok");
  // Also when it is run under locks.
  auto again = std::make_unique<TestSubmission>(MakeCommit({}));
  again->run_first = true;
  again->body = [&](View&, Commit* commit) -> Status {
    commit->mutations = adds;
    return {};
  };
  EXPECT_EQ(CodeOf(SubmitOne(**engine, std::move(again))->Outcome()), "ok");
  EXPECT_EQ(ValueOf(**engine, "n7"), std::string("\2\0\0\0\0\0\0\0", 8));
}

// Who decides by a range has its area alone until it is seen; others are not kept waiting.
TEST(LocksTest, WritersShareAnAreaThatAReaderOfARangeHasAlone) {
  const auto locks_of = [](std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    Locks locks;
    locks.Add(MakeCommit(std::move(mutations), std::move(preconditions)));
    return locks;
  };
  const auto reader_of = [&](KeyRange range) {
    Precondition unchanged;
    unchanged.kind = Precondition::Kind::kRangeUnchanged;
    unchanged.key = range.start;
    unchanged.end = range.end;
    return locks_of({}, {unchanged});
  };
  const auto meet = [](const Locks& a, const Locks& b) {
    if (((a.modes | b.modes) & Locks::kAllWriters) != 0) return true;
    return std::ranges::any_of(a.keys, [&](int64_t one) {
      return std::ranges::any_of(
          b.keys, [&](int64_t other) { return (one | 1) == (other | 1) && ((one & 1) == 0 || (other & 1) == 0); });
    });
  };
  const Locks narrow = reader_of(KeyRange::Prefix("aaaaaaaaaa/"));
  EXPECT_TRUE(meet(narrow, locks_of({Mutation::Put("aaaaaaaaaa/1", "")})));
  EXPECT_TRUE(meet(narrow, locks_of({Mutation::Erase("aaaaaaaaaa/2")})));
  EXPECT_TRUE(meet(narrow, narrow));
  EXPECT_FALSE(meet(narrow, locks_of({Mutation::Put("aaaaaaaaab/1", "")})));
  EXPECT_FALSE(meet(narrow, locks_of({Mutation::Put("aaa", "")}))) << "it is too short to be in the range";
  EXPECT_FALSE(meet(narrow, reader_of(KeyRange::Prefix("aaaaaaaaab/"))));
  const Locks wide = reader_of({"aab", "aad"});
  EXPECT_EQ(wide.modes & Locks::kAllWriters, 0);
  EXPECT_TRUE(meet(wide, locks_of({Mutation::Put("aac", "")})));
  EXPECT_TRUE(meet(wide, locks_of({Mutation::Put("aaccccccccccccc", "")})));
  EXPECT_FALSE(meet(wide, locks_of({Mutation::Put("abc", "")})));
  for (const KeyRange& range : {KeyRange{"a", "b"}, KeyRange{"", ""}, KeyRange{"aa", "ac"}, KeyRange{"aa", ""}}) {
    EXPECT_TRUE(meet(reader_of(range), locks_of({Mutation::Put("zz", "")}))) << range.ToString();
  }
  EXPECT_FALSE(meet(locks_of({Mutation::Put("aaaaaaaaaa/1", "")}), locks_of({Mutation::Put("aaaaaaaaaa/2", "")})));
}

// Ways to fail, and what a group of commits is apart from the one that does.
enum class Way { kStated, kRead, kReadRunsAgain, kTooLarge, kServerRefuses, kGivenUp, kEmpty };
enum class Rest { kPuts, kAdds };

struct Case {
  Way way;
  Rest rest;
  std::string outcome;  // "": dropped
};

class NeighboursTest : public CommitPathTest {
 protected:
  static constexpr int kGroup = 8;

  void SetUp() override {
    CommitPathTest::SetUp();
    if (IsSkipped()) return;
    PostgresOptions options;
    options.limits.max_value_bytes = 1000;
    engine_ = Open(options);
    // What no commit of ours provokes.
    database_->Ask("ALTER TABLE kvarts.entry ADD CHECK (value <> 'poison'::bytea)");
    ASSERT_TRUE(CommitAndWait(*engine_, MakeCommit({Mutation::Put("there", "old")})));
  }

  static std::unique_ptr<TestSubmission> Failing(Way way) {
    std::unique_ptr<TestSubmission> submission;
    const auto make = [&](std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
      submission = std::make_unique<TestSubmission>(MakeCommit(std::move(mutations), std::move(preconditions)));
    };
    const Mutation put = Mutation::Put("failing", "written");
    switch (way) {
      case Way::kStated:
        make({put}, {test::Absent("there")});
        break;
      case Way::kRead:
        make({put}, {FromRead(test::VersionIs("there", Version{1}))});
        break;
      case Way::kReadRunsAgain:
        make({put}, {FromRead(test::VersionIs("there", Version{1}))});
        submission->body = [put](View& view, Commit* commit) -> Status {
          KVARTS_TRY(const auto record, view.GetOne("there"));
          commit->preconditions = {FromRead(test::VersionIs("there", record->header.version))};
          commit->mutations = {put};
          return {};
        };
        break;
      case Way::kTooLarge:
        make({Mutation::Put("failing", Bytes(1001, 'x'))});
        break;
      case Way::kServerRefuses:
        make({put, Mutation::Put("failing2", "poison")});
        break;
      case Way::kGivenUp:
        make({put});
        submission->on_claim = [] { return false; };
        break;
      case Way::kEmpty:
        make({});
        break;
    }
    return submission;
  }

  void TryAt(int position, const Case& tried) {
    SCOPED_TRACE("position " + std::to_string(position) + ", way " + std::to_string(static_cast<int>(tried.way)));
    ASSERT_TRUE(CommitAndWait(
        *engine_, MakeCommit({Mutation::EraseRange("failing", "failing9"), Mutation::EraseRange("n", "o")})));
    std::vector<std::unique_ptr<TestSubmission>> all;
    for (int i = 0; i < kGroup; ++i) {
      if (i == position) {
        all.push_back(Failing(tried.way));
        continue;
      }
      std::vector<Mutation> mutations = {Mutation::Put("n" + std::to_string(i), std::to_string(i))};
      if (tried.rest == Rest::kAdds) mutations.push_back(Mutation::Add("sum", 1));
      all.push_back(std::make_unique<TestSubmission>(MakeCommit(std::move(mutations))));
    }
    const auto tickets = SubmitTogether(*engine_, std::move(all));
    Version last;
    for (int i = 0; i < kGroup; ++i) {
      const auto outcome = tickets[i]->Wait();
      if (i == position) {
        EXPECT_EQ(outcome ? CodeOf(*outcome) : "", tried.outcome);
        continue;
      }
      ASSERT_TRUE(outcome && *outcome) << (outcome ? (*outcome).error().ToString() : "dropped");
      EXPECT_GT((*outcome)->version, last);
      last = (*outcome)->version;
      const auto record = GetOne(*engine_, "n" + std::to_string(i));
      ASSERT_TRUE(record && *record);
      EXPECT_EQ((*record)->value, std::to_string(i));
      EXPECT_EQ((*record)->header.version, last);
    }
    EXPECT_EQ(ValueOf(*engine_, "failing"), tried.way == Way::kReadRunsAgain ? "written" : "absent");
    EXPECT_EQ(ValueOf(*engine_, "failing2"), "absent");
    if (tried.rest == Rest::kAdds) {
      const auto number = GetOne(*engine_, "sum");
      ASSERT_TRUE(number && *number);
      added_ += kGroup - 1;
      EXPECT_EQ(CounterNumber((*number)->header, (*number)->value), added_);
    }
  }

  std::unique_ptr<Engine> engine_;
  int added_ = 0;
};

TEST_F(NeighboursTest, OfOneThatFailsAreCommittedAllTheSame) {
  for (const Rest rest : {Rest::kPuts, Rest::kAdds}) {
    for (const auto& [way, outcome] : std::vector<std::pair<Way, std::string>>{{Way::kStated, "precondition_failed"},
                                                                               {Way::kRead, "conflict"},
                                                                               {Way::kReadRunsAgain, "ok"},
                                                                               {Way::kTooLarge, "too_large"},
                                                                               {Way::kServerRefuses, "internal"},
                                                                               {Way::kGivenUp, ""},
                                                                               {Way::kEmpty, "ok"}}) {
      for (int position = 0; position < kGroup; ++position) TryAt(position, {way, rest, outcome});
    }
  }
}

// Two views have the same version although a commit became visible between them. Who read a range in the second is not
// held to what the first saw, however often it is run: a transaction that only reads takes no version by which it
// would become another.
TEST_F(CommitPathTest, WhoOnlyReadsARangeIsNotHeldToWhatAnotherSaw) {
  const auto engine = Open();
  ASSERT_TRUE(CommitAndWait(*engine, MakeCommit({Mutation::Put("r1", "1")})));
  test::HeldCommit slow(database_->target(), MakeCommit({Mutation::Put("r2", "1")}));
  Version before;
  {
    const auto view = engine->OpenView();
    ASSERT_TRUE(view) << view.error();
    before = (*view)->version();
    EXPECT_EQ(test::ShownScan(**view, KeyRange::Prefix("r")), "r1=1");
  }
  slow.End();
  std::string shown;
  const auto read = test::Transact(*engine, [&](View& view, Commit* made) -> Status {
    EXPECT_EQ(view.version(), before);
    shown = test::ShownScan(view, KeyRange::Prefix("r"));
    made->preconditions = {FromRead(test::RangeUnchanged("r", "s", view.version()))};
    return {};
  });
  EXPECT_TRUE(read) << read.error();
  EXPECT_EQ(shown, "r1=1 r2=1");
  // Who did read before is told, all the same.
  EXPECT_EQ(CodeOf(CommitAndWait(
                *engine, MakeCommit({Mutation::Put("sum", "1")}, {FromRead(test::RangeUnchanged("r", "s", before))}))),
            "conflict");
}

// A view that is opened while a commit is under way does not see it, and has not its version: who made the commit goes
// by that.
TEST_F(CommitPathTest, AViewHasTheVersionOfNoCommitThatItDoesNotSee) {
  const auto engine = Open();
  ASSERT_TRUE(CommitAndWait(*engine, MakeCommit({Mutation::Put("r1", "1")})));
  test::HeldCommit slow(database_->target(), MakeCommit({Mutation::Put("r2", "1")}));
  auto view = engine->OpenView();
  ASSERT_TRUE(view) << view.error();
  const Version seen = (*view)->version();
  EXPECT_NE(seen, slow.version());
  slow.End();
  view->reset();
  const auto unchanged = [&](Version since) {
    return CommitAndWait(*engine, MakeCommit({Mutation::Put("sum", "1")}, {test::RangeUnchanged("r", "s", since)}));
  };
  EXPECT_EQ(CodeOf(unchanged(seen)), "precondition_failed");
  const auto next = unchanged(slow.version());
  ASSERT_TRUE(next) << next.error();
  EXPECT_GT(next->version, seen);
}

// After a crash or a failover transactions may have the numbers of others that were lost: whoever saw some of those
// cannot tell them apart.
TEST_F(CommitPathTest, WhatAViewSawIsHeldToTheLifeOfTheServer) {
  const auto engine = Open();
  ASSERT_TRUE(CommitAndWait(*engine, MakeCommit({Mutation::Put("r1", "1")})));
  const auto end_life = [&] { database_->Ask("DELETE FROM kvarts.noting"); };
  const auto seen_now = [&] { return (*engine->OpenView())->version(); };
  const auto put_unless_changed = [&](Version since, bool was_read) {
    Precondition unchanged = test::RangeUnchanged("r", "s", since);
    if (was_read) unchanged = FromRead(unchanged);
    return CodeOf(CommitAndWait(*engine, MakeCommit({Mutation::Put("sum", "1")}, {unchanged})));
  };
  const Version seen = seen_now();
  EXPECT_EQ(put_unless_changed(seen, false), "ok");
  end_life();
  EXPECT_EQ(put_unless_changed(seen, false), "precondition_failed");
  EXPECT_EQ(put_unless_changed(seen, true), "conflict");
  EXPECT_GT(seen_now(), seen);
  EXPECT_EQ(put_unless_changed(seen_now(), false), "ok");
  // Who can be run again is.
  int runs = 0;
  const auto outcome = test::Transact(*engine, [&](View& view, Commit* made) -> Status {
    EXPECT_EQ(test::ShownScan(view, KeyRange::Prefix("r")), "r1=1");
    if (runs++ == 0) end_life();
    made->preconditions = {FromRead(test::RangeUnchanged("r", "s", view.version()))};
    made->mutations = {Mutation::Put("sum", "2")};
    return {};
  });
  EXPECT_TRUE(outcome) << outcome.error();
  EXPECT_EQ(runs, 2);
}

// Who waits for a lock in vain is told that nothing was done; those who came along are not held up for good.
TEST_F(CommitPathTest, WhoWaitsForALockInVainIsRefusedAlone) {
  PostgresOptions options;
  options.request_timeout = seconds(6);
  const auto engine = Open(options);
  test::HeldCommit held(database_->target(), MakeCommit({Mutation::Put("held", "1")}));
  std::vector<std::unique_ptr<TestSubmission>> all;
  for (const char* key : {"a", "held", "b"}) {
    all.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(key, "2")})));
  }
  const auto tickets = SubmitTogether(*engine, std::move(all));
  EXPECT_EQ(CodeOf(tickets[0]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[1]->Outcome()), "overloaded");
  EXPECT_EQ(CodeOf(tickets[2]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(CommitAndWait(*engine, MakeCommit({Mutation::Put("held", "3")}))), "overloaded");
  held.End();
  EXPECT_EQ(ValueOf(*engine, "held"), "1");
  EXPECT_EQ(CodeOf(CommitAndWait(*engine, MakeCommit({Mutation::Put("held", "4")}))), "ok");
}

// Everything at once from three processes: transfers between accounts in any order of keys, transactions that read a
// range, ranges erased, and dead rows taken away from under them.
class Stress {
 public:
  explicit Stress(std::vector<Engine*> engines) : engines_(std::move(engines)) {}

  void Run(seconds time, int threads) {
    const Deadline end = In(time);
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([this, i, end] {
        std::mt19937_64 random(i);
        for (int n = 0; std::chrono::steady_clock::now() < end; ++n) {
          Step(*engines_[i % engines_.size()], random, std::to_string(i) + "-" + std::to_string(n));
        }
      });
    }
  }

  static constexpr int kAccounts = 6;
  std::atomic<int> done = 0;

 private:
  static Bytes Account(uint64_t number) { return "account" + std::to_string(number % kAccounts); }

  void Expect(const Result<Committed>& outcome) {
    EXPECT_TRUE(outcome) << outcome.error();
    ++done;
  }

  void Step(Engine& engine, std::mt19937_64& random, const std::string& unique) {
    switch (random() % 8) {
      case 0:
      case 1: {  // blind, in any order of keys
        std::vector<Mutation> mutations;
        for (uint64_t i = 0; i < 4; ++i)
          mutations.push_back(Mutation::Put("blind" + std::to_string(random() % 9), unique));
        if (random() % 2 == 0) mutations.push_back(Mutation::Erase("blind" + std::to_string(random() % 9)));
        return Expect(CommitAndWait(engine, MakeCommit(std::move(mutations))));
      }
      case 2:
        return Expect(CommitAndWait(engine, MakeCommit({Mutation::EraseRange("blind3", "blind6")})));
      case 3:
        return Expect(test::Transact(engine, [&](View& view, Commit* commit) -> Status {
          ScanRequest request;
          request.range = {"blind", "blind9"};
          KVARTS_TRY(const auto found, test::ScanAll(view, request));
          commit->preconditions.push_back(
              FromRead(test::RangeUnchanged(request.range.start, request.range.end, view.version())));
          commit->mutations.push_back(Mutation::Put("seen", std::to_string(found.size())));
          commit->mutations.push_back(Mutation::Put("blind" + std::to_string(found.size()), unique));
          return {};
        }));
      case 4: {
        const Status compacted = engine.Compact({"blind", "blind9"});
        EXPECT_TRUE(compacted) << compacted.error();
        return;
      }
      default:
        return Expect(test::Transact(engine, [&, a = random(), b = random()](View& view, Commit* commit) -> Status {
          return Move(view, Account(a), Account(b), commit);
        }));
    }
  }

  static Status Move(View& view, const Bytes& from, const Bytes& to, Commit* commit) {
    if (from == to) {
      commit->mutations.push_back(Mutation::Add("same", 1));
      return {};
    }
    for (const auto& [key, by] : {std::pair(from, -1), std::pair(to, 1)}) {
      KVARTS_TRY(const auto record, view.GetOne(key));
      commit->preconditions.push_back(
          FromRead(record ? test::VersionIs(key, record->header.version) : test::Absent(key)));
      commit->mutations.push_back(Mutation::Put(key, std::to_string((record ? std::stoi(record->value) : 0) + by)));
    }
    return {};
  }

  const std::vector<Engine*> engines_;
};

TEST_F(CommitPathTest, OverlappingCommitsOfThreeProcessesNeverDeadlock) {
  const test::OwnServer own;
  database_ = std::make_unique<test::PostgresDatabase>();
  std::vector<std::unique_ptr<Engine>> opened;
  std::vector<Engine*> engines;
  for (int i = 0; i < 3; ++i) engines.push_back(opened.emplace_back(Open()).get());
  const std::string count =
      "SELECT pg_stat_clear_snapshot(); SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
  const std::string before = database_->Ask(count);
  Stress stress(engines);
  {
    // What is dead is taken away a second later.
    const std::jthread collecting([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        database_->Ask("SELECT kvarts.collect(last_value - (1000000 << 10), 5) FROM kvarts.clock");
      }
    });
    stress.Run(test::LongRun() ? seconds(120) : seconds(4), 9);
  }
  int sum = 0;
  for (int i = 0; i < Stress::kAccounts; ++i) {
    const std::string value = ValueOf(*engines[0], "account" + std::to_string(i));
    sum += value == "absent" ? 0 : std::stoi(value);
  }
  EXPECT_EQ(sum, 0);
  EXPECT_GT(stress.done, 100);
  opened.clear();  // a server process tells what it counted when it ends
  usleep(300'000);
  EXPECT_EQ(database_->Ask(count), before);
}

}  // namespace
}  // namespace kvarts::postgres
