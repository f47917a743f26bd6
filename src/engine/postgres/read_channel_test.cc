// Reads on a channel, with a thread that serves it as a loop would. Where an answer was told says which way it came.
#include "engine/postgres/read_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <functional>
#include <set>

#include "engine/postgres/entry_codec.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/postgres_database.h"
#include "support/stopped.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Eventually;

class Read final : public PendingGet {
 public:
  explicit Read(std::vector<Bytes> wanted, ReadOptions with = {})
      : wanted_(std::move(wanted)), records_(wanted_.size()) {
    views_.assign(wanted_.begin(), wanted_.end());
    keys = views_;
    records = records_;
    options = with;
  }
  void Done(Status told) override {
    outcome = std::move(told);
    thread = std::this_thread::get_id();
    ++dones;
  }

  std::string text() const {
    if (dones != 1) return "done " + std::to_string(dones) + " times";
    if (!outcome.has_value()) return outcome.error().ToString();
    std::string all;
    for (const auto& record : records_) all += (all.empty() ? "" : ",") + (record ? record->value : Bytes("absent"));
    return all;
  }
  bool by_channel() const { return thread == std::this_thread::get_id(); }

  Status outcome;
  std::thread::id thread;
  std::atomic<int> dones{0};

 private:
  const std::vector<Bytes> wanted_;
  std::vector<BytesView> views_;
  std::vector<std::optional<Record>> records_;
};

// A channel, and what a loop does for it.
class Served final : public ReadChannel::Host {
 public:
  explicit Served(Engine& engine) : channel_(engine.OpenReadChannel(*this)) {}

  bool Watch(int descriptor) override {
    waited_ = {.fd = descriptor, .events = POLLIN, .revents = 0};
    return true;
  }
  void WantWrite(bool wanted) override { waited_.events = static_cast<short>(POLLIN | (wanted ? POLLOUT : 0)); }
  void Unwatch() override { waited_.fd = -1; }
  void LeaveWithin(std::chrono::microseconds) override {}  // it turns all the time

  ReadChannel& channel() { return *channel_; }
  bool watches() const { return waited_.fd >= 0; }
  void End() { channel_.reset(); }

  void Turn(milliseconds at_most = milliseconds(1)) {
    if (::poll(&waited_, 1, static_cast<int>(at_most.count())) > 0) channel_->Ready();
    channel_->Leave();
  }
  // Turns, with a tick now and then, until it is so.
  bool TurnUntil(const std::function<bool()>& holds) {
    int turns = 0;
    return Eventually([&] {
      Turn();
      if (++turns % 50 == 0) channel_->Tick();
      return holds();
    });
  }
  std::string Get(const Bytes& key, ReadOptions options = {}) {
    Read read({key}, options);
    channel_->Add(read);
    EXPECT_TRUE(TurnUntil([&] { return read.dones != 0; }));
    last_by_channel = read.by_channel();
    return read.text();
  }
  // Whether it has a connection by now.
  bool Warm() {
    return TurnUntil([&] {
      Get("warm");
      return last_by_channel;
    });
  }

  bool last_by_channel = false;

 private:
  pollfd waited_{.fd = -1, .events = 0, .revents = 0};
  std::unique_ptr<ReadChannel> channel_;
};

class ReadChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    options_.servers = {database_->target()};
  }
  void Open() {
    auto opened = OpenPostgresEngine(options_);
    if (!opened.has_value()) throw std::runtime_error(opened.error().ToString());
    engine_ = *std::move(opened);
  }
  void Put(const Bytes& key, const Bytes& value, Timestamp expiry = kNever) {
    Mutation put = Mutation::Put(key, value);
    put.expiry = expiry;
    const auto committed = CommitAndWait(*engine_, test::MakeCommit({std::move(put)}));
    ASSERT_TRUE(committed.has_value()) << committed.error();
  }
  // Nobody can read the table while there is one.
  class Lock {
   public:
    explicit Lock(const std::string& target) {
      auto opened = Connection::Open(target, {}, In(seconds(10)));
      if (!opened.has_value()) throw std::runtime_error(opened.error().ToString());
      connection_ = *std::move(opened);
      const auto locked =
          connection_->Simple("BEGIN; LOCK TABLE kvarts.entry IN ACCESS EXCLUSIVE MODE", In(seconds(10)));
      if (!locked.has_value()) throw std::runtime_error(locked.error().error.ToString());
    }

   private:
    std::unique_ptr<Connection> connection_;
  };
  // Of those who wait for it, reading.
  static constexpr char kWaiting[] =
      "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE "
      "'%FROM kvarts.entry t WHERE t.key = ANY%'";
  int Waiting() const { return std::stoi(database_->Ask(std::string("SELECT count(*) ") + kWaiting)); }

  std::unique_ptr<test::PostgresDatabase> database_;
  PostgresOptions options_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ReadChannelTest, ManyAtOnceAreEachAnsweredRightly) {
  Open();
  const Bytes long_key(kIndexedBytes + 1, 'l');
  for (int i = 0; i < 10; ++i) Put("key" + std::to_string(i), "value" + std::to_string(i));
  Put(long_key, "long");
  Put("binary", Bytes("\0\xff,", 3));
  Put("empty", "");
  Served served(*engine_);
  ASSERT_TRUE(served.Warm());
  std::deque<Read> reads;
  std::vector<std::string> expected;
  const auto add = [&](std::vector<Bytes> keys, const std::string& value) {
    served.channel().Add(reads.emplace_back(std::move(keys)));
    expected.push_back(value);
  };
  // More than go with one flight, the same key several times, and in no order.
  for (int i = 599; i >= 0; --i) {
    const std::string number = std::to_string(i % 12);
    add({"key" + number}, i % 12 < 10 ? "value" + number : "absent");
  }
  add({"key3", "none", "key1", "key3"}, "value3,absent,value1,value3");
  add({}, "");
  add({"binary"}, std::string("\0\xff,", 3));
  add({"empty"}, "");
  add({long_key, "key1"}, "long,value1");
  const auto done = [&] { return std::ranges::all_of(reads, [](const Read& read) { return read.dones != 0; }); };
  ASSERT_TRUE(served.TurnUntil(done));
  for (size_t i = 0; i < reads.size(); ++i) EXPECT_EQ(reads[i].text(), expected[i]) << i;
  for (size_t i = 0; i + 1 < reads.size(); ++i) EXPECT_TRUE(reads[i].by_channel()) << i;
  EXPECT_FALSE(reads.back().by_channel()) << "what is rare is left to others";
}

TEST_F(ReadChannelTest, TimeAndCostAreThoseOfOtherReads) {
  struct Given final : Clock {
    Timestamp Now() const override { return {now}; }
    std::atomic<uint64_t> now{0};
  };
  auto clock = std::make_shared<Given>();
  clock->now = 5'000'000'000'000'000;
  options_.clock = clock;
  Open();
  Put("a", "12345", {clock->now + 1'000'000});
  Served served(*engine_);
  ASSERT_TRUE(served.Warm());
  ReadCost cost;
  EXPECT_EQ(served.Get("a", {.cost = &cost}), "12345");
  EXPECT_EQ(served.Get("none", {.cost = &cost}), "absent");
  EXPECT_EQ(cost.keys, 2u);
  EXPECT_EQ(cost.bytes, 6u);
  clock->now += 1'000'000;
  EXPECT_EQ(served.Get("a", {.cost = &cost}), "absent");
  EXPECT_EQ(served.Get("a", {.expired_too = true, .cost = &cost}), "12345");
  EXPECT_EQ(cost.keys, 4u);
  EXPECT_EQ(cost.bytes, 12u);
  EXPECT_TRUE(served.last_by_channel);
  // It does not go back, whatever a clock says.
  EXPECT_GE(engine_->Now().micros, clock->now);
  clock->now -= 1'000'000;
  EXPECT_EQ(served.Get("a"), "absent");
}

