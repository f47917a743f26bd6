// FORMAT.md says what collections and large strings are stored as: its bytes are read, and written again.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/structure/collection.h"
#include "model/structure/staged_text.h"
#include "model/structure/structures.h"
#include "support/format_table.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

Bytes BytesOfCell(std::string cell) {
  cell = WithoutTicks(cell);
  std::erase(cell, ' ');
  const auto bytes = FromHex(cell);
  EXPECT_TRUE(bytes) << cell;
  return bytes ? *bytes : Bytes();
}

class StructureFormatTest : public test::StoreTest {};
KVARTS_ON_EVERY_ENGINE(StructureFormatTest);

TEST_P(StructureFormatTest, MembersAreStoredAsIsSaid) {
  // What the rows say, in their order: how many there are, and how many once those have expired that do. The clock of
  // the test stands behind their expiry.
  constexpr uint64_t kSizes[] = {1, 1, 300, 300};
  const std::vector<FormatRow> rows = FormatTableUnder("### Test vectors of members");
  ASSERT_EQ(rows.size(), std::size(kSizes));
  CollectionIds ids;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Bytes stored = BytesOfCell(rows[i][1]);
    MustRun([&](Txn& txn) -> Status {
      KVARTS_TRY(const Members members, Members::Decode(txn, ids, stored));
      EXPECT_EQ(members.size(), kSizes[i]) << rows[i][0];
      EXPECT_EQ(members.stored_earliest(), i % 2 == 0 ? kNever : Timestamp{1'000'000}) << rows[i][0];
      // Of those inline, what has expired is not written again.
      if (i != 1) {
        EXPECT_EQ(members.Encode(), stored) << rows[i][0];
      }
      return {};
    });
  }
}

TEST_P(StructureFormatTest, LargeStringsAreStoredAsIsSaid) {
  const std::vector<FormatRow> rows = FormatTableUnder("### Test vectors of large strings");
  ASSERT_EQ(rows.size(), 2u);
  CollectionIds ids;
  MustRun([&](Txn& txn) -> Status {
    const Bytes stored = BytesOfCell(rows[0][1]);
    KVARTS_TRY(const LargeText text, LargeText::Decode(txn, ids, stored));
    EXPECT_EQ(text.size(), 3'000'000u);
    EXPECT_EQ(text.Encode(), stored);
    return {};
  });
  // The other one's time has long come: the job finds it, and how many chunks it has.
  const CollectionId staged{77};
  MustRun([&](Txn& txn) -> Status {
    txn.Put(StagedPlace(staged), BytesOfCell(rows[1][1]));
    return {};
  });
  MustRun([&](Txn& txn) -> Status {
    KVARTS_TRY(const bool overdue, DropOverdue(txn));
    EXPECT_TRUE(overdue);
    KVARTS_TRY(const std::optional<Record> dropped, txn.Get(DroppedPlace(staged)));
    EXPECT_EQ(dropped ? dropped->value : "", BytesOfCell("80 01"));
    return {};
  });
}

}  // namespace
}  // namespace kvarts::structure
