// A database whose disk is full: on a small one of its own, for tables and indexes; the log is elsewhere. A server
// whose log has no room ends, and is one that is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "engine/postgres/connection.h"
#include "engine/postgres/postgres_engine.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/small_disk.h"

namespace kvarts::postgres {
namespace {

using std::chrono::seconds;
using test::Eventually;
using test::MakeCommit;
using testing::HasSubstr;

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    if (!disk_.mounted()) GTEST_SKIP() << "a disk cannot be mounted here";
    cluster_ = std::make_unique<test::LocalCluster>(0);
    PostgresOptions options;
    options.servers = cluster_->MakeDatabase("on_small_disk");
    const std::string place = disk_ / "tables";
    std::filesystem::create_directory(place);
    // Root's PostgreSQL runs as this user.
    const passwd* const user = getpwnam("postgres");
    ASSERT_NE(user, nullptr);
    ASSERT_EQ(chown(place.c_str(), user->pw_uid, user->pw_gid), 0);
    for (const std::string& path : {disk_ / "..", disk_ / "../.."}) {
      std::filesystem::permissions(path, std::filesystem::perms(0755));
    }
    Do("CREATE TABLESPACE small LOCATION '" + place + "'");
    Do("ALTER DATABASE on_small_disk SET TABLESPACE small");
    auto opened = OpenPostgresEngine(std::move(options));
    ASSERT_TRUE(opened) << opened.error();
    engine_ = *std::move(opened);
  }

  void Do(const std::string& sql) {
    auto connection = Connection::Open(cluster_->targets().front(), {}, In(seconds(30)));
    ASSERT_TRUE(connection) << connection.error();
    const auto done = (*connection)->Simple(sql, In(seconds(30)));
    ASSERT_TRUE(done) << done.error().error;
  }
  Result<Committed> Put(const std::string& key) {
    return CommitAndWait(*engine_, MakeCommit({Mutation::Put(key, ValueFor(key))}));
  }
  // Cannot be made smaller.
  static std::string ValueFor(const std::string& key) {
    std::string value;
    for (uint64_t at = std::hash<std::string>()(key); value.size() < 1'900; at = at * 6364136223846793005 + 1) {
      value.push_back(static_cast<char>(at >> 56));
    }
    return value;
  }

  test::SmallDisk disk_{128 << 20};
  std::unique_ptr<test::LocalCluster> cluster_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(FullDiskTest, WritesAreRefusedWhileItIsAndNothingIsLost) {
  std::map<std::string, bool> put;  // what was said of each
  int count = 0;
  const auto put_one = [&] {
    const std::string key = "key" + std::to_string(count++);
    const Result<Committed> outcome = Put(key);
    put[key] = outcome.has_value();
    return outcome;
  };
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(put_one());
  disk_.LeaveOnly(64 << 10);
  Result<Committed> outcome = put_one();
  while (outcome && count < 1'000) outcome = put_one();
  ASSERT_FALSE(outcome) << "there was room for all of them";
  EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("53100"));
  // Reads go on, and so does whoever tries to write, with the same answer.
  EXPECT_EQ(GetOne(*engine_, "key0").value()->value, ValueFor("key0"));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(put_one());
  disk_.GiveBack();
  EXPECT_TRUE(Eventually([&] { return put_one().has_value(); }));
  for (const auto& [key, committed] : put) {
    const auto found = GetOne(*engine_, key);
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(*found ? (*found)->value : "", committed ? ValueFor(key) : "");
  }
}

}  // namespace
}  // namespace kvarts::postgres
