// The wall clock steps back between two runs: versions still grow, and what had expired stays expired.
#include "fault_test_base.h"

namespace kvarts::test {
namespace {

class ClockTest : public FaultTest {
 protected:
  // Opens the store with the clock so far from where it began.
  void OpenAt(Duration after_start) {
    Close();
    now_ = std::make_shared<ManualClock>(At(after_start));
    options.clock = now_;
    Open();
  }
  static Timestamp At(Duration after_start) { return {kTestStart.micros + static_cast<uint64_t>(after_start.micros)}; }

  std::shared_ptr<ManualClock> now_;
};

TEST_F(ClockTest, VersionsGrowWhenItStepsBack) {
  OpenAt(Duration::Seconds(1000));
  const Version before = Put("key", "1");
  for (const int64_t seconds : {500, 10, 0, 2000, 1}) {
    const Version last = engine().LastVersion();
    OpenAt(Duration::Seconds(seconds));
    EXPECT_GE(engine().LastVersion(), last);
    const Version version = Put("key", "2");
    EXPECT_GT(version, last);
    EXPECT_GT(version, before);
    EXPECT_GE(engine().Now(), before.time());
  }
}

TEST_F(ClockTest, VersionsGrowWhenItStepsBackWithAPowerFailure) {
  OpenAt(Duration::Seconds(1000));
  Version last = kNoVersion;
  for (int i = 0; i < 10; ++i) {
    const Version synced = Put("synced", std::to_string(i));
    EXPECT_GT(synced, last);
    last = Put("lost", std::to_string(i), Durability::kNone);
    EXPECT_GT(last, synced);
    LosePower();
    OpenAt(Duration::Seconds(1000 - i * 100));
    EXPECT_GE(engine().LastVersion(), last);
    EXPECT_EQ(Value("synced"), std::to_string(i));
  }
}

TEST_F(ClockTest, WhatAReaderSawExpireStaysExpired) {
  OpenAt(Duration::Seconds(0));
  Put("key", "value", At(Duration::Seconds(10)));
  now_->Advance(Duration::Seconds(20));
  EXPECT_EQ(Value("key"), "absent");
  // Nothing was written since; the store was closed cleanly.
  OpenAt(Duration::Seconds(5));
  EXPECT_EQ(Value("key"), "absent");
  EXPECT_GE(engine().Now(), At(Duration::Seconds(20)));
}

TEST_F(ClockTest, WhatACommitSawExpireStaysExpiredAfterAPowerFailure) {
  OpenAt(Duration::Seconds(0));
  Put("key", "value", At(Duration::Seconds(10)));
  now_->Advance(Duration::Seconds(20));
  Put("other", "value");
  EXPECT_EQ(Value("key"), "absent");
  LosePower();
  OpenAt(Duration::Seconds(5));
  EXPECT_EQ(Value("key"), "absent");
}

TEST_F(ClockTest, WhatHasNotExpiredIsNotLostBySteppingBack) {
  OpenAt(Duration::Seconds(1000));
  Put("key", "value", At(Duration::Seconds(1010)));
  OpenAt(Duration::Seconds(0));
  EXPECT_EQ(Value("key"), "value");
  OpenAt(Duration::Seconds(1011));
  EXPECT_EQ(Value("key"), "absent");
}

}  // namespace
}  // namespace kvarts::test
