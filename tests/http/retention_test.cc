// Retention as the server does it by itself: old buckets go at the start and then again and again, and whatever ends
// the process in the middle, the next one goes on.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);  // a job that a crash has left is taken up after 30

std::string DayAgo(int days) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now() - std::chrono::hours(24 * days)));
}

class RetentionTest : public OnEngineTest {
 protected:
  void Start(const std::string& interval) {
    client_.reset();
    server_.reset();
    server_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"--engine", GetParam().name, "--data", dir_ / "data", "--durability", "none",
                                 "--retention-interval", interval, "--job-lease", job_lease_});
    client_ = std::make_unique<HttpClient>(server_->address());
  }
  std::string job_lease_ = "30s";
  void End(int signal) {
    server_->Signal(signal);
    server_->Wait();
  }
  JsonValue Get(const std::string& target) { return JsonValue::Parse(client_->Call("GET", target).body); }

  void Declare() {
    const HttpAnswer declared =
        client_->Call("PUT", "/namespaces/log", {},
                      R"({"grammar":"t/<tenant>/log/<day:date>/<id>","retention":{"field":"day","keep":259200}})");
    ASSERT_EQ(declared.status, 200) << declared.body;
  }
  // For each tenant an event of so many days ago.
  void Fill(int tenants, int days_ago) {
    constexpr int kChunk = 1'000;
    for (int first = 0; first < tenants; first += kChunk) {
      std::string mutations;
      for (int i = first; i < std::min(first + kChunk, tenants); ++i) {
        mutations += fmt::format(R"({}{{"op":"put","key":"t/{:06}/log/{}/e","value":"x"}})", i == first ? "" : ",", i,
                                 DayAgo(days_ago));
      }
      ASSERT_EQ(client_->Call("POST", "/commit", {}, R"({"mutations":[)" + mutations + "]}").status, 200);
    }
  }
  int64_t Count() { return Get("/keys?count=exact&prefix=t/")["count"].number(); }
  bool Await(const std::function<bool()>& so) {
    const auto give_up = Steady::now() + kPatience;
    while (!so()) {
      if (Steady::now() > give_up) return false;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return true;
  }

  const TempDir dir_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_P(RetentionTest, OldBucketsGoAgainAndAgain) {
  Start("300ms");
  Declare();
  for (int round = 0; round < 2; ++round) {
    Fill(50, 1);
    Fill(50, 10);
    EXPECT_TRUE(Await([this] { return Count() == 50; })) << Count();
  }
  EXPECT_EQ(Get("/keys?prefix=t/000000/&values=false")["items"].size(), 1U);
  EXPECT_EQ(client_->Call("GET", fmt::format("/keys/t/000049/log/{}/e", DayAgo(1))).status, 200);
  // What is done is done by jobs, which anybody can look at.
  EXPECT_NE(client_->Call("GET", "/jobs").body.find(R"("kind":"namespace_retention")"), std::string::npos);
}

TEST_P(RetentionTest, WhatGoesIsLoggedAndWhatWillGoIsWarnedOf) {
  Start("0");
  Declare();
  const auto warning = [this](const std::string& day) {
    return client_->Call("PUT", fmt::format("/keys/t/a/log/{}/e", day), {}, "x").Header("Kvarts-Warning");
  };
  EXPECT_EQ(warning(DayAgo(1)), "");
  EXPECT_EQ(warning(DayAgo(10)), "retention=past");
  const std::string commit = R"({{"mutations":[{{"op":"put","key":"t/a/log/{}/e","value":"x"}}]}})";
  EXPECT_EQ(
      client_->Call("POST", "/commit", {}, fmt::format(fmt::runtime(commit), DayAgo(10))).Header("Kvarts-Warning"),
      "retention=past");
  EXPECT_EQ(client_->Call("PUT", fmt::format("/keys/t/a/log/{}/e", DayAgo(10)), {{"Prefer", "return=minimal"}}, "x")
                .Header("Kvarts-Warning"),
            "retention=past");
  if (!GetParam().persistent) return;
  End(SIGTERM);
  Start("24h");
  ASSERT_TRUE(Await([this] { return Count() == 1; })) << Count();
  End(SIGTERM);
  const std::string log = server_->Log();
  const size_t line = log.find("retention has erased what is too old");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_NE(log.find(R"("namespace":"log")", line), std::string::npos) << log;
}

TEST_P(RetentionTest, ZeroIsNever) {
  Start("0");
  Declare();
  Fill(5, 10);
  std::this_thread::sleep_for(milliseconds(800));
  EXPECT_EQ(Count(), 5);
  EXPECT_EQ(Get("/jobs")["jobs"].size(), 0U);
}

KVARTS_ON_EVERY_ENGINE(RetentionTest);

class RetentionRestartTest : public RetentionTest {
 protected:
  // Ends the server while it erases, with three keys that stay; the next one begins no retention of its own.
  void StopInTheMiddle(int signal) {
    constexpr int kTenants = 20'000;  // a hundred chunks
    Start("0");
    Declare();
    Fill(kTenants, 10);
    Fill(3, 1);
    End(SIGTERM);
    Start("24h");
    ASSERT_TRUE(Await([this] { return Count() < kTenants; }));
    End(signal);
    Start("0");
    EXPECT_GT(Count(), 3) << "it was quicker than the signal";
  }
};

TEST_P(RetentionRestartTest, BeginsWithTheServer) {
  Start("0");
  Declare();
  Fill(5, 10);
  End(SIGTERM);
  Start("24h");
  EXPECT_TRUE(Await([this] { return Count() == 0; })) << Count();
}

TEST_P(RetentionRestartTest, GoesOnWhereItWasStopped) {
  KVARTS_LONG_WHERE_SHARED();
  // What a server gives back need not run out.
  job_lease_ = "1h";
  StopInTheMiddle(SIGTERM);
  EXPECT_TRUE(Await([this] { return Count() == 3; })) << Count();
}

TEST_P(RetentionRestartTest, GoesOnAfterACrash) {
  KVARTS_LONG_WHERE_SHARED();
  job_lease_ = "2s";
  StopInTheMiddle(SIGKILL);
  EXPECT_TRUE(Await([this] { return Count() == 3; })) << Count();
}

KVARTS_ON_ENGINES_WITH(RetentionRestartTest, persistent);

}  // namespace
}  // namespace kvarts::test
