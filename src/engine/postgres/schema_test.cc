#include "engine/postgres/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "support/postgres_database.h"

namespace kvarts::postgres {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// Of a Kvarts that has changed its schema twice. Whoever takes a step that was taken already fails.
constexpr std::string_view kMake = "CREATE SCHEMA kvarts; CREATE TABLE kvarts.meta (name text PRIMARY KEY, value text)";
constexpr std::string_view kMakeThird =
    "CREATE SCHEMA kvarts; CREATE TABLE kvarts.meta (name text PRIMARY KEY, value text);"
    "CREATE TABLE kvarts.a (b integer)";
constexpr std::array<std::string_view, 2> kSteps = {"CREATE TABLE kvarts.a ()", "ALTER TABLE kvarts.a ADD b integer"};
constexpr std::array<std::string_view, 2> kFailing = {"CREATE TABLE kvarts.a ()", "ALTER TABLE kvarts.c ADD b integer"};

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>(test::PostgresDatabase::Holding::kNothing);
  }

  Status Make(const Schema& schema) { return MakeSchema(database_->target(), schema, In(seconds(20))); }
  std::string Version() { return database_->Ask("SELECT value FROM kvarts.meta WHERE name = 'schema_version'"); }
  std::string Columns() {
    return database_->Ask(
        "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'kvarts' AND table_name = 'a'");
  }

  static inline const Schema first_{kMake, {}};
  static inline const Schema second_{kMake, std::span(kSteps).first(1)};
  static inline const Schema third_{kMakeThird, kSteps};
  std::unique_ptr<test::PostgresDatabase> database_;
};

TEST_F(SchemaTest, IsMadeAsItIsNow) {
  ASSERT_TRUE(Make(third_));
  EXPECT_EQ(Version(), "3");
  EXPECT_EQ(Columns(), "1");
  EXPECT_TRUE(Make(third_));
}

TEST_F(SchemaTest, IsTakenOnFromAnyEarlierOne) {
  ASSERT_TRUE(Make(first_));
  const std::string store = database_->Ask("SELECT value FROM kvarts.meta WHERE name = 'store'");
  ASSERT_TRUE(Make(second_));
  EXPECT_EQ(Version(), "2");
  EXPECT_EQ(Columns(), "0");
  ASSERT_TRUE(Make(third_));
  EXPECT_EQ(Version(), "3");
  EXPECT_EQ(Columns(), "1");
  EXPECT_EQ(database_->Ask("SELECT value FROM kvarts.meta WHERE name = 'store'"), store);
}

TEST_F(SchemaTest, FunctionsAreMadeAnewWithEveryVersion) {
  ASSERT_TRUE(Make({kMake, {}, "CREATE OR REPLACE FUNCTION kvarts.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'"}));
  EXPECT_EQ(database_->Ask("SELECT kvarts.f()"), "1");
  // A step may leave everything else as it is.
  constexpr std::array<std::string_view, 1> nothing = {""};
  ASSERT_TRUE(
      Make({kMake, nothing, "CREATE OR REPLACE FUNCTION kvarts.f() RETURNS integer LANGUAGE sql AS 'SELECT 2'"}));
  EXPECT_EQ(Version(), "2");
  EXPECT_EQ(database_->Ask("SELECT kvarts.f()"), "2");
}

// As it is of a Kvarts before the first release.
TEST_F(SchemaTest, OurOwnIsTakenOnFromVersionOne) {
  ASSERT_TRUE(Make(CurrentSchema()));
  const std::string functions =
      "SELECT md5(string_agg(prosrc, '' ORDER BY proname)) FROM pg_proc WHERE pronamespace = 'kvarts'::regnamespace";
  const std::string made = database_->Ask(functions);
  database_->Ask("UPDATE kvarts.meta SET value = '1' WHERE name = 'schema_version'");
  database_->Ask(
      "CREATE OR REPLACE FUNCTION kvarts.collect(p_before bigint, p_limit bigint) RETURNS bigint LANGUAGE sql AS "
      "'SELECT 0::bigint'");
  EXPECT_NE(database_->Ask(functions), made);
  ASSERT_TRUE(Make(CurrentSchema()));
  EXPECT_EQ(Version(), std::to_string(kSchemaVersion));
  EXPECT_EQ(database_->Ask(functions), made);
}

TEST_F(SchemaTest, OfSeveralThatBeginAtOnceOneTakesItOn) {
  ASSERT_TRUE(Make(first_));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      const Status made = Make(third_);
      EXPECT_TRUE(made) << made.error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Version(), "3");
}

TEST_F(SchemaTest, StaysAsItWasWhenAStepFails) {
  ASSERT_TRUE(Make(first_));
  const Status made = Make({kMakeThird, kFailing});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().ToString(), HasSubstr("kvarts.c"));
  EXPECT_EQ(Version(), "1");
  EXPECT_EQ(database_->Ask("SELECT to_regclass('kvarts.a') IS NULL"), "t");
}

TEST_F(SchemaTest, OfALaterKvartsIsLeftAlone) {
  ASSERT_TRUE(Make(third_));
  for (const Schema& earlier : {first_, second_}) {
    const Status made = Make(earlier);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().ToString(), HasSubstr("a schema of a later Kvarts (schema_version=3"));
    EXPECT_FALSE(FindSchema(database_->target(), earlier, In(seconds(20))));
  }
  EXPECT_EQ(Version(), "3");
}

TEST_F(SchemaTest, WhoOnlyLooksChangesNothing) {
  const auto found = [this](const Schema& schema) {
    const Status status = FindSchema(database_->target(), schema, In(seconds(20)));
    return status ? "ok" : status.error().ToString();
  };
  EXPECT_THAT(found(first_), HasSubstr("there is no store in the database"));
  ASSERT_TRUE(Make(first_));
  EXPECT_EQ(found(first_), "ok");
  EXPECT_THAT(found(third_), HasSubstr("a schema of an earlier Kvarts"));
  EXPECT_EQ(Version(), "1");
}

}  // namespace
}  // namespace kvarts::postgres