TEST_F(ReadChannelTest, AConnectionThatIsCutWithReadsUnderWayCostsNobodyAnAnswer) {
  Open();
  Put("a", "1");
  Served served(*engine_);
  ASSERT_TRUE(served.Warm());
  std::deque<Read> reads;
  {
    const Lock lock(database_->target());
    for (int i = 0; i < 50; ++i) served.channel().Add(reads.emplace_back(std::vector<Bytes>{"a"}));
    served.channel().Leave();
    // These gather behind them.
    for (int i = 0; i < 50; ++i) served.channel().Add(reads.emplace_back(std::vector<Bytes>{"none"}));
    served.channel().Leave();
    ASSERT_TRUE(Eventually([&] { return Waiting() == 1; }));
    EXPECT_EQ(database_->Ask(std::string("SELECT pg_terminate_backend(pid) ") + kWaiting), "t");
    ASSERT_TRUE(served.TurnUntil([&] { return !served.watches(); }));
    ASSERT_TRUE(Eventually([&] { return Waiting() > 0; })) << "others ask for them";
    for (const Read& read : reads) EXPECT_EQ(read.dones, 0);
  }
  ASSERT_TRUE(Eventually([&] { return std::ranges::all_of(reads, [](const Read& read) { return read.dones != 0; }); }));
  for (size_t i = 0; i < reads.size(); ++i) EXPECT_EQ(reads[i].text(), i < 50 ? "1" : "absent");
  EXPECT_TRUE(served.Warm()) << "it has another connection in time";
  // One that is cut while nothing is under way is not noticed by anybody.
  database_->Ask(
      "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = current_database() AND "
      "pid <> pg_backend_pid()");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(served.Get("a"), "1");
  EXPECT_TRUE(served.Warm());
}

TEST_F(ReadChannelTest, AnswersThatAreLateAreGivenUp) {
  options_.request_timeout = milliseconds(3'000);
  Open();
  Put("a", "1");
  Served served(*engine_);
  ASSERT_TRUE(served.Warm());
  {
    const Lock lock(database_->target());
    EXPECT_THAT(served.Get("a"), testing::HasSubstr("the server does not answer in time"));
    EXPECT_TRUE(served.last_by_channel);
    EXPECT_FALSE(served.watches());
  }
  EXPECT_TRUE(served.Warm());
  EXPECT_EQ(served.Get("a"), "1");
}

TEST_F(ReadChannelTest, AnErrorOfTheServerIsToldByTheReaders) {
  Open();
  Put("a", "1");
  Served served(*engine_);
  ASSERT_TRUE(served.Warm());
  database_->Ask("ALTER TABLE kvarts.entry RENAME TO hidden");
  EXPECT_THAT(served.Get("a"), testing::HasSubstr("PostgreSQL refuses a statement"));
  EXPECT_FALSE(served.last_by_channel);
  EXPECT_TRUE(served.watches()) << "the connection is as good as before";
  database_->Ask("ALTER TABLE kvarts.hidden RENAME TO entry");
  EXPECT_EQ(served.Get("a"), "1");
  EXPECT_TRUE(served.last_by_channel);
}

TEST_F(ReadChannelTest, ReadsUnderWayAreGivenUpOnceWhenItEnds) {
  Open();
  Put("a", "1");
  auto served = std::make_unique<Served>(*engine_);
  ASSERT_TRUE(served->Warm());
  std::deque<Read> reads;
  {
    const Lock lock(database_->target());
    for (int i = 0; i < 10; ++i) served->channel().Add(reads.emplace_back(std::vector<Bytes>{"a"}));
    served->channel().Leave();
    ASSERT_TRUE(Eventually([&] { return Waiting() == 1; }));
    served->channel().Add(reads.emplace_back(std::vector<Bytes>{"a"}));
    served->End();
    for (const Read& read : reads) EXPECT_THAT(read.text(), testing::HasSubstr("unavailable"));
  }
  // What was under way on it is nobody else's answer.
  Served next(*engine_);
  ASSERT_TRUE(next.Warm());
  EXPECT_EQ(next.Get("none"), "absent");
  EXPECT_EQ(next.Get("a"), "1");
  // One that was never used, and one whose connection is still being made.
  Served unused(*engine_);
  Served hasty(*engine_);
  EXPECT_EQ(hasty.Get("a"), "1");
}

TEST_F(ReadChannelTest, ThereAreNoMoreConnectionsThanMayBe) {
  options_.loop_connections = 1;
  Open();
  Put("a", "1");
  auto first = std::make_unique<Served>(*engine_);
  Served second(*engine_);
  ASSERT_TRUE(first->Warm());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(second.Get("a"), "1");
    EXPECT_FALSE(second.last_by_channel);
  }
  first->End();
  EXPECT_TRUE(second.Warm()) << "it tries again";
}

