// Damage of every kind is found and named by its key, and nothing else is.
#include "model/table/index_verify.h"

#include <atomic>
#include <thread>

#include "model/table/drift_job.h"
#include "model/table/system_tables.h"
#include "model/table/table_jobs.h"
#include "support/drift.h"

namespace kvarts::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class IndexVerifyTest : public DriftFixture {
 protected:
  JobRecord NewVerify() {
    JobRecord job;
    job.kind = kTableVerify;
    job.id = {Uuid::Version7(clock().Now())};
    job.parameters = DriftJob::About(*Info()).Encode();
    return job;
  }
  // What becomes of a chunk when `meanwhile` is written before its commit is decided.
  std::string ChunkBeside(const std::function<void()>& meanwhile) {
    Context context;
    Txn txn(engine(), context);
    const auto step = VerifyStep(txn, NewVerify());
    EXPECT_TRUE(step) << step.error();
    txn.Put("~chunk", "");
    meanwhile();
    return CodeOf(CommitAndWait(engine(), txn.TakeCommit(Durability::kNone)));
  }
  // Rows with changing entries, by one of several threads, until it is told to stop.
  void WriteOn(int thread, const std::atomic<bool>& stop) {
    for (int i = 0; !stop; ++i) {
      const std::string id = Number((thread * 1000) + (i % 20));
      const std::string row = R"({"tenant": "t", "id": ")" + id + R"(", "mail": "m)" + id + std::to_string(i % 3) +
                              R"(", "badge": )" + id + R"(, "age": )" + std::to_string(i % 7) + R"(, "tags": ["a", ")" +
                              std::to_string(i % 5) + R"("], "city": "Oslo", "name": ")" + std::to_string(i) + "\"}";
      const auto written =
          i % 4 == 3 ? Apply("users", {DeleteRow{Document(KeyOf(id)), {}, true}}) : Apply("users", {Putting(row)});
      EXPECT_TRUE(written) << written.error();
    }
  }
  // A write as a maintenance would do it that forgets an entry of an index.
  void PutForgetting(const std::string& index, std::string_view row) {
    const Bytes prefix = Index(index).prefix;
    MustRun([&](Txn& txn) -> Status {
      Txn whole(engine(), txn.context());
      KVARTS_CHECK_OK(RowWriter(whole, *Info()).Put({.row = Document(row)}, nullptr));
      bool forgotten = false;
      for (const Mutation& mutation : whole.mutations()) {
        const bool forgets = !forgotten && mutation.key.starts_with(prefix);
        if (!forgets) txn.Apply(mutation);
        forgotten = forgotten || forgets;
      }
      EXPECT_TRUE(forgotten);
      return {};
    });
  }
};
KVARTS_ON_EVERY_ENGINE(IndexVerifyTest);

TEST_P(IndexVerifyTest, OfASoundTableNothingIsFound) {
  EXPECT_THAT(MustFind(), IsEmpty()) << "an empty one";
  PutRows(0, 20);
  MustPut("users", R"({"tenant": "t", "id": "bare"})");
  MustPut("users", RowOf("hidden", R"(, "hidden": true)"));
  MustPut("users", RowOf("ending", Ends()));
  const JobRecord job = MustVerify();
  const VerifyReport report = ReadVerifyReport(job).value();
  EXPECT_EQ(report.Found(), 0u);
  EXPECT_EQ(report.rows, 23u);
  EXPECT_EQ(report.entries, AllEntries().size());
  EXPECT_EQ(job.done, report.rows + report.entries);
  EXPECT_EQ(job.total, job.done);
}

TEST_P(IndexVerifyTest, EveryDamageIsNamedByItsKeyAndNothingElse) {
  const std::vector<std::string> expected = DamageEverything();
  EXPECT_EQ(MustFind(), expected);
  EXPECT_EQ(MustFind(), expected) << "looking changes nothing";
}

