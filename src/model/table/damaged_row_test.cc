// A row that is damaged can be put over and deleted: it is what somebody wants to be rid of. Nothing else is said of it
// but that it is damaged.
#include <gmock/gmock.h>

#include "support/drift.h"

namespace kvarts::test {
namespace {

using testing::IsEmpty;

class DamagedRowTest : public DriftFixture {
 protected:
  // What may lie where a row was: no row at all, another's, one that was cut off.
  std::vector<Bytes> Damages() {
    const Bytes another = Document(RowOf(Number(7)));
    Bytes cut = EncodeRow({}, 0, DocumentView(another)).value();
    cut.resize(cut.size() - 5);
    return {"", "\xff garbage", EncodeRow({}, 0, DocumentView(another)).value(), cut};
  }
  void Damage(int row, BytesView stored) {
    RawPut(Bytes(Info()->rows()) + RowPart(Number(row)), stored, {.kind = ValueKind::kEnvelope});
  }
  std::vector<std::string> AllSpurious(int row) {
    std::vector<std::string> named;
    for (const std::string& index : IndexNames()) {
      named.push_back(Name("spurious", index, EntryOf(index, RowOf(Number(row))).key));
    }
    // That one has two.
    named.push_back(Name("spurious", "tag",
                         EntryOf("tag", R"({"tenant": "t", "id": ")" + Number(row) + R"(", "tags": ["b"]})").key));
    std::ranges::sort(named);
    return named;
  }
};
KVARTS_ON_EVERY_ENGINE(DamagedRowTest);

TEST_P(DamagedRowTest, IsPutOverAndWhatItHadInIndexesIsFoundAndMended) {
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    MustPut("users", RowOf(Number(7)));
    Damage(1, damage);
    const RowOutcome put = MustPut("users", R"({"tenant": "t", "id": ")" + Number(1) + "\"}");
    EXPECT_FALSE(put.before) << "nobody can say what it was";
    EXPECT_EQ(RowText("users", KeyOf(Number(1))), R"({"id":"10001","tenant":"t"})");
    EXPECT_EQ(MustFind(), AllSpurious(1));
    // The value that it had is not free before.
    EXPECT_EQ(MustFail("users", Putting(R"({"tenant": "t", "id": "other", "mail": "m10001@x"})")).code(),
              ErrorCode::kAlreadyExists);
    Ended(tables().StartRepair(At("users"), std::nullopt));
    EXPECT_THAT(MustFind(), IsEmpty());
    MustPut("users", R"({"tenant": "t", "id": "other", "mail": "m10001@x"})");
    MustApply("users", DeleteRow{Document(R"({"tenant": "t", "id": "other"})")});
  }
}

TEST_P(DamagedRowTest, PutOverWithWhatItWasItLeavesNothingBehind) {
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    Damage(1, damage);
    MustPut("users", RowOf(Number(1)));
    EXPECT_THAT(MustFind(), IsEmpty());
  }
}

TEST_P(DamagedRowTest, IsDeletedAndWhatItHadInIndexesIsFoundAndMended) {
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    MustPut("users", RowOf(Number(7)));
    Damage(1, damage);
    const RowOutcome gone = MustApply("users", DeleteRow{Document(KeyOf(Number(1)))});
    EXPECT_FALSE(gone.before);
    EXPECT_EQ(RowText("users", KeyOf(Number(1))), "nothing");
    EXPECT_EQ(MustFind(), AllSpurious(1)) << "and nothing of the row that lay there";
    Ended(tables().StartRepair(At("users"), std::nullopt));
    EXPECT_THAT(MustFind(), IsEmpty());
  }
}

