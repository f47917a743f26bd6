// Indexes that come and go while the table is used.
#include "model/table/table_jobs.h"

#include <gmock/gmock.h>

#include <thread>

#include "model/table/findings.h"
#include "support/tables.h"

namespace kvarts::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kPlain = R"({"key": {"partition": ["id"]}})";

class TableJobsTest : public TablesFixture {
 protected:
  std::string Id(int i) { return R"({"id": ")" + std::to_string(i) + R"("})"; }
  void PutNumbered(int i, std::string_view mail) {
    MustPut("users", R"({"id": ")" + std::to_string(i) + R"(", "mail": ")" + std::string(mail) + R"("})");
  }
  IndexState StateOf(std::string_view index) { return tables().Find(At("users")).value()->IndexNamed(index)->state; }
  JobId MustIndex(std::string_view spec) {
    const auto made = tables().CreateIndex(At("users"), IndexOf(spec));
    EXPECT_TRUE(made) << made.error();
    return made ? made->job : JobId();
  }
  std::vector<Finding> FindingsOf(JobId job) {
    const TablePtr table = tables().Find(At("users")).value();
    return store().Run([&](Txn& txn) { return ReadFindings(txn, table->stored().id, job); }).value();
  }
  RowQuery ByMail(std::string_view mail) {
    RowQuery query;
    query.index = "mail";
    query.partition = Document(R"({"mail": ")" + std::string(mail) + R"("})");
    return query;
  }
};
KVARTS_ON_EVERY_ENGINE(TableJobsTest);

constexpr std::string_view kMail = R"({"name": "mail", "partition": ["mail"]})";
constexpr std::string_view kUniqueMail = R"({"name": "mail", "partition": ["mail"], "unique": true})";

TEST_P(TableJobsTest, AnIndexIsBuiltOverTheRowsFromBefore) {
  MustCreate("users", kPlain);
  for (int i = 0; i < 30; ++i) PutNumbered(i, i % 2 == 0 ? "even" : "odd");
  const JobId job = MustIndex(kMail);
  EXPECT_EQ(StateOf("mail"), IndexState::kBuilding);
  EXPECT_EQ(Ask("users", ByMail("even")).error().code(), ErrorCode::kUnavailable) << "nobody reads it yet";
  PutNumbered(100, "even");
  MustApply("users", DeleteRow{Document(Id(0))});
  RunJobs();
  EXPECT_EQ(StateOf("mail"), IndexState::kReady);
  EXPECT_EQ(Jobs(store()).Get(job).value().done, 30u);
  EXPECT_EQ(Ask("users", ByMail("even")).value().rows.size(), 15u);
  EXPECT_EQ(Ask("users", ByMail("odd")).value().rows.size(), 15u);
}

TEST_P(TableJobsTest, ABuildGoesOnWhereAnotherProcessStopped) {
  KVARTS_LONG_WHERE_SHARED();
  MustCreate("users", kPlain);
  for (int i = 0; i < 2500; ++i) {
    const auto put = Apply("users", {Putting(R"({"id": ")" + std::to_string(i) + R"(", "mail": "m"})")});
    ASSERT_TRUE(put) << put.error();
  }
  MustIndex(kMail);
  {
    JobRunner first(store(), tables().JobKinds());
    for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(first.TakeTurn());
    EXPECT_EQ(StateOf("mail"), IndexState::kBuilding);
    first.Stop();
  }
  if (GetParam().persistent) RestartAll();
  RunJobs();
  EXPECT_EQ(StateOf("mail"), IndexState::kReady);
  EXPECT_EQ(EntryCount("users", "mail"), 2500u);
}