TEST_P(IndexVerifyTest, AFindingSaysWhatIsThereAndWhatShouldBe) {
  MustPut("users", RowOf("1"));
  MustPut("users", RowOf("2"));
  const IndexEntry mail = EntryOf("mail", RowOf("1"));
  const IndexEntry of_other = EntryOf("mail", RowOf("2"));
  RawPut(mail.key, of_other.value, {.expiry = End()});
  const std::vector<Finding> findings = FindingsOf(MustVerify().id);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "wrong_value");
  EXPECT_EQ(findings[0].key, mail.key);
  EXPECT_EQ(DocumentToJson(DocumentView(findings[0].row)), R"({"id":"1","tenant":"t"})");
  const EntryState there{.value = of_other.value, .expiry = End()};
  EXPECT_EQ(EntryState::Read(DocumentView(findings[0].there)).value(), there);
  EXPECT_EQ(EntryState::Read(DocumentView(findings[0].expected)).value(), EntryState{.value = mail.value});
}

TEST_P(IndexVerifyTest, RowsThatNoEntryCanBeJudgedByAreNamedThemselves) {
  for (const char* id : {"1", "2", "3"}) MustPut("users", RowOf(id));
  const Bytes rows(Info()->rows());
  RawPut(rows + RowPart("1"), "garbage", {.kind = ValueKind::kEnvelope});
  // A row under the key of another.
  const Bytes other = Document(RowOf("3"));
  RawPut(rows + RowPart("2"), EncodeRow({}, 0, DocumentView(other)).value(), {.kind = ValueKind::kEnvelope});
  std::vector<std::string> expected = {Name("damaged", "", rows + RowPart("1")),
                                       Name("damaged", "", rows + RowPart("2"))};
  std::ranges::sort(expected);
  EXPECT_EQ(MustFind(), expected) << "their entries cannot be judged";
}

TEST_P(IndexVerifyTest, ARowThatAnIndexRefusesHasNoEntryInIt) {
  MustPut("users", RowOf("1"));
  const std::string refused = R"({"tenant": "t", "id": "1", "mail": "M1@x", "badge": "b1", "age": "old",
                                  "tags": ["a", "b"], "kind": "k"})";
  RawPutRow(refused);
  const auto key = [&](const std::string& index) { return EntryOf(index, RowOf("1")).key; };
  std::vector<std::string> expected = {
      Name("refused", "age", Bytes(Info()->rows()) + RowPart("1")),
      Name("spurious", "age", key("age")),
      Name("spurious", "city", key("city")),
      Name("wrong_value", "kind", key("kind")),
      Name("wrong_value", "badge", key("badge")),
  };
  std::ranges::sort(expected);
  EXPECT_EQ(MustFind(), expected);
}

TEST_P(IndexVerifyTest, TwoRowsWithOneUniqueValueAreADuplicate) {
  MustPut("users", RowOf("1"));
  const std::string second = R"({"tenant": "t", "id": "2", "mail": "m1@X", "kind": "k"})";
  RawPutRow(second);
  std::vector<std::string> expected = {Name("duplicate", "mail", EntryOf("mail", RowOf("1")).key),
                                       Name("missing", "kind", EntryOf("kind", second).key)};
  const JobRecord job = MustVerify();
  EXPECT_EQ(Named(job.id), expected);
  for (const Finding& finding : FindingsOf(job.id)) {
    if (finding.kind != "duplicate") continue;
    EXPECT_EQ(DocumentToJson(DocumentView(finding.row)), R"({"id":"2","tenant":"t"})");
    EXPECT_EQ(DocumentToJson(DocumentView(finding.other)), R"({"id":"1","tenant":"t"})");
  }
}

TEST_P(IndexVerifyTest, WhatHasExpiredIsNotThere) {
  MustPut("users", RowOf("1", Ends()));
  MustPut("users", RowOf("2", Ends()));
  const IndexEntry stays = EntryOf("age", RowOf("2", Ends()));
  RawPut(stays.key, stays.value);
  EXPECT_THAT(MustFind(), ElementsAre(Name("wrong_expiry", "age", stays.key))) << "before it makes a difference";
  Wait(Duration::Seconds(501));
  EXPECT_THAT(MustFind(), ElementsAre(Name("spurious", "age", stays.key)));
}

