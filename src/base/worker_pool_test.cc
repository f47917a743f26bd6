#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <vector>

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

// Work that says when it has begun and ends when it is told to.
struct Held {
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go{0};
  WorkerPool::Work Work() {
    return [this] {
      begun.release();
      go.acquire();
    };
  }
};

TEST(WorkerPoolTest, LongWorkLeavesAThreadToShortWork) {
  Held held;
  std::binary_semaphore done{0};
  WorkerPool pool(3, 1000);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.Submit(held.Work(), WorkerPool::Lane::kLong));
  held.begun.acquire();
  held.begun.acquire();
  // Though three pieces of long work came before.
  ASSERT_TRUE(pool.Submit([&done] { done.release(); }));
  done.acquire();
  EXPECT_FALSE(held.begun.try_acquire());
  EXPECT_EQ(pool.queued(), 3);
  held.go.release(5);
}

TEST(WorkerPoolTest, LongWorkIsDoneByAPoolOfOne) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(1, 1000);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(pool.Submit([&done] { ++done; }, i % 2 == 0 ? WorkerPool::Lane::kLong : WorkerPool::Lane::kShort));
    }
  }
  EXPECT_EQ(done, 100);
}

TEST(WorkerPoolTest, LongWorkIsNotPutOffByShortWorkThatCameLater) {
  Held held;
  std::vector<int> order;
  {
    WorkerPool pool(1, 1000);
    ASSERT_TRUE(pool.Submit(held.Work()));
    held.begun.acquire();
    ASSERT_TRUE(pool.Submit([&order] { order.push_back(1); }));
    ASSERT_TRUE(pool.Submit([&order] { order.push_back(2); }, WorkerPool::Lane::kLong));
    ASSERT_TRUE(pool.Submit([&order] { order.push_back(3); }));
    held.go.release();
  }
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(WorkerPoolTest, AFullLaneDoesNotCloseTheOther) {
  Held held;
  WorkerPool pool(1, 1);
  ASSERT_TRUE(pool.Submit(held.Work()));
  held.begun.acquire();
  EXPECT_TRUE(pool.Submit([] {}, WorkerPool::Lane::kLong));
  EXPECT_FALSE(pool.Submit([] {}, WorkerPool::Lane::kLong));
  EXPECT_TRUE(pool.Submit([] {}));
  held.go.release();
}

}  // namespace
}  // namespace kvarts
