#include "core/refresher.h"

#include <gtest/gtest.h>

#include <atomic>

#include "support/eventually.h"

namespace kvarts {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::Eventually;

// Fails so many times, and counts how often it was tried.
class Work {
 public:
  explicit Work(int failures = 0) : failures_(failures) {}

  std::function<Status()> work() {
    return [this]() -> Status {
      const bool fails = failures_-- > 0;
      ++tried_;
      if (fails) return Error(ErrorCode::kUnavailable, "not now");
      return {};
    };
  }
  bool IsTried(int times) const {
    return Eventually([&] { return tried_ >= times; }) && tried_ == times;
  }

 private:
  std::atomic<int> failures_;
  std::atomic<int> tried_ = 0;
};

// Who pauses for so long does not go on by itself.
constexpr Refresher::Pauses kForEver{.first = hours(1000), .longest = hours(1000)};

TEST(RefresherTest, DoesNothingUntilItIsAsked) {
  Work work;
  Refresher refresher(work.work());
  refresher.Stop();
  EXPECT_TRUE(work.IsTried(0));
}

TEST(RefresherTest, DoesItOnceForEachRequestThatItSucceedsAt) {
  Work work;
  Refresher refresher(work.work(), {.first = milliseconds(0), .longest = milliseconds(0)});
  for (int i = 1; i <= 5; ++i) {
    refresher.Ask();
    EXPECT_TRUE(work.IsTried(i));
  }
  refresher.Stop();
  EXPECT_TRUE(work.IsTried(5));
}

TEST(RefresherTest, WhatFailsIsTriedAgainUntilItSucceeds) {
  Work work(3);
  Refresher refresher(work.work(), {.first = milliseconds(1), .longest = milliseconds(2)});
  refresher.Ask();
  EXPECT_TRUE(work.IsTried(4));
  // And no more, before it is asked.
  refresher.Ask();
  EXPECT_TRUE(work.IsTried(5));
}

TEST(RefresherTest, ARequestEndsAPause) {
  Work work(2);
  Refresher refresher(work.work(), kForEver);
  for (int i = 1; i <= 4; ++i) {
    refresher.Ask();
    EXPECT_TRUE(work.IsTried(i));
  }
}

TEST(RefresherTest, StoppingEndsAPause) {
  Work work(1000);
  Refresher refresher(work.work(), kForEver);
  refresher.Ask();
  EXPECT_TRUE(work.IsTried(1));
  refresher.Stop();
  refresher.Ask();
  EXPECT_TRUE(work.IsTried(1));
}

TEST(RefresherTest, PausesGrowUpToTheLongest) {
  const Refresher::Pauses pauses;
  std::vector<milliseconds> taken{pauses.first};
  while (taken.back() < pauses.longest) taken.push_back(pauses.After(taken.back()));
  const std::vector<milliseconds> expected{milliseconds(50),  milliseconds(100),  milliseconds(200), milliseconds(400),
                                           milliseconds(800), milliseconds(1600), milliseconds(2000)};
  EXPECT_EQ(taken, expected);
  EXPECT_EQ(pauses.After(pauses.longest), pauses.longest);
}

}  // namespace
}  // namespace kvarts