TEST_P(DamagedRowTest, CannotBePatchedOrHeldAgainstACondition) {
  const Bytes key = Document(KeyOf(Number(1)));
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    Damage(1, damage);
    const PatchRow merge{key, PatchRow::Merge{Document(R"({"mail": "new"})")}};
    EXPECT_EQ(MustFail("users", merge).code(), ErrorCode::kCorruption);
    const FieldUpdate add{FieldUpdate::Op::kIncrement, DocumentPath::Parse("age").value(), Document("1")};
    const Error patched = MustFail("users", PatchRow{key, std::vector{add}});
    EXPECT_EQ(patched.code(), ErrorCode::kCorruption);
    EXPECT_EQ(patched.field("key"), R"({"id":"10001","tenant":"t"})");
    const RowCondition where{{}, Condition::Parse("age > 1").value()};
    EXPECT_EQ(MustFail("users", Putting(RowOf(Number(1)), where)).code(), ErrorCode::kCorruption);
    EXPECT_EQ(MustFail("users", DeleteRow{key, where}).code(), ErrorCode::kCorruption);
    // It is there, and has a version.
    const RowCondition absent{{WriteCondition::Kind::kAbsent, {}}, std::nullopt};
    EXPECT_EQ(MustFail("users", Putting(RowOf(Number(1)), absent)).code(), ErrorCode::kPreconditionFailed);
    const RowCondition present{{WriteCondition::Kind::kPresent, {}}, std::nullopt};
    MustApply("users", DeleteRow{key, present});
  }
}

TEST_P(DamagedRowTest, CannotBeRead) {
  const Bytes key = Document(KeyOf(Number(1)));
  const DocumentView view(key);
  RowQuery by_age;
  by_age.index = "age";
  by_age.partition = Document(R"({"tenant": "t"})");
  RowQuery by_kind;
  by_kind.index = "kind";
  by_kind.partition = Document(R"({"kind": "k"})");
  RowScan filtered;
  filtered.filter = Condition::Parse("age > 1").value();
  RowScan projected;
  projected.projection = Projection::Parse(std::vector<std::string>{"name"}).value();
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    Damage(1, damage);
    if (ReadableRow(*Info(), RowPart(Number(7)), damage)) continue;  // that is seen by whoever looks at the key
    EXPECT_EQ(GetRows(engine(), *Info(), {&view, 1}).error().code(), ErrorCode::kCorruption);
    EXPECT_EQ(Ask("users", by_age).error().code(), ErrorCode::kCorruption);
    for (const RowScan& scan : {RowScan(), filtered, projected}) {
      EXPECT_EQ(ScanRows(engine(), *Info(), scan, {}).error().code(), ErrorCode::kCorruption);
    }
    // Of an index that has all of it, it is the entry that is read.
    EXPECT_TRUE(Ask("users", by_kind));
    const Bytes entry = EntryOf("kind", RowOf(Number(1))).key;
    RawPut(entry, damage);
    EXPECT_EQ(Ask("users", by_kind).error().code(), ErrorCode::kCorruption);
  }
}

TEST_P(DamagedRowTest, IsInTheWayOfANewIndexAndNamedByItsBuild) {
  for (const Bytes& damage : Damages()) {
    PutRows(0, 3);
    Damage(1, damage);
    const auto made = tables().CreateIndex(At("users"), IndexOf(R"({"name": "named", "partition": ["name"]})"));
    ASSERT_TRUE(made) << made.error();
    RunJobs();
    EXPECT_EQ(Jobs(store()).Get(made->job).value().error->code, ErrorCode::kPreconditionFailed);
    const std::vector<Finding> findings = FindingsOf(made->job);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, "damaged");
    EXPECT_EQ(DocumentToJson(DocumentView(findings[0].row)), R"({"id":"10001","tenant":"t"})");
    ASSERT_TRUE(Jobs(store()).Resume(made->job));
    RunJobs();
    EXPECT_EQ(FindingsOf(made->job).size(), 1u) << "it is damaged still";
    MustPut("users", RowOf(Number(1)));
    ASSERT_TRUE(Jobs(store()).Resume(made->job));
    RunJobs();
    EXPECT_EQ(Index("named").state, IndexState::kReady);
    EXPECT_EQ(EntryCount("users", "named"), 3u);
    ASSERT_TRUE(tables().DropIndex(At("users"), "named"));
    RunJobs();
  }
}

}  // namespace
}  // namespace kvarts::test
