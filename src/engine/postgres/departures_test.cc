#include "engine/postgres/departures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/eventually.h"

namespace kvarts::postgres {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using test::Eventually;
using testing::ElementsAre;

// Threads that take round trips, each of which is back when it is told so.
class DeparturesTest : public testing::Test {
 protected:
  ~DeparturesTest() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      released_ = 1'000'000;
    }
    departures_->Ending();
    back_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Begin(microseconds moment, microseconds patience, size_t under_way = 1, size_t room = 1'000) {
    room_ = room;
    departures_ = std::make_unique<Departures>(under_way, moment, patience);
    for (int i = 0; i < 3; ++i) threads_.emplace_back([this] { Loop(); });
  }
  void Arrive(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::lock_guard lock(mutex_);
      ++waiting_;
      departures_->Arrived(waiting_, waiting_ - 1);
    }
  }
  // All at the same moment, as far as the threads can see.
  void ArriveTogether(size_t count) {
    const std::lock_guard lock(mutex_);
    const size_t before = waiting_;
    waiting_ += count;
    departures_->Arrived(waiting_, before);
  }
  // The next to be back, in the order in which they left.
  void Release() {
    const std::lock_guard lock(mutex_);
    ++released_;
    back_.notify_all();
  }
  std::vector<size_t> left() {
    const std::lock_guard lock(mutex_);
    return left_;
  }
  bool HaveLeft(size_t count) {
    return Eventually([&] { return left().size() == count; });
  }
  size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  void Loop() {
    std::unique_lock lock(mutex_);
    while (departures_->Await(
        lock, [this] { return waiting_; }, [this] { return ending_; })) {
      const size_t count = std::min(waiting_, room_);
      waiting_ -= count;
      left_.push_back(count);
      const uint64_t number = departures_->Leave(count, waiting_);
      back_.wait(lock, [&] { return released_ >= number; });
      departures_->Back(number, count);
    }
  }

  std::mutex mutex_;
  std::condition_variable back_;
  std::unique_ptr<Departures> departures_;
  size_t waiting_ = 0;
  size_t room_ = 1'000;
  bool ending_ = false;
  size_t released_ = 0;
  std::vector<size_t> left_;
  std::vector<std::thread> threads_;
};

TEST_F(DeparturesTest, WhoComesAloneWaitsForNobody) {
  Begin(hours(1), hours(1));
  for (size_t i = 1; i <= 3; ++i) {
    Arrive(1);
    ASSERT_TRUE(HaveLeft(i));
    Release();
  }
  EXPECT_THAT(left(), ElementsAre(1, 1, 1));
}

TEST_F(DeparturesTest, WhatComesMeanwhileLeavesTogether) {
  Begin(hours(1), hours(1));
  ArriveTogether(32);
  ASSERT_TRUE(HaveLeft(1));
  Arrive(20);
  EXPECT_FALSE(Eventually([&] { return left().size() > 1; }, std::chrono::milliseconds(50)));
  Release();
  ASSERT_TRUE(HaveLeft(2));
  EXPECT_THAT(left(), ElementsAre(32, 20));
}

TEST_F(DeparturesTest, WhereTwoMayBeUnderWayItIsFromThenOn) {
  Begin(hours(1), hours(1), 2);
  ArriveTogether(32);
  ASSERT_TRUE(HaveLeft(1));
  Arrive(16);
  ASSERT_TRUE(HaveLeft(2));
  Arrive(30);
  EXPECT_FALSE(Eventually([&] { return left().size() > 2; }, std::chrono::milliseconds(50)));
  Release();
  ASSERT_TRUE(HaveLeft(3));
  EXPECT_THAT(left(), ElementsAre(32, 16, 30));
}

TEST_F(DeparturesTest, ManyWaitForHalfAsMany) {
  Begin(hours(1), hours(1));
  ArriveTogether(64);
  ASSERT_TRUE(HaveLeft(1));
  Release();
  Arrive(31);
  EXPECT_FALSE(Eventually([&] { return left().size() > 1; }, std::chrono::milliseconds(50)));
  Arrive(1);
  ASSERT_TRUE(HaveLeft(2));
  EXPECT_THAT(left(), ElementsAre(64, 32));
}

TEST_F(DeparturesTest, WhoHasWaitedForAMomentIsNotKept) {
  Begin(microseconds(1'000), hours(1));
  ArriveTogether(64);
  ASSERT_TRUE(HaveLeft(1));
  Release();
  Arrive(3);
  ASSERT_TRUE(HaveLeft(2));
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(DeparturesTest, NobodyIsStuckBehindThoseThatTakeLong) {
  Begin(microseconds(1), microseconds(1'000));
  for (size_t i = 1; i <= 3; ++i) {
    Arrive(1);
    ASSERT_TRUE(HaveLeft(i));
  }
  EXPECT_THAT(left(), ElementsAre(1, 1, 1));
}

TEST_F(DeparturesTest, WhoIsLeftBehindIsTakenByAnother) {
  Begin(hours(1), microseconds(1'000), 1, 40);
  ArriveTogether(64);
  ASSERT_TRUE(HaveLeft(2));
  EXPECT_THAT(left(), ElementsAre(40, 24));
}

TEST(LateDepartureTest, HoldsNobodyUpOnceALaterOneIsBack) {
  Departures departures(1, microseconds(0), hours(1));
  std::mutex mutex;
  std::unique_lock lock(mutex);
  departures.Leave(1, 0);
  const uint64_t later = departures.Leave(1, 0);
  departures.Back(later, 1);
  // Otherwise this would take an hour.
  EXPECT_TRUE(departures.Await(
      lock, [] { return 1; }, [] { return false; }));
}

}  // namespace
}  // namespace kvarts::postgres
