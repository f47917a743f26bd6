#include "engine/postgres/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "support/eventually.h"
#include "support/postgres_database.h"
#include "support/temp_dir.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Eventually;

class LineTest : public testing::Test {
 protected:
  using Answers = std::expected<std::vector<Rows>, Failure>;

  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    Pool::Options options;
    options.max_connections = 2;
    options.on_broken = [this] { ++broken_; };
    pool_ = std::make_unique<Pool>(database_->target(), options);
    trace_.reset(fopen((dir_ / "trace").c_str(), "w"));
    setvbuf(trace_.get(), nullptr, _IONBF, 0);
    line_ = std::make_unique<Line>([this] {
      auto lease = pool_->Take(In(seconds(10)));
      if (lease) (*lease)->Trace(trace_.get());
      return lease;
    });
  }
  // So many flights have been sent, of one call each.
  bool Sent(int count) {
    return Eventually([&] {
      std::ifstream file(dir_ / "trace");
      int syncs = 0;
      for (std::string line; std::getline(file, line);) syncs += line.find("\tSync") != std::string::npos ? 1 : 0;
      return syncs >= count;
    });
  }

  // Somebody else has the lock that TakeLock waits for.
  void Hold() {
    auto opened = Connection::Open(database_->target(), {}, In(seconds(10)));
    ASSERT_TRUE(opened) << opened.error();
    holder_ = *std::move(opened);
    ASSERT_TRUE(holder_->Simple("SELECT pg_advisory_lock(8)", In(seconds(10))));
  }
  void LetGo() { ASSERT_TRUE(holder_->Simple("SELECT pg_advisory_unlock_all()", In(seconds(10)))); }

  static Call TakeLock() {
    Params params;
    params.Int4(0);
    ArrayParam locks(ArrayParam::Of::kInt8);
    locks.Int8(8);
    locks.AddTo(&params);
    return {&kHold, std::move(params)};
  }
  // The server takes no text that is not UTF-8.
  static Call Refused() {
    Params params;
    params.Text("\xff");
    return {&kFindMeta, std::move(params)};
  }
  Answers Fly(std::vector<Call> calls, milliseconds time = seconds(20)) { return line_->Fly(calls, time); }
  std::future<Answers> FlyAside(Call call) {
    return std::async(std::launch::async, [this, call = std::move(call)]() mutable {
      std::vector<Call> calls;
      calls.push_back(std::move(call));
      return Fly(std::move(calls));
    });
  }
  // Those that wait for the lock, whose backends are these.
  std::string Waiting() {
    return database_->Ask(
        "SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'");
  }
  bool Clocks() {
    std::vector<Call> calls;
    calls.push_back({&kClock, {}});
    return Fly(std::move(calls)).has_value();
  }

  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  const test::TempDir dir_;
  std::unique_ptr<FILE, Close> trace_;
  std::atomic<int> broken_ = 0;
  std::unique_ptr<test::PostgresDatabase> database_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Line> line_;
  std::unique_ptr<Connection> holder_;
};

TEST_F(LineTest, TheCallsOfAFlightAreAnsweredInTheirOrder) {
  std::vector<Call> calls;
  calls.push_back({&kClock, {}});
  calls.push_back({&kEpoch, {}});
  const Answers answers = Fly(std::move(calls));
  ASSERT_TRUE(answers) << answers.error().error;
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ(PQnfields((*answers)[0].raw()), 1);
  EXPECT_EQ(PQnfields((*answers)[1].raw()), 2);
}

TEST_F(LineTest, OneIsSentBehindAnotherThatIsNotAnsweredYet) {
  Hold();
  std::future<Answers> first = FlyAside(TakeLock());
  ASSERT_TRUE(Eventually([this] { return !Waiting().empty(); }));
  std::vector<std::future<Answers>> behind;
  for (int i = 0; i < 3; ++i) behind.push_back(FlyAside({&kClock, {}}));
  EXPECT_TRUE(Sent(4));
  EXPECT_EQ(pool_->open(), 1u);
  LetGo();
  EXPECT_TRUE(first.get());
  for (auto& flight : behind) {
    const Answers answers = flight.get();
    ASSERT_TRUE(answers) << answers.error().error;
    EXPECT_EQ((*answers)[0].size(), 1);
  }
}

TEST_F(LineTest, WhenNobodyIsUnderWayTheConnectionIsBack) {
  ASSERT_TRUE(Clocks());
  const auto one = pool_->Take(In(seconds(10)), Pool::WhenFull::kRefuse);
  const auto other = pool_->Take(In(seconds(10)), Pool::WhenFull::kRefuse);
  EXPECT_TRUE(one) << one.error();
  EXPECT_TRUE(other) << other.error();
  EXPECT_EQ(pool_->open(), 2u);
}

