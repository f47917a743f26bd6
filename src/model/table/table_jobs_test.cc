// Indexes that come and go while the table is used.
#include "model/table/table_jobs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "model/table/findings.h"
#include "model/table/row.h"
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
  EXPECT_GT(Jobs(store()).Get(job).value().total.value_or(0), 0u) << "an estimate";
  RunJobs();
  EXPECT_EQ(StateOf("mail"), IndexState::kReady);
  EXPECT_EQ(Jobs(store()).Get(job).value().done, 30u);
  EXPECT_EQ(Jobs(store()).Get(job).value().total, 30u);
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

// A row with so many tags, its own or another's.
std::string Tagged(int row, int tags, std::optional<int> of = std::nullopt) {
  std::string list;
  for (int i = 0; i < tags; ++i) list += fmt::format("{}\"{}-{}\"", i == 0 ? "" : ", ", of.value_or(row), i);
  return fmt::format(R"({{"id": "{}", "tags": [{}]}})", row, list);
}
constexpr const char* kTag = R"({"name": "tag", "partition": ["tags[*]"]})";
constexpr const char* kUniqueTag = R"({"name": "tag", "partition": ["tags[*]"], "unique": true})";
constexpr const char* kCoveringTag = R"({"name": "tag", "partition": ["tags[*]"], "include": "all"})";

TEST_P(TableJobsTest, AChunkOfABuildEndsWhereACommitHoldsNoMoreEntries) {
  Limits limits;
  limits.max_commit_operations = 400;
  OpenAllWith(limits);
  MustCreate("users", kPlain);
  for (int row = 0; row < 40; ++row) MustPut("users", Tagged(row, row == 20 ? 150 : 30));
  for (const char* spec : {kTag, kUniqueTag}) {
    const JobId job = MustIndex(spec);
    EXPECT_GE(RunJobs(), 40 / 4);
    ASSERT_EQ(Jobs(store()).Get(job).value().state, JobState::kDone);
    EXPECT_EQ(Jobs(store()).Get(job).value().done, 40u);
    EXPECT_EQ(EntryCount("users", "tag"), 39u * 30 + 150);
    ASSERT_TRUE(tables().DropIndex(At("users"), "tag"));
    RunJobs();
  }
}

TEST_P(TableJobsTest, AChunkOfABuildEndsWhereACommitHoldsNoMoreBytes) {
  Limits limits;
  limits.max_commit_bytes = 200 << 10;
  OpenAllWith(limits);
  MustCreate("users", kPlain);
  for (int row = 0; row < 40; ++row) MustPut("users", Tagged(row, 50));
  const JobId job = MustIndex(kCoveringTag);
  RunJobs();
  ASSERT_EQ(Jobs(store()).Get(job).value().state, JobState::kDone);
  EXPECT_EQ(EntryCount("users", "tag"), 40u * 50);
}

TEST_P(TableJobsTest, ARowWhoseEntriesNoCommitHoldsIsListed) {
  Limits limits;
  limits.max_commit_bytes = 400 << 10;
  OpenAllWith(limits);
  MustCreate("users", kPlain);
  for (int row = 0; row < 5; ++row) MustPut("users", Tagged(row, row == 3 ? 300 : 10));
  MustPut("users", R"({"id": "long", "tags": [")" + std::string(limits.max_key_bytes + 100, 'x') + R"("]})");
  const JobId job = MustIndex(kCoveringTag);
  RunJobs();
  EXPECT_EQ(Jobs(store()).Get(job).value().error->code, ErrorCode::kPreconditionFailed);
  const std::vector<Finding> findings = FindingsOf(job);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, "refused");
  EXPECT_EQ(DocumentToJson(DocumentView(findings[0].row)), R"({"id":"3"})");
  EXPECT_EQ(DocumentToJson(DocumentView(findings[1].row)), R"({"id":"long"})");
  MustPut("users", Tagged(3, 10));
  ASSERT_TRUE(Jobs(store()).Resume(job));
  RunJobs();
  EXPECT_EQ(FindingsOf(job).size(), 1u);
}

TEST_P(TableJobsTest, ARowWhoseEntriesNoCommitHoldsIsChangedAndDeletedLikeOthers) {
  Limits limits;
  limits.max_commit_operations = 400;
  OpenAllWith(limits);
  MustCreate("users", kPlain);
  for (const auto& [spec, just_held] : {std::pair(kTag, 390), std::pair(kUniqueTag, 194)}) {
    for (int row = 0; row < 3; ++row) MustPut("users", Tagged(row, 500));
    MustPut("users", Tagged(3, 2 * just_held));
    MustPut("users", Tagged(4, 10));
    const JobId job = MustIndex(spec);
    // More than the job would put, which leaves room for what it says of itself: a write can.
    for (int row = 5; row < 7; ++row) MustPut("users", Tagged(row, just_held));
    RunJobs();
    EXPECT_EQ(FindingsOf(job).size(), 6u);
    MustPut("users", Tagged(0, 10));
    MustApply("users", PatchRow{Document(Id(1)), PatchRow::Merge{Document(R"({"tags": ["one"]})")}});
    for (const int row : {2, 3, 5}) MustApply("users", DeleteRow{Document(Id(row))});
    MustApply("users", PatchRow{Document(Id(6)), PatchRow::Merge{Document(R"({"tags": null})")}});
    ASSERT_TRUE(Jobs(store()).Resume(job));
    RunJobs();
    EXPECT_EQ(StateOf("tag"), IndexState::kReady);
    EXPECT_EQ(EntryCount("users", "tag"), 10u + 1 + 10);
    ASSERT_TRUE(tables().DropIndex(At("users"), "tag"));
    RunJobs();
  }
}

// More of them than one chunk can put, behind one that stays in the way for a while.
TEST_P(TableJobsTest, RowsThatWereInTheWayAreAddedInChunks) {
  Limits limits;
  limits.max_commit_operations = 400;
  OpenAllWith(limits);
  MustCreate("users", kPlain);
  MustPut("users", Tagged(100, 30));
  for (int row = 101; row <= 120; ++row) MustPut("users", Tagged(row, 30, 100));
  const JobId job = MustIndex(kUniqueTag);
  RunJobs();
  EXPECT_EQ(Jobs(store()).Get(job).value().state, JobState::kFailed);
  EXPECT_EQ(FindingsOf(job).size(), 20u) << "one of each row, and not of each entry";
  // What they hold is changed past the index, as if they had been so from before it.
  const TablePtr table = tables().Find(At("users")).value();
  for (int row = 102; row <= 120; ++row) {
    const Bytes document = Document(Tagged(row, 30));
    const KeyBuffer key = RowKey(*table, DocumentView(document)).value();
    const Bytes value = EncodeRow({}, 0, DocumentView(document)).value();
    MustRun([&](Txn& txn) -> Status {
      txn.Put(key, value, {.kind = ValueKind::kEnvelope});
      return {};
    });
  }
  ASSERT_TRUE(Jobs(store()).Resume(job));
  const int turns = RunJobs();
  EXPECT_GE(turns, 19 / 2);
  EXPECT_LE(turns, 2 * 19);
  EXPECT_EQ(Jobs(store()).Get(job).value().error->code, ErrorCode::kPreconditionFailed);
  EXPECT_EQ(FindingsOf(job).size(), 1u) << "of the one that is still in the way";
  MustApply("users", DeleteRow{Document(R"({"id": "101"})")});
  ASSERT_TRUE(Jobs(store()).Resume(job));
  RunJobs();
  EXPECT_EQ(StateOf("tag"), IndexState::kReady);
  EXPECT_EQ(EntryCount("users", "tag"), 20u * 30);
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