TEST_P(IndexVerifyTest, AnEntryThatGoesBeforeItsRowIsFoundBothBeforeAndAfter) {
  MustPut("users", RowOf("1", Ends()));
  const IndexEntry early = EntryOf("tag", RowOf("1", Ends()));
  RawPut(early.key, early.value, {.expiry = In(Duration::Seconds(10))});
  EXPECT_THAT(MustFind(), ElementsAre(Name("wrong_expiry", "tag", early.key)));
  Wait(Duration::Seconds(11));
  EXPECT_THAT(MustFind(), ElementsAre(Name("missing", "tag", early.key)));
}

TEST_P(IndexVerifyTest, AChunkRestsOnWhatItHasFoundAndOnNothingElse) {
  PutRows(0, 3);
  const auto write_another = [&] { MustPut("users", RowOf(Number(2), "", "changed")); };
  EXPECT_EQ(ChunkBeside(write_another), "ok");
  const IndexEntry lost = EntryOf("age", RowOf(Number(1)));
  RawErase(lost.key);
  EXPECT_EQ(ChunkBeside(write_another), "ok");
  EXPECT_EQ(ChunkBeside([&] { RawPut(lost.key, lost.value); }), "conflict") << "it is there again";
  RawErase(lost.key);
  EXPECT_EQ(ChunkBeside([&] { MustPut("users", RowOf(Number(1), "", "changed")); }), "conflict") << "its row changed";
}

TEST_P(IndexVerifyTest, GoesOnWhereAnotherRunnerStopped) {
  PutRows(0, 700);
  const std::vector<IndexEntry> lost = {EntryOf("age", RowOf(Number(5))), EntryOf("age", RowOf(Number(350))),
                                        EntryOf("age", RowOf(Number(699)))};
  for (const IndexEntry& entry : lost) RawErase(entry.key);
  const size_t entries = AllEntries().size();
  const auto job = tables().StartVerify(At("users"));
  ASSERT_TRUE(job) << job.error();
  EXPECT_GT(Jobs(store()).Get(*job).value().total.value_or(0), 0u) << "an estimate";
  int turns = 0;
  while (Jobs(store()).Get(*job).value().state != JobState::kDone && turns < 1000) {
    JobRunner runner(store(), tables().JobKinds());
    ASSERT_TRUE(runner.TakeTurn());
    runner.Stop();
    if (++turns == 2 && GetParam().persistent) RestartAll();
  }
  EXPECT_GT(turns, 3);
  const JobRecord record = Jobs(store()).Get(*job).value();
  EXPECT_EQ(record.done, 700u + entries) << "nothing is left out or looked at twice";
  EXPECT_EQ(Named(*job).size(), 3u);
}

TEST_P(IndexVerifyTest, RowsLargerThanAChunkAreLookedAtOneByOne) {
  for (const char* id : {"1", "2", "3"}) MustPut("users", RowOf(id, "", std::string(9 << 20, 'x')));
  RawErase(EntryOf("age", RowOf("3")).key);
  EXPECT_THAT(MustFind(), ElementsAre(Name("missing", "age", EntryOf("age", RowOf("3")).key)));
}

TEST_P(IndexVerifyTest, OfVeryManyTheFirstAreKeptAndAllAreCounted) {
  PutRows(0, 1100);
  MustRun([&](Txn& txn) -> Status {
    txn.EraseRange(KeyRange::Prefix(Index("age").prefix));
    return {};
  });
  const JobRecord job = MustVerify();
  const VerifyReport report = ReadVerifyReport(job).value();
  EXPECT_EQ(report.Found(DriftKind::kMissing), 1100u);
  EXPECT_EQ(report.Found(), 1100u);
  EXPECT_EQ(report.kept, kMaxFindings);
  EXPECT_EQ(FindingsOf(job.id).size(), kMaxFindings);
}

