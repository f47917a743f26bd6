#include "model/structure/large_text.h"

#include <gtest/gtest.h>

#include "core/job_runner.h"
#include "model/structure/staged_text.h"
#include "model/structure/strings.h"
#include "model/structure/structure_erase.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

constexpr uint64_t kChunk = LargeText::kChunkBytes;

class LargeTextTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    databases_ = Databases::Open(store());
  }
  void TearDown() override {
    databases_.reset();
    StoreTest::TearDown();
  }
  template <class Change>
  void Do(const Change& change) {
    MustRun([&](Txn& txn) -> Status {
      Structures keys(txn, *databases_);
      KVARTS_TRY(Key * key, keys.Open(0, "k"));
      KVARTS_CHECK_OK(change(keys, *key));
      keys.Flush();
      return {};
    });
  }
  Bytes Text() {
    Bytes text;
    Do([&](Structures&, Key& key) -> Status {
      KVARTS_TRY(text, TextOf(key));
      return {};
    });
    return text;
  }
  StagedText Stage(BytesView text) {
    StagedText staged;
    for (size_t at = 0; at < text.size(); at += StagedText::kPartBytes) {
      const BytesView part = text.substr(at, StagedText::kPartBytes);
      MustRun([&](Txn& txn) { return StagePart(txn, databases_->collections(), part, at == 0, &staged); });
      staged.size += part.size();
    }
    return staged;
  }
  void RunJobs() {
    JobRunner runner(store(), {StructureEraseKind(!engine().capabilities().shared)});
    const auto started = StartStructureErase(store());
    ASSERT_TRUE(started) << started.error();
    for (int turns = 0; turns < 100; ++turns) {
      const auto turn = runner.TakeTurn();
      ASSERT_TRUE(turn) << turn.error();
      if (!turn->worked) return;
    }
  }
  size_t Stored(Space space) {
    ScanRequest request;
    request.range = SpaceRange(space);
    request.keys_only = true;
    return Entries(*NewView(), request).size();
  }

  std::unique_ptr<Databases> databases_;
};
KVARTS_ON_EVERY_ENGINE(LargeTextTest);

TEST_P(LargeTextTest, IsInChunksFromItsSizeOn) {
  for (const size_t size : {Key::kMaxInlineText, Key::kMaxInlineText + 1}) {
    Do([&](Structures&, Key& key) { return key.SetText(Bytes(size, 'x')); });
    EXPECT_EQ(Stored(Space::kStructureMembers), size == Key::kMaxInlineText ? 0 : size / kChunk + 1);
    EXPECT_EQ(Text(), Bytes(size, 'x'));
  }
  // It costs what it touches.
  const auto write = [&](Txn& txn) -> Status {
    Structures keys(txn, *databases_);
    KVARTS_TRY(Key * key, keys.Open(0, "k"));
    KVARTS_CHECK_OK(key->WriteText(100, "y"));
    keys.Flush();
    EXPECT_EQ(txn.mutations().size(), 2u) << "a chunk, and the key";
    return {};
  };
  MustRun(write);
  Do([](Structures&, Key& key) {
    key.Remove();
    return Status();
  });
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), 0u);
  EXPECT_EQ(Stored(Space::kStructuresDropped), 0u);
}

TEST_P(LargeTextTest, WhatWasNeverWrittenIsZeros) {
  Do([](Structures&, Key& key) { return key.WriteText(50 * kChunk + 7, "end"); });
  EXPECT_EQ(Stored(Space::kStructureMembers), 1u) << "the last alone";
  Bytes expected(50 * kChunk + 10, '\0');
  expected.replace(50 * kChunk + 7, 3, "end");
  EXPECT_EQ(Text(), expected);
  Do([](Structures&, Key& key) { return key.WriteText(kChunk - 1, "ab"); });
  expected.replace(kChunk - 1, 2, "ab");
  EXPECT_EQ(Text(), expected);
  Do([&](Structures&, Key& key) -> Status {
    KVARTS_TRY(const Bytes part, TextOf(key, kChunk - 2, 4));
    EXPECT_EQ(part, Bytes("\0ab\0", 4));
    KVARTS_TRY(const Bytes behind, TextOf(key, 51 * kChunk, 10));
    EXPECT_EQ(behind, "");
    return {};
  });
}

TEST_P(LargeTextTest, WhatIsStagedIsAKeysOrIsTakenAway) {
  const Bytes text(StagedText::kPartBytes + 100'000, 's');
  const StagedText used = Stage(text);
  const StagedText left = Stage(text);
  const StagedText unwanted = Stage(text);
  EXPECT_EQ(Stored(Space::kStructuresDropped), 3u);
  RunJobs();
  Do([&](Structures&, Key& key) { return key.SetStaged(used); });
  MustRun([&](Txn& txn) { return DiscardStaged(txn, unwanted); });
  EXPECT_EQ(Text(), text);
  RunJobs();
  const size_t chunks = text.size() / kChunk + 1;
  EXPECT_EQ(Stored(Space::kStructureMembers), 2 * chunks) << "what is on its way is left alone";
  clock().Advance(Duration::Micros(StagedText::kKept.micros + 1));
  RunJobs();
  EXPECT_EQ(Stored(Space::kStructureMembers), chunks);
  EXPECT_EQ(Stored(Space::kStructuresDropped), 0u);
  EXPECT_EQ(Text(), text);
  const auto late = Run([&](Txn& txn) { return ClaimStaged(txn, left); });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kConflict);
  StagedText again = left;
  EXPECT_FALSE(Run([&](Txn& txn) { return StagePart(txn, databases_->collections(), "more", false, &again); }));
}

}  // namespace
}  // namespace kvarts::structure
