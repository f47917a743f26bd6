// What a verification finds a repair mends, and an undo brings back, to the byte.
#include "model/table/index_repair.h"

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "model/table/journal.h"
#include "model/table/table_jobs.h"
#include "support/drift.h"

namespace kvarts::test {
namespace {

using ::testing::IsEmpty;

class IndexRepairTest : public DriftFixture {
 protected:
  JobRecord MustRepair(std::optional<JobId> verified = {}) {
    return Ended(tables().StartRepair(At("users"), verified));
  }
  UndoReport MustUndo(JobId repair) { return ReadUndoReport(Ended(tables().UndoRepair(At("users"), repair))).value(); }
  static RepairReport ReportOf(const JobRecord& job) { return ReadRepairReport(job).value(); }
  std::vector<JournalEntry> JournalOf(JobId job) {
    return store()
        .Run([&](Txn& txn) {
          return ReadJournalBackwards(txn, Info()->stored().id, job, std::numeric_limits<int64_t>::max(), 1000);
        })
        .value();
  }
  // What the table would have in its indexes if all rows were put again.
  Contents Rebuilt() {
    Contents all;
    ScanRequest request;
    request.range = KeyRange::Prefix(Info()->rows());
    for (const Found& found : Entries(*NewView(), request)) {
      const RowView row = OpenRow(found.value).value();
      for (const std::string& name : IndexNames()) {
        const BytesView part = BytesView(found.key).substr(Info()->rows().size());
        for (IndexEntry& entry : EntriesOrNone(*Info(), Index(name), part, row.document())) {
          all[entry.key] = EntryState{.value = std::move(entry.value), .expiry = found.header.expiry};
        }
      }
    }
    return all;
  }
  static std::set<Bytes> Differences(const Contents& a, const Contents& b) {
    std::set<Bytes> keys;
    for (const auto& [key, state] : a) {
      if (!b.contains(key) || b.at(key) != state) keys.insert(key);
    }
    for (const auto& [key, state] : b) {
      if (!a.contains(key)) keys.insert(key);
    }
    return keys;
  }
  std::set<Bytes> KeysFound(JobId job) {
    std::set<Bytes> keys;
    for (const Finding& finding : FindingsOf(job)) {
      EXPECT_TRUE(keys.insert(finding.key).second) << "named twice: " << Escaped(finding.key);
    }
    return keys;
  }
  // Changes one entry of some that should be there: takes it away, or has another key, value or expiry in its place.
  void DamageSomething(const Contents& whole, std::mt19937* random) {
    const auto pick = [&](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(*random); };
    const auto& [key, state] = *std::next(whole.begin(), static_cast<ptrdiff_t>(pick(whole.size())));
    const auto& [other_key, other] = *std::next(whole.begin(), static_cast<ptrdiff_t>(pick(whole.size())));
    const size_t prefix = Index("mail").prefix.size();
    ASSERT_LT(prefix, key.size());
    const auto flipped = [&](Bytes bytes, size_t from) {
      if (bytes.size() > from) bytes[from + pick(bytes.size() - from)] ^= static_cast<char>(1 << pick(8));
      return bytes;
    };
    switch (pick(7)) {
      case 0:
        return RawErase(key);
      case 1:
        return RawPut(key, other.value, {.expiry = state.expiry});
      case 2:
        return RawPut(key, state.value, {.expiry = In(Duration::Seconds(1'000 + static_cast<int64_t>(pick(3))))});
      case 3:
        return RawPut(key, flipped(state.value + Bytes(pick(2), 'x'), 0), {.expiry = state.expiry});
      case 4:
        return RawPut(flipped(key, prefix), state.value, {.expiry = state.expiry});
      case 5:
        return RawPut(key + flipped(Bytes(1 + pick(3), '\0'), 0), other.value);
      default:
        return RawPut(key, state.value, {.expiry = state.expiry, .kind = ValueKind::kJson, .schema = 7});
    }
  }
  std::vector<std::string> Cities() {
    RowQuery query;
    query.index = "city";
    query.partition = Document(R"({"city": "Oslo"})");
    return FieldOf("users", query, "id");
  }
};
KVARTS_ON_EVERY_ENGINE(IndexRepairTest);

TEST_P(IndexRepairTest, MendsWhatAVerificationHasFoundAndUndoBringsItBack) {
  const std::vector<std::string> damage = DamageEverything();
  const Contents damaged = AllEntries();
  const JobRecord verified = MustVerify();
  const JobRecord repair = MustRepair(verified.id);
  EXPECT_EQ(ReportOf(repair).mended, damage.size());
  EXPECT_EQ(ReportOf(repair).left + ReportOf(repair).sound, 0u);
  EXPECT_EQ(repair.done, damage.size());
  EXPECT_EQ(AllEntries(), Rebuilt());
  EXPECT_THAT(MustFind(), IsEmpty());
  EXPECT_EQ(Cities().size(), 10u);
  EXPECT_EQ(JournalOf(repair.id).size(), damage.size());

  EXPECT_EQ(MustUndo(repair.id).undone, damage.size());
  EXPECT_EQ(AllEntries(), damaged);
  EXPECT_EQ(MustFind(), damage);
  EXPECT_THAT(JournalOf(repair.id), IsEmpty()) << "what was put back is struck out";
}

TEST_P(IndexRepairTest, MendsEverythingInOnePassAndUndoBringsItBack) {
  const std::vector<std::string> damage = DamageEverything();
  const Contents damaged = AllEntries();
  const JobRecord repair = MustRepair();
  EXPECT_EQ(ReportOf(repair).mended, damage.size());
  EXPECT_EQ(AllEntries(), Rebuilt());
  EXPECT_THAT(MustFind(), IsEmpty());
  EXPECT_EQ(MustUndo(repair.id).undone, damage.size());
  EXPECT_EQ(AllEntries(), damaged);
}

TEST_P(IndexRepairTest, RepairsNothingThatIsSoundByNow) {
  PutRows(0, 4);
  for (int i = 0; i < 3; ++i) RawErase(EntryOf("kind", RowOf(Number(i))).key);
  const JobRecord verified = MustVerify();
  // Writes of their own have mended one, and made another needless.
  MustPut("users", RowOf(Number(0), "", "other"));
  MustApply("users", DeleteRow{Document(KeyOf(Number(1)))});
  const JobRecord repair = MustRepair(verified.id);
  EXPECT_EQ(ReportOf(repair).mended, 1u);
  EXPECT_EQ(ReportOf(repair).sound, 2u);
  EXPECT_EQ(AllEntries(), Rebuilt());
  EXPECT_EQ(ReportOf(MustRepair(verified.id)).sound, 3u) << "again, there is nothing to do";
}

TEST_P(IndexRepairTest, MendsByWhatTheRowsSayNow) {
  PutRows(0, 1);
  const IndexEntry old_entry = EntryOf("badge", RowOf(Number(0)));
  RawErase(old_entry.key);
  const JobRecord verified = MustVerify();
  RawPutRow(RowOf(Number(0), "", "renamed"));
  RawPut(old_entry.key, old_entry.value);
  EXPECT_EQ(ReportOf(MustRepair(verified.id)).mended, 1u);
  EXPECT_EQ(AllEntries()[old_entry.key].value, EntryOf("badge", RowOf(Number(0), "", "renamed")).value);
}

TEST_P(IndexRepairTest, RandomDamageIsFoundMendedAndBroughtBackToTheByte) {
  PutRows(0, 30);
  for (int i = 0; i < 5; ++i) MustPut("users", RowOf(Number(i), Ends()));
  const Contents whole = AllEntries();
  ASSERT_EQ(whole, Rebuilt());
  const int rounds = LongRun() ? 200 : GetParam().persistent ? 5 : 30;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    std::mt19937 random(static_cast<uint32_t>(round));
    for (int i = 0; i < 10; ++i) DamageSomething(whole, &random);
    const Contents damaged = AllEntries();
    const JobRecord verified = MustVerify();
    EXPECT_EQ(KeysFound(verified.id), Differences(whole, damaged));
    const JobRecord repair = MustRepair(round % 2 == 0 ? std::optional(verified.id) : std::nullopt);
    EXPECT_EQ(AllEntries(), whole);
    MustUndo(repair.id);
    EXPECT_EQ(AllEntries(), damaged);
    MustRepair();
    ASSERT_EQ(AllEntries(), whole);
  }
}

// What is found of it is a row like others, and that has texts in UTF-8.
TEST_P(IndexRepairTest, AnEntryOfARowThatCannotBeIsDamaged) {
  PutRows(0, 2);
  const IndexEntry age = EntryOf("age", RowOf(Number(1)));
  Bytes key = age.key;
  key[key.rfind('1')] = '\xb1';
  RawPut(key, age.value);
  EXPECT_EQ(MustFind(), std::vector<std::string>{Name("damaged", "age", key)});
  const JobRecord repair = MustRepair(MustVerify().id);
  EXPECT_EQ(ReportOf(repair).mended, 1u);
  EXPECT_EQ(AllEntries().count(key), 0u);
  MustUndo(repair.id);
  EXPECT_EQ(AllEntries().count(key), 1u);
}

TEST_P(IndexRepairTest, ADuplicateIsLeftAndListed) {
  MustPut("users", RowOf("1"));
  const std::string second = R"({"tenant": "t", "id": "2", "mail": "m1@X", "kind": "k"})";
  RawPutRow(second);
  const IndexEntry mail = EntryOf("mail", RowOf("1"));
  const std::vector<std::string> left = {Name("duplicate", "mail", mail.key)};
  for (const bool by_findings : {true, false}) {
    const JobRecord repair = by_findings ? MustRepair(MustVerify().id) : MustRepair();
    EXPECT_EQ(ReportOf(repair).mended, by_findings ? 1u : 0u);
    EXPECT_EQ(ReportOf(repair).left, 1u);
    EXPECT_EQ(Named(repair.id), left);
    EXPECT_EQ(AllEntries()[mail.key].value, mail.value) << "whose it was";
  }
  EXPECT_EQ(MustFind(), left);
}

TEST_P(IndexRepairTest, OfTwoRowsThatMissTheSameUniqueEntryOneGetsIt) {
  MustPut("users", RowOf("1"));
  RawPutRow(R"({"tenant": "t", "id": "2", "mail": "m1@X"})");
  const IndexEntry mail = EntryOf("mail", RowOf("1"));
  RawErase(mail.key);
  const JobRecord repair = MustRepair();
  EXPECT_EQ(Named(repair.id), std::vector<std::string>{Name("duplicate", "mail", mail.key)});
  EXPECT_EQ(AllEntries()[mail.key].value, mail.value);
}

TEST_P(IndexRepairTest, WhatTheJournalCannotHoldIsLeftAndListed) {
  const std::string large = RowOf("large", "", std::string(9 << 20, 'x'));
  MustPut("users", large);
  MustPut("users", RowOf("small"));
  const IndexEntry entry = EntryOf("kind", large);
  RawPut(entry.key, Bytes(9 << 20, 'y'));
  RawErase(EntryOf("kind", RowOf("small")).key);
  const JobRecord repair = MustRepair();
  EXPECT_EQ(ReportOf(repair).mended, 1u) << "the others are mended";
  EXPECT_EQ(Named(repair.id), std::vector<std::string>{Name("damaged", "kind", entry.key)});
}

TEST_P(IndexRepairTest, RowsAreNeverTouched) {
  for (const char* id : {"1", "2"}) MustPut("users", RowOf(id));
  const Bytes broken = Bytes(Info()->rows()) + RowPart("1");
  RawPut(broken, "garbage", {.kind = ValueKind::kEnvelope});
  const Contents before = AllEntries();
  const JobRecord repair = MustRepair(MustVerify().id);
  EXPECT_EQ(ReportOf(repair).left, 1u);
  EXPECT_EQ(ReportOf(repair).mended, 0u);
  EXPECT_EQ(Value(broken), "garbage");
  EXPECT_EQ(AllEntries(), before);
}

TEST_P(IndexRepairTest, WhatCannotBeJudgedIsNotTouched) {
  MustPut("users", RowOf("1"));
  const IndexEntry stray = EntryOf("kind", R"({"tenant": "t", "id": "1", "kind": "other"})");
  RawPut(stray.key, stray.value);
  const JobRecord verified = MustVerify();
  EXPECT_EQ(ReadVerifyReport(verified).value().Found(DriftKind::kSpurious), 1u);
  // Who can say by now what the row was, and that another may have its place?
  RawPut(Bytes(Info()->rows()) + RowPart("1"), "garbage", {.kind = ValueKind::kEnvelope});
  RawPutRow(R"({"tenant": "t", "id": "2", "mail": "m1@X"})");
  const Contents before = AllEntries();
  EXPECT_EQ(ReportOf(MustRepair(verified.id)).mended, 0u);
  EXPECT_EQ(AllEntries(), before);
  const JobRecord repair = MustRepair();
  Contents expected = before;
  const IndexEntry of_second = EntryOf("kind", R"({"tenant": "t", "id": "2", "mail": "m1@X"})");
  expected[of_second.key] = EntryState{.value = of_second.value};
  EXPECT_EQ(AllEntries(), expected) << "of the second row, what is nobody else's";
  EXPECT_EQ(ReportOf(repair).left, 1u) << "the row";
}

TEST_P(IndexRepairTest, UndoLeavesWhatWasChangedSince) {
  PutRows(0, 3);
  for (int i = 0; i < 3; ++i) RawErase(EntryOf("kind", RowOf(Number(i))).key);
  const JobRecord repair = MustRepair();
  MustPut("users", RowOf(Number(0), "", "changed"));
  MustApply("users", DeleteRow{Document(KeyOf(Number(1)))});
  const Contents before = AllEntries();
  const UndoReport undo = MustUndo(repair.id);
  EXPECT_EQ(undo.undone, 1u);
  EXPECT_EQ(undo.left, 2u);
  Contents expected = before;
  expected.erase(EntryOf("kind", RowOf(Number(2))).key);
  EXPECT_EQ(AllEntries(), expected);
  EXPECT_EQ(JournalOf(repair.id).size(), 2u);
}

TEST_P(IndexRepairTest, OfSeveralRepairsTheLastIsUndoneFirst) {
  PutRows(0, 1);
  const IndexEntry entry = EntryOf("city", RowOf(Number(0)));
  RawPut(entry.key, "first");
  const JobRecord verified = MustVerify();
  const JobRecord first = MustRepair(verified.id);
  RawPut(entry.key, "second");
  const JobRecord second = MustRepair(verified.id);
  EXPECT_EQ(MustUndo(second.id).undone, 1u);
  EXPECT_EQ(AllEntries()[entry.key].value, "second");
  EXPECT_EQ(MustUndo(first.id).left, 1u) << "it did not leave this";
  EXPECT_EQ(AllEntries()[entry.key].value, "second");
}

TEST_P(IndexRepairTest, AnIndexThatWasDroppedIsNeitherMendedNorUndone) {
  PutRows(0, 2);
  for (const char* index : {"city", "age"}) RawErase(EntryOf(index, RowOf(Number(0))).key);
  const JobRecord verified = MustVerify();
  const JobRecord first = MustRepair(verified.id);
  EXPECT_EQ(ReportOf(first).mended, 2u);
  const Bytes dropped = Index("age").prefix;
  ASSERT_TRUE(tables().DropIndex(At("users"), "age"));
  RunJobs();
  EXPECT_EQ(ReportOf(MustRepair(verified.id)).sound, 2u);
  const UndoReport undo = MustUndo(first.id);
  EXPECT_EQ(undo.undone, 1u);
  EXPECT_EQ(undo.left, 1u);
  ScanRequest request;
  request.range = KeyRange::Prefix(dropped);
  EXPECT_THAT(Entries(*NewView(), request), IsEmpty());
}

TEST_P(IndexRepairTest, AWholeIndexIsMadeAgainInChunksByRunnersThatStop) {
  PutRows(0, 1100);
  const Contents whole = AllEntries();
  MustRun([&](Txn& txn) -> Status {
    txn.EraseRange(KeyRange::Prefix(Index("city").prefix));
    return {};
  });
  const Contents damaged = AllEntries();
  const JobRecord by_findings = MustRepair(MustVerify().id);
  EXPECT_EQ(ReportOf(by_findings).mended, kMaxFindings) << "those that were kept";
  const auto job = tables().StartRepair(At("users"), std::nullopt);
  ASSERT_TRUE(job) << job.error();
  int turns = 0;
  while (Jobs(store()).Get(*job).value().state != JobState::kDone && turns < 1000) {
    JobRunner runner(store(), tables().JobKinds());
    ASSERT_TRUE(runner.TakeTurn());
    runner.Stop();
    if (++turns == 2 && GetParam().persistent) RestartAll();
  }
  EXPECT_EQ(ReportOf(Jobs(store()).Get(*job).value()).mended, 1100 - kMaxFindings);
  EXPECT_EQ(AllEntries(), whole);
  EXPECT_EQ(MustUndo(*job).undone + MustUndo(by_findings.id).undone, 1100u);
  EXPECT_EQ(AllEntries(), damaged);
}

TEST_P(IndexRepairTest, GoesOnBesideWriters) {
  PutRows(0, 100);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  for (int thread = 0; thread < 4; ++thread) {
    writers.emplace_back([this, thread, &stop] {
      for (int i = 0; !stop; ++i) {
        const auto put = Apply("users", {Putting(RowOf(Number((i * 4 + thread) % 100), "", std::to_string(i)))});
        EXPECT_TRUE(put) << put.error();
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; i += 7) RawErase(EntryOf("kind", RowOf(Number(i))).key);
    MustRepair();
  }
  stop = true;
  writers.clear();
  EXPECT_EQ(AllEntries(), Rebuilt());
  EXPECT_THAT(MustFind(), IsEmpty());
}

TEST_P(IndexRepairTest, GoesByJobsOfItsTableThatHaveEnded) {
  MustPut("users", RowOf("1"));
  const auto running = tables().StartVerify(At("users"));
  ASSERT_TRUE(running) << running.error();
  EXPECT_EQ(CodeOf(tables().StartRepair(At("users"), *running)), "precondition_failed");
  RunJobs();
  EXPECT_EQ(CodeOf(tables().StartRepair(At("users"), JobId{Uuid::Version7(clock().Now())})), "not_found");
  MustCreate("others", kSpec);
  EXPECT_EQ(CodeOf(tables().StartRepair(At("others"), *running)), "not_found");
  EXPECT_EQ(CodeOf(tables().UndoRepair(At("users"), *running)), "not_found") << "that was no repair";
  EXPECT_EQ(CodeOf(tables().UndoRepair(At("users"), JobId{Uuid::Version7(clock().Now())})), "not_found");
  EXPECT_EQ(CodeOf(tables().StartRepair({"_system", "_catalog", "_tables"}, std::nullopt)), "permission_denied");
}

TEST_P(IndexRepairTest, AJournalOutlivesTheRecordOfItsJob) {
  PutRows(0, 1);
  const IndexEntry entry = EntryOf("kind", RowOf(Number(0)));
  RawErase(entry.key);
  const JobRecord repair = MustRepair();
  Wait(Duration::Seconds(10 * 24 * 60 * 60));
  EXPECT_EQ(CodeOf(Jobs(store()).Get(repair.id)), "not_found");
  EXPECT_EQ(MustUndo(repair.id).undone, 1u);
  EXPECT_EQ(AllEntries().count(entry.key), 0u);
}

}  // namespace
}  // namespace kvarts::test