TEST_P(TableJobsTest, RowsInTheWayOfAUniqueIndexAreListed) {
  MustCreate("users", kPlain);
  for (int i = 0; i < 5; ++i) PutNumbered(i, i < 3 ? "same" : "mail" + std::to_string(i));
  const JobId job = MustIndex(kUniqueMail);
  RunJobs();
  EXPECT_EQ(StateOf("mail"), IndexState::kBuilding);
  EXPECT_EQ(Jobs(store()).Get(job).value().state, JobState::kFailed);
  const std::vector<Finding> findings = FindingsOf(job);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, "duplicate");
  EXPECT_EQ(DocumentToJson(DocumentView(findings[0].row)), R"({"id":"1"})");
  EXPECT_EQ(DocumentToJson(DocumentView(findings[0].other)), R"({"id":"0"})");
  PutNumbered(1, "other");
  ASSERT_TRUE(Jobs(store()).Resume(job));
  RunJobs();
  EXPECT_EQ(Jobs(store()).Get(job).value().state, JobState::kFailed) << "one is still in the way";
  MustApply("users", DeleteRow{Document(Id(2))});
  ASSERT_TRUE(Jobs(store()).Resume(job));
  RunJobs();
  EXPECT_EQ(StateOf("mail"), IndexState::kReady);
  EXPECT_TRUE(FindingsOf(job).empty());
  EXPECT_EQ(EntryCount("users", "mail"), 4u);
}

TEST_P(TableJobsTest, WhatIsInTheWayOfAnIndexIsForgottenWithIt) {
  MustCreate("users", kPlain);
  for (int i = 0; i < 3; ++i) PutNumbered(i, "same");
  const JobId job = MustIndex(kUniqueMail);
  RunJobs();
  ASSERT_EQ(FindingsOf(job).size(), 2u);
  ASSERT_TRUE(tables().DropIndex(At("users"), "mail"));
  RunJobs();
  EXPECT_TRUE(FindingsOf(job).empty());
}

TEST_P(TableJobsTest, AUniqueIndexHoldsWhileItIsBuilt) {
  MustCreate("users", kPlain);
  PutNumbered(1, "a");
  MustIndex(kUniqueMail);
  PutNumbered(2, "b");
  EXPECT_EQ(MustFail("users", Putting(R"({"id": "3", "mail": "b"})")).code(), ErrorCode::kAlreadyExists);
  RunJobs();
  EXPECT_EQ(MustFail("users", Putting(R"({"id": "3", "mail": "a"})")).code(), ErrorCode::kAlreadyExists);
}

TEST_P(TableJobsTest, ADroppedIndexIsGoneAtOnceAndItsEntriesByAJob) {
  const TablePtr table = MustCreate(
      "users",
      R"({"key": {"partition": ["id"]}, "indexes": [{"name": "mail", "partition": ["mail"], "unique": true}]})");
  PutNumbered(1, "a");
  ASSERT_TRUE(tables().DropIndex(At("users"), "mail"));
  EXPECT_EQ(Ask("users", ByMail("a")).error().code(), ErrorCode::kUnavailable);
  PutNumbered(2, "a");
  RunJobs();
  EXPECT_EQ(tables().Find(At("users")).value()->IndexNamed("mail"), nullptr);
  ScanRequest entries;
  entries.range = KeyRange::Prefix(table->IndexNamed("mail")->prefix);
  EXPECT_TRUE(Entries(*NewView(), entries).empty());
  MustIndex(kMail);
  RunJobs();
  EXPECT_EQ(Ask("users", ByMail("a")).value().rows.size(), 2u);
  EXPECT_EQ(tables().DropIndex(At("users"), "nope").error().code(), ErrorCode::kNotFound);
}

TEST_P(TableJobsTest, WritersDuringABuildLeaveNothingOut) {
  MustCreate("users", kPlain);
  for (int i = 0; i < 200; ++i) PutNumbered(i, "old");
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    for (int i = 0; !stop; ++i) {
      IgnoreError(Apply("users", {Putting(R"({"id": ")" + std::to_string(i % 300) + R"(", "mail": "new"})")}));
    }
  });
  MustIndex(kMail);
  RunJobs();
  stop = true;
  writer.join();
  EXPECT_EQ(StateOf("mail"), IndexState::kReady);
  RowScan scan;
  const TablePtr table = tables().Find(At("users")).value();
  const auto rows = ScanRows(engine(), *table, scan, {});
  ASSERT_TRUE(rows) << rows.error();
  EXPECT_EQ(EntryCount("users", "mail"), rows->rows.size());
  RowQuery old = ByMail("old");
  RowQuery fresh = ByMail("new");
  old.limit = fresh.limit = 1000;
  EXPECT_EQ(Ask("users", old).value().rows.size() + Ask("users", fresh).value().rows.size(), rows->rows.size());
}

}  // namespace
}  // namespace kvarts::test
