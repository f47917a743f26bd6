#include "protocol/resp/room.h"

#include <gtest/gtest.h>

namespace kvarts::resp {
namespace {

class RoomTest : public testing::Test {
 protected:
  static constexpr uint64_t kMost = 40 << 20;

  static std::string Why(const Status& status) { return status.has_value() ? "" : std::string(status.error().text()); }

  std::atomic<uint64_t> all_{0};
  HeldBytes held_{all_, kMost};
};

TEST_F(RoomTest, OnALoopOnlyLittleIsReadAndFewAreGoneThrough) {
  const Room loop(held_, false, true);
  const Room worker(held_, true, true);
  EXPECT_EQ(Why(loop.ExpectReading(Room::kLittle - 1)), "");
  EXPECT_EQ(Why(loop.ExpectReading(Room::kLittle)), "");
  EXPECT_EQ(Why(loop.ExpectReading(Room::kLittle + 1)), kNeedsWorker);
  EXPECT_EQ(Why(worker.ExpectReading(Room::kLittle + 1)), "");
  EXPECT_EQ(Why(loop.ExpectElements(Room::kFew - 1)), "");
  EXPECT_EQ(Why(loop.ExpectElements(Room::kFew)), "");
  EXPECT_EQ(Why(loop.ExpectElements(Room::kFew + 1)), kNeedsWorker);
  EXPECT_EQ(Why(worker.ExpectElements(Room::kFew + 1)), "");
  EXPECT_EQ(Why(loop.ExpectLooking()), kNeedsWorker);
  EXPECT_EQ(Why(worker.ExpectLooking()), "");
}

TEST_F(RoomTest, OfManyCommandsOnlySoMuchIsGathered) {
  Room many(held_, true, true);
  EXPECT_EQ(Why(many.ExpectAnswers(Room::kMaxTogether - 1)), "");
  EXPECT_EQ(Why(many.ExpectAnswers(Room::kMaxTogether)), "");
  EXPECT_EQ(Why(many.ExpectAnswers(Room::kMaxTogether + 1)), kTooMuchTogether);
  held_.Release();
  Room alone(held_, true, false);
  EXPECT_EQ(Why(alone.ExpectAnswers(Room::kMaxTogether + 1)), "");
}

TEST_F(RoomTest, WhatIsAnsweredCountsOnceAmongAll) {
  Room room(held_, true, false);
  EXPECT_EQ(Why(room.ExpectAnswers(Room::kLittle)), "");
  EXPECT_EQ(all_, 0u) << "so little is not counted";
  for (const uint64_t bytes : {kMost - 1, kMost - 1, Room::kLittle + 1, kMost}) {
    EXPECT_EQ(Why(room.ExpectAnswers(bytes)), "");
    EXPECT_LE(all_, kMost);
  }
  const Status refused = room.ExpectAnswers(kMost + 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(refused.error().field("limit"), "redis.max_held_bytes");
  held_.Release();
  EXPECT_EQ(all_, 0u);
}

}  // namespace
}  // namespace kvarts::resp
