#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace kvarts {
namespace {

TEST(WorkerPoolTest, DoesWhatItTookOnBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(2, 1000);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(pool.Submit([&done] { ++done; }));
  }
  EXPECT_EQ(done, 500);
}

TEST(WorkerPoolTest, TakesNoMoreThanItMayQueue) {
  std::binary_semaphore begun{0};
  std::binary_semaphore go{0};
  std::atomic<int> done = 0;
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.Submit([&] {
    begun.release();
    go.acquire();
    ++done;
  }));
  begun.acquire();
  EXPECT_TRUE(pool.Submit([&done] { ++done; }));
  EXPECT_TRUE(pool.Submit([&done] { ++done; }));
  EXPECT_EQ(pool.queued(), 2);
  EXPECT_FALSE(pool.Submit([&done] { done = 100; }));
  go.release();
}

}  // namespace
}  // namespace kvarts