// On a cluster of its own, whose servers change their roles.
class ReadChannelFailoverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    cluster_ = std::make_unique<test::LocalCluster>(2);
    PostgresOptions options;
    options.servers = cluster_->targets();
    options.probe_interval = milliseconds(200);
    options.request_timeout = std::chrono::seconds(30);  // longer than a promotion takes
    auto opened = OpenPostgresEngine(options);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    engine_ = *std::move(opened);
    served_ = std::make_unique<Served>(*engine_);
  }
  void TearDown() override {
    served_.reset();
    engine_.reset();
  }
  bool Put(const Bytes& key, const Bytes& value) {
    return CommitAndWait(*engine_, test::MakeCommit({Mutation::Put(key, value)})).has_value();
  }
  std::string RoleOf(size_t server) { return engine_->Stats()->servers[server].role; }

  std::unique_ptr<test::LocalCluster> cluster_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Served> served_;
};

TEST_F(ReadChannelFailoverTest, OnlyThePrimaryIsAsked) {
  ASSERT_TRUE(Put("a", "1"));
  ASSERT_TRUE(served_->Warm());
  EXPECT_EQ(served_->Get("a"), "1");
  ASSERT_TRUE(Eventually([&] {
    return served_->Get("a", {.freshness = {.consistency = Consistency::kEventual}}) == "1" &&
           engine_->Stats()->replica_reads != 0;
  })) << "what need not be the newest goes to replicas";
  EXPECT_FALSE(served_->last_by_channel);
  // The old primary runs on, and has the old value.
  cluster_->Do("promote 0 1");
  ASSERT_TRUE(Eventually([&] { return RoleOf(0) == "replaced" && RoleOf(1) == "primary" && Put("a", "2"); }));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(served_->Get("a"), "2");
  ASSERT_TRUE(served_->Warm());
  EXPECT_EQ(served_->Get("a"), "2");
}

TEST_F(ReadChannelFailoverTest, WhatIsUnderWayToAServerThatHangsIsAskedOfTheNextPrimary) {
  ASSERT_TRUE(Put("a", "1"));
  ASSERT_TRUE(Eventually([&] {
    return served_->Get("a", {.freshness = {.consistency = Consistency::kEventual}}) == "1";
  })) << "a replica has it";
  ASSERT_TRUE(served_->Warm());
  const test::Stopped stopped(cluster_->Processes("0-primary"));
  std::deque<Read> reads;
  for (int i = 0; i < 10; ++i) served_->channel().Add(reads.emplace_back(std::vector<Bytes>{"a"}));
  served_->channel().Leave();
  cluster_->Do("promote 0 1");
  EXPECT_TRUE(
      served_->TurnUntil([&] { return std::ranges::all_of(reads, [](const Read& read) { return read.dones != 0; }); }));
  for (const Read& read : reads) EXPECT_EQ(read.text(), "1");
}

}  // namespace
}  // namespace kvarts::postgres