TEST_P(IndexVerifyTest, OnlyIndexesThatAreReadyAreCompared) {
  PutRows(0, 5);
  ASSERT_TRUE(tables().CreateIndex(At("users"), IndexOf(R"({"name": "later", "partition": ["name"]})")));
  ASSERT_TRUE(tables().DropIndex(At("users"), "tag"));
  const JobRecord job = NewVerify();
  Context context;
  Txn txn(engine(), context);
  const auto step = VerifyStep(txn, job);
  ASSERT_TRUE(step) << step.error();
  JobRecord after = job;
  after.cursor = step->cursor;
  EXPECT_EQ(ReadVerifyReport(after).value().Found(), 0u);
}

TEST_P(IndexVerifyTest, FindingsAreForgottenAfterAWhile) {
  MustPut("users", RowOf("1"));
  RawErase(EntryOf("age", RowOf("1")).key);
  const JobRecord job = MustVerify();
  EXPECT_EQ(FindingsOf(job.id).size(), 1u);
  Wait(Duration::Seconds(31 * 24 * 60 * 60));
  EXPECT_THAT(FindingsOf(job.id), IsEmpty());
}

TEST_P(IndexVerifyTest, ATableThatIsDroppedOnTheWayEndsIt) {
  PutRows(0, 5);
  const auto job = tables().StartVerify(At("users"));
  ASSERT_TRUE(job) << job.error();
  ASSERT_TRUE(tables().DropTable(At("users")));
  RunJobs();
  EXPECT_EQ(Jobs(store()).Get(*job).value().state, JobState::kDone);
  EXPECT_EQ(CodeOf(tables().StartVerify(At("users"))), "not_found");
  EXPECT_EQ(CodeOf(tables().StartVerify({"_system", "_catalog", "_tables"})), "permission_denied");
}

TEST_P(IndexVerifyTest, WritersBesideItAreNeverTakenForDrift) {
  PutRows(0, 200);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  for (int thread = 0; thread < 4; ++thread) {
    writers.emplace_back([this, thread, &stop] { WriteOn(thread, stop); });
  }
  for (int round = 0; round < (GetParam().shared ? 3 : 20); ++round) EXPECT_THAT(MustFind(), IsEmpty()) << round;
  stop = true;
  writers.clear();
  EXPECT_THAT(MustFind(), IsEmpty());
}

TEST_P(IndexVerifyTest, AWriteThatForgotOneEntryIsFoundAmongWriters) {
  PutRows(0, 200);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  for (int thread = 0; thread < 4; ++thread) {
    writers.emplace_back([this, thread, &stop] { WriteOn(thread, stop); });
  }
  for (const std::string& index : IndexNames()) {
    const std::string row = RowOf("forgotten");
    PutForgetting(index, row);
    EXPECT_THAT(MustFind(), ElementsAre(Name("missing", index, EntryOf(index, row).key)));
    MustApply("users", DeleteRow{Document(KeyOf("forgotten"))});
  }
  stop = true;
  writers.clear();
  EXPECT_THAT(MustFind(), IsEmpty());
}

TEST_P(IndexVerifyTest, WhatWasFoundGoesWithTheTable) {
  DamageEverything();
  ASSERT_FALSE(MustFind().empty());
  Ended(tables().StartRepair(At("users"), std::nullopt));
  MustCreate("others", kSpec);
  const auto left = [&](const TablePtr& in) {
    ScanRequest request;
    request.range = KeyRange::Prefix(in->rows());
    return Entries(*NewView(), request).size();
  };
  EXPECT_GT(left(FindingsTable()), 0u);
  EXPECT_GT(left(JournalTable()), 0u);
  const TablePtr users = Info();
  Ended(tables().DropTable(At("users")));
  EXPECT_EQ(left(FindingsTable()), 0u);
  EXPECT_EQ(left(JournalTable()), 0u);
  ScanRequest all;
  all.range = users->range();
  EXPECT_TRUE(Entries(*NewView(), all).empty());
  EXPECT_TRUE(tables().Find(At("others")));
}

}  // namespace
}  // namespace kvarts::test
