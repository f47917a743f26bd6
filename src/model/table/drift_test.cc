// What jobs about drift keep: states of entries, parameters, progress.
#include "model/table/drift.h"

#include <gtest/gtest.h>

#include "document/document_testing.h"
#include "model/table/drift_job.h"
#include "model/table/index_repair.h"
#include "model/table/index_verify.h"
#include "support/commits.h"

namespace kvarts::test {
namespace {

Bytes Written(const EntryState& state, size_t max_bytes = 1 << 20) {
  Bytes map;
  DocumentWriter writer(&map);
  state.Write(max_bytes, &writer);
  EXPECT_TRUE(CheckDocument(map)) << ToHex(map);
  return map;
}

TEST(DriftTest, KindsHaveNames) {
  for (size_t i = 0; i < kDriftKinds; ++i) {
    const auto kind = static_cast<DriftKind>(i);
    EXPECT_EQ(ParseDriftKind(DriftKindName(kind)), kind);
  }
  EXPECT_EQ(DriftKindName(DriftKind::kWrongExpiry), "wrong_expiry");
  EXPECT_EQ(DriftKindName(DriftKind::kRefused), "refused");
  EXPECT_EQ(ParseDriftKind("lost"), std::nullopt);
}

TEST(DriftTest, AStateIsReadAsItWasWritten) {
  const Timestamp expiry{1'783'246'530'123'456};
  for (const EntryState& state :
       {EntryState{}, EntryState{.value = Bytes("\0\xff", 2)}, EntryState{.value = "v", .expiry = expiry},
        EntryState{.value = "v", .expiry = {0}}, EntryState{.value = "v", .expiry = kLastTimestamp},
        EntryState{.value = "v", .expiry = expiry, .kind = ValueKind::kJson, .owned = true, .schema = 4'000'000'000}}) {
    const Bytes map = Written(state);
    const auto read = EntryState::Read(DocumentView(map));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, state) << DocumentToJson(DocumentView(map));
  }
}

TEST(DriftTest, AStateThatIsShownInPartIsNotTakenForAWholeOne) {
  const EntryState state{.value = "0123456789"};
  const Bytes map = Written(state, 4);
  EXPECT_EQ(DocumentToJson(DocumentView(map)), R"({"bytes":10,"value":{"$binary":"MDEyMw=="}})");
  EXPECT_EQ(CodeOf(EntryState::Read(DocumentView(map))), "corruption");
}

TEST(DriftTest, WhatIsNoStateIsRefused) {
  for (const char* json :
       {"1", "{}", R"({"value": "text"})", R"({"value": {"$binary": ""}, "expiry": 5})",
        R"({"value": {"$binary": ""}, "expiry": "soon"})", R"({"value": {"$binary": ""}, "kind": 6})",
        R"({"value": {"$binary": ""}, "kind": -1})", R"({"value": {"$binary": ""}, "kind": 0.5})",
        R"({"value": {"$binary": ""}, "schema": 4294967296})"}) {
    const Bytes map = Doc(json);
    EXPECT_EQ(CodeOf(EntryState::Read(DocumentView(map))), "corruption") << json;
  }
}

TEST(DriftTest, AJobIsReadAsItWasWritten) {
  DriftJob job;
  job.project = ProjectId::New({1'000'000});
  job.dataset = DatasetId::New({2'000'000});
  job.table = TableId::New({3'000'000});
  for (const std::optional<JobId>& of : {std::optional<JobId>(), std::optional(JobId{Uuid::Version7({4'000'000})})}) {
    job.of = of;
    job.indexes = {{1}, {300}};
    const Bytes bytes = job.Encode();
    const auto read = DriftJob::Decode(bytes);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->project, job.project);
    EXPECT_EQ(read->dataset, job.dataset);
    EXPECT_EQ(read->table, job.table);
    EXPECT_EQ(read->indexes, job.indexes);
    EXPECT_EQ(read->of, job.of);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(CodeOf(DriftJob::Decode(BytesView(bytes).substr(0, size))), "corruption") << size;
    }
    EXPECT_EQ(CodeOf(DriftJob::Decode(bytes + "x")), "corruption");
  }
}

TEST(DriftTest, ProgressThatIsNoneIsRefused) {
  JobRecord job;
  EXPECT_EQ(ReadVerifyReport(job).value().Found(), 0u) << "of one that has not begun";
  EXPECT_EQ(ReadRepairReport(job).value().mended, 0u);
  EXPECT_EQ(ReadUndoReport(job).value().undone, 0u);
  for (const Bytes& cursor : {Bytes("\x02"), Bytes("\x00", 1), Bytes(100, '\0'), Bytes(5, '\xff')}) {
    job.cursor = cursor;
    EXPECT_EQ(CodeOf(ReadVerifyReport(job)), "corruption") << ToHex(cursor);
    EXPECT_EQ(CodeOf(ReadRepairReport(job)), "corruption") << ToHex(cursor);
    EXPECT_EQ(CodeOf(ReadUndoReport(job)), "corruption") << ToHex(cursor);
  }
}

}  // namespace
}  // namespace kvarts::test
