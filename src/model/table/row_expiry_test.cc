// The job that takes expired rows away, and what it meets on its way: damage, and what is not its own.
#include <gmock/gmock.h>

#include "core/keyspace.h"
#include "model/table/table_jobs.h"
#include "support/drift.h"

namespace kvarts::test {
namespace {

using ::testing::IsEmpty;

class RowTtlTest : public DriftFixture {
 protected:
  // Stores something in place of a row that ends with the others, with all else that a write would have said of it.
  void Damage(int row, BytesView stored) {
    RawPut(RowKeyAt(row), stored, {.expiry = End(), .kind = ValueKind::kEnvelope, .owned = true});
  }
  Bytes RowKeyAt(int row) { return Bytes(Info()->rows()) + RowPart(Number(row)); }
  void PutEnding(int from, int to) {
    for (int i = from; i < to; ++i) MustPut("users", RowOf(Number(i), Ends()));
  }
  void MustExpire() {
    const auto job = tables().StartExpiry();
    ASSERT_TRUE(job) << job.error();
    ASSERT_TRUE(*job);
    EXPECT_GT(Ended(**job).done, 0u);
  }
  size_t Stored(const KeyRange& range) {
    ScanRequest request;
    request.range = range;
    request.options.expired_too = true;
    return Entries(*NewView(), request).size();
  }
  size_t StoredRows() { return Stored(KeyRange::Prefix(Info()->rows())); }
  size_t DueEntries() { return Stored(SpaceRange(Space::kExpiry)); }
};
KVARTS_ON_EVERY_ENGINE(RowTtlTest);

TEST_P(RowTtlTest, ADamagedRowDoesNotKeepOthersFromGoing) {
  PutEnding(0, 8);
  Damage(1, "");
  Damage(2, "\xff garbage");
  const Bytes another = Document(RowOf(Number(7)));
  Damage(3, EncodeRow({}, 0, DocumentView(another)).value());
  Bytes cut = EncodeRow({}, 0, DocumentView(another)).value();
  cut.resize(cut.size() - 5);
  Damage(4, cut);
  std::vector<std::string> damaged;
  for (int row = 1; row <= 4; ++row) damaged.push_back(Name("damaged", "", RowKeyAt(row)));
  EXPECT_EQ(MustFind(), damaged);
  Wait(Duration::Seconds(501));
  MustExpire();
  EXPECT_EQ(StoredRows(), 0u);
  EXPECT_EQ(DueEntries(), 0u);
  EXPECT_THAT(MustFind(), IsEmpty());
  EXPECT_THAT(AllEntries(), IsEmpty());
}

TEST_P(RowTtlTest, ADamagedEntryDoesNotKeepItsRowFromGoing) {
  PutEnding(0, 3);
  const IndexEntry mail = EntryOf("mail", RowOf(Number(1), Ends()));
  RawPut(mail.key, "\xff garbage");
  Wait(Duration::Seconds(501));
  MustExpire();
  EXPECT_EQ(StoredRows(), 0u);
  EXPECT_THAT(MustFind(), testing::ElementsAre(Name("damaged", "mail", mail.key))) << "it does not expire";
}

TEST_P(RowTtlTest, WhatIsNoRowOfATableGoesByItself) {
  PutEnding(0, 2);
  for (const Bytes& key : {Index("tag").prefix, Bytes(Info()->rows()), SpaceRange(Space::kTables).start + "\xff"}) {
    RawPut(key, "garbage", {.expiry = End(), .owned = true});
  }
  Wait(Duration::Seconds(501));
  MustExpire();
  EXPECT_EQ(Stored(SpaceRange(Space::kTables)), Stored(CatalogRange()) + 1)
      << "and the row that says whose number it is";
  EXPECT_EQ(DueEntries(), 0u);
}

TEST_P(RowTtlTest, WhatIsNotATablesIsPassedOverAndLeft) {
  constexpr size_t kOthers = 450;  // more than a chunk
  MustRun([&](Txn& txn) -> Status {
    for (size_t i = 0; i < kOthers; ++i) {
      txn.Put(UserKey("other/" + std::to_string(i)), "", {.expiry = In(Duration::Seconds(1)), .owned = true});
    }
    return {};
  });
  PutEnding(0, 3);
  Wait(Duration::Seconds(501));
  MustExpire();
  EXPECT_EQ(StoredRows(), 0u);
  EXPECT_EQ(DueEntries(), kOthers);
  EXPECT_EQ(Stored(UserRange(KeyRange::Prefix("other/"))), kOthers);
}

TEST_P(RowTtlTest, OthersAloneAreNoReasonToBegin) {
  RawPut(UserKey("other"), "", {.expiry = In(Duration::Seconds(1)), .owned = true});
  Wait(Duration::Seconds(2));
  const auto job = tables().StartExpiry();
  ASSERT_TRUE(job) << job.error();
  EXPECT_FALSE(*job);
}

TEST_P(RowTtlTest, ADamagedRowThatHasExpiredIsNotInTheWayOfANewOne) {
  PutEnding(0, 3);
  for (int row = 0; row < 3; ++row) Damage(row, "\xff garbage");
  Wait(Duration::Seconds(501));
  MustPut("users", RowOf(Number(0)));
  PatchRow patch{Document(KeyOf(Number(1))), PatchRow::Merge{Document(R"({"mail": "new"})")}};
  EXPECT_EQ(MustFail("users", patch).code(), ErrorCode::kNotFound);
  patch.make = true;
  MustApply("users", patch);
  DeleteRow erase{Document(KeyOf(Number(2)))};
  EXPECT_EQ(MustFail("users", erase).code(), ErrorCode::kNotFound);
  erase.missing_ok = true;
  MustApply("users", erase);
  EXPECT_EQ(StoredRows(), 2u);
  EXPECT_THAT(MustFind(), IsEmpty());
}

}  // namespace
}  // namespace kvarts::test
