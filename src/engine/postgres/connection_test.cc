#include "engine/postgres/connection.h"

#include <gtest/gtest.h>

#include "support/postgres_database.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Statement kSleep = {"sleep", "SELECT 'slept'::text FROM pg_sleep(1)"};
const Statement kAnswer = {"answer", "SELECT 'answer'::text"};

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    const Statement* const statements[] = {&kSleep, &kAnswer};
    auto opened = Connection::Open(database_->target(), statements, In(seconds(10)));
    ASSERT_TRUE(opened.has_value()) << opened.error();
    connection_ = *std::move(opened);
  }

  std::unique_ptr<test::PostgresDatabase> database_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, AnswersInOrder) {
  const auto slept = connection_->Fly(kSleep, {}, In(seconds(60)));
  ASSERT_TRUE(slept.has_value());
  EXPECT_EQ(slept->Text(0, 0), "slept");
  const auto answer = connection_->Fly(kAnswer, {}, In(seconds(60)));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->Text(0, 0), "answer");
}

// Whoever asks next would take that answer for its own.
TEST_F(ConnectionTest, BehindAnAnswerThatWasNotAwaitedNothingIsAsked) {
  const auto slept = connection_->Fly(kSleep, {}, In(milliseconds(50)));
  ASSERT_FALSE(slept.has_value());
  EXPECT_TRUE(slept.error().sent);
  EXPECT_FALSE(connection_->usable());
  const auto answer = connection_->Fly(kAnswer, {}, In(seconds(60)));
  ASSERT_FALSE(answer.has_value()) << "with what was asked before: " << answer->Text(0, 0);
  EXPECT_FALSE(answer.error().sent) << "nothing was done";
  EXPECT_EQ(answer.error().error.code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(connection_->Depart({&kAnswer, {}}));
  EXPECT_FALSE(connection_->Simple("SELECT 1", In(seconds(60))).has_value());
}

}  // namespace
}  // namespace kvarts::postgres