TEST_F(LineTest, WhatIsRefusedIsNobodyElsesTrouble) {
  Hold();
  std::future<Answers> first = FlyAside(TakeLock());
  ASSERT_TRUE(Eventually([this] { return !Waiting().empty(); }));
  std::future<Answers> refused = FlyAside(Refused());
  ASSERT_TRUE(Sent(2));
  std::future<Answers> behind = FlyAside({&kClock, {}});
  ASSERT_TRUE(Sent(3));
  LetGo();
  EXPECT_TRUE(first.get());
  const Answers answer = refused.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().sqlstate, "22021");
  EXPECT_FALSE(answer.error().sent);
  EXPECT_TRUE(behind.get());
  // The session has no locks left, as that of the first, and the server is not to blame.
  const std::string locks =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
      "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  EXPECT_TRUE(Eventually([&] { return database_->Ask(locks) == "0"; }));
  EXPECT_EQ(pool_->open(), 1u);
  EXPECT_EQ(broken_, 0);
  EXPECT_TRUE(Clocks());
}

TEST_F(LineTest, WhatWasDoneBeforeARefusalIsTold) {
  std::vector<Call> calls;
  calls.push_back({&kClock, {}});
  calls.push_back(Refused());
  const Answers answers = Fly(std::move(calls));
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().ended.size(), 1u);
}

TEST_F(LineTest, OfABrokenConnectionNobodyKnowsAnything) {
  Hold();
  std::future<Answers> first = FlyAside(TakeLock());
  ASSERT_TRUE(Eventually([this] { return !Waiting().empty(); }));
  std::future<Answers> second = FlyAside({&kClock, {}});
  ASSERT_TRUE(Sent(2));
  database_->Ask("SELECT pg_terminate_backend(" + Waiting() + ")");
  for (auto* flight : {&first, &second}) {
    const Answers answers = flight->get();
    ASSERT_FALSE(answers);
    EXPECT_TRUE(answers.error().sent);
    EXPECT_EQ(answers.error().error.code(), ErrorCode::kUnavailable);
  }
  EXPECT_EQ(broken_, 1);
  EXPECT_TRUE(Clocks());
}

TEST_F(LineTest, WhoIsNotAnsweredInTimeGivesTheConnectionUpForAll) {
  Hold();
  std::future<Answers> first = FlyAside(TakeLock());
  ASSERT_TRUE(Eventually([this] { return !Waiting().empty(); }));
  std::vector<Call> calls;
  calls.push_back({&kClock, {}});
  const Answers late = Fly(std::move(calls), milliseconds(100));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().sent);
  // A newcomer does not stand in that line.
  EXPECT_TRUE(Clocks());
  LetGo();
  const Answers answers = first.get();
  ASSERT_FALSE(answers);
  EXPECT_TRUE(answers.error().sent);
}

TEST_F(LineTest, WhereNoConnectionIsToBeHadNothingWasSent) {
  Line none([] { return Error(ErrorCode::kOverloaded, "none"); });
  std::vector<Call> calls;
  calls.push_back({&kClock, {}});
  const Answers answers = none.Fly(calls, seconds(1));
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().error.code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(answers.error().sent);
}

// Longer ones than a socket takes at once, from many threads, and now and then one that is refused.
TEST_F(LineTest, ManyAtOnceAreEachAnsweredAsTheyAsked) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 12; ++i) {
        if (thread == 0 && i % 4 == 3) {
          std::vector<Call> calls;
          calls.push_back(Refused());
          EXPECT_FALSE(Fly(std::move(calls)));
          continue;
        }
        const std::string name = "name" + std::to_string(thread);
        const std::string value = std::string(i % 2 == 0 ? 8'000'000 : 10, 'x') + std::to_string(i);
        Params set;
        set.Text(name);
        set.Text(value);
        Params find;
        find.Text(name);
        std::vector<Call> calls;
        calls.push_back({&kSetMeta, std::move(set)});
        calls.push_back({&kFindMeta, std::move(find)});
        const Answers answers = Fly(std::move(calls));
        ASSERT_TRUE(answers) << answers.error().error;
        ASSERT_EQ((*answers)[1].size(), 1);
        EXPECT_TRUE((*answers)[1].Text(0, 1) == value) << i;
      }
    });
  }
}

}  // namespace
}  // namespace kvarts::postgres
