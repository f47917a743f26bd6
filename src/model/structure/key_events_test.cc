#include "model/structure/key_events.h"

#include <gmock/gmock.h>

#include <mutex>
#include <thread>

#include "core/job_runner.h"
#include "model/structure/key_expiry.h"
#include "model/structure/strings.h"
#include "support/stores.h"

namespace kvarts::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kEverything = ~0U;

class KeyEventsTest : public test::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    databases_ = Databases::Open(store());
    databases_->events().SetListener([this](std::span<const KeyEvent> events) {
      const std::lock_guard lock(mutex_);
      for (const KeyEvent& event : events) {
        told_.push_back(std::to_string(event.database) + " " + event.key + " " + std::string(event.name));
      }
    });
    databases_->events().SetWanted(kEverything);
  }
  void TearDown() override {
    databases_.reset();
    StoreTest::TearDown();
  }

  Status Set(Structures& keys, uint32_t database, BytesView name, BytesView text, Timestamp expiry = kNever) {
    KVARTS_TRY(Key * key, keys.Open(database, name));
    KVARTS_CHECK_OK(key->SetText(Bytes(text)));
    if (expiry != kNever) keys.Expire(*key, expiry);
    keys.Tell(kStringEvents, "set", database, *key);
    return {};
  }
  template <class Change>
  Store::Body Body(const Change& change) {
    return [this, change](Txn& txn) -> Status {
      Structures keys(txn, *databases_);
      KVARTS_CHECK_OK(change(keys));
      keys.Flush();
      return {};
    };
  }
  template <class Change>
  void Do(const Change& change) {
    MustRun(Body(change));
  }
  std::vector<std::string> Told() {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_, {});
  }

  std::unique_ptr<Databases> databases_;
  std::mutex mutex_;
  std::vector<std::string> told_;
};
KVARTS_ON_EVERY_ENGINE(KeyEventsTest);

TEST_P(KeyEventsTest, AreToldInTheirOrderOnceTheyAreCommitted) {
  Do([&](Structures& keys) -> Status {
    KVARTS_CHECK_OK(Set(keys, 0, "a", "1"));
    KVARTS_CHECK_OK(Set(keys, 3, "b", "1"));
    EXPECT_THAT(Told(), IsEmpty());
    KVARTS_TRY(Key * key, keys.Open(0, "a"));
    key->Remove();
    keys.Tell(kGenericEvents, "del", 0, *key);
    KVARTS_TRY(const Key* none, keys.Open(0, "none"));
    keys.TellMiss(0, *none);
    return Set(keys, 0, "a", "2");
  });
  EXPECT_THAT(Told(), ElementsAre("0 a new", "0 a set", "3 b new", "3 b set", "0 a del", "0 none keymiss", "0 a new",
                                  "0 a set"));
}

TEST_P(KeyEventsTest, WhatIsRefusedIsNotTold) {
  const auto refused = store().RunBody(Body([&](Structures& keys) -> Status {
    KVARTS_CHECK_OK(Set(keys, 0, "a", "1"));
    return Error(ErrorCode::kInvalidArgument, "no");
  }));
  EXPECT_FALSE(refused.has_value());
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_P(KeyEventsTest, OnlyWantedClassesAreGathered) {
  databases_->events().SetWanted(kNewEvents);
  Do([&](Structures& keys) { return Set(keys, 0, "a", "1"); });
  EXPECT_THAT(Told(), ElementsAre("0 a new"));
  databases_->events().SetWanted(0);
  Do([&](Structures& keys) { return Set(keys, 0, "b", "1"); });
  EXPECT_THAT(Told(), IsEmpty());
}

// Many lose the race, and are run again: each is told once, and in the order of what it made.
TEST_P(KeyEventsTest, ARunThatLostItsRaceTellsNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this] {
        for (int n = 0; n < kEach; ++n) {
          const auto ran = store().RunBody(Body([&](Structures& keys) -> Status {
            KVARTS_TRY(Key * key, keys.Open(0, "n"));
            KVARTS_CHECK_OK(IncrementBy(*key, 1));
            keys.Tell(kStringEvents, "incrby", 0, *key);
            return {};
          }));
          EXPECT_TRUE(ran.has_value()) << ran.error();
        }
      });
    }
  }
  std::vector<std::string> told = Told();
  EXPECT_EQ(std::erase(told, "0 n new"), 1u);
  EXPECT_EQ(told.size(), static_cast<size_t>(kThreads * kEach));
}

TEST_P(KeyEventsTest, TheJobTellsOfWhatItTakesAway) {
  Do([&](Structures& keys) -> Status {
    KVARTS_CHECK_OK(Set(keys, 5, "a", "1", Timestamp{keys.Now().micros + 1}));
    return Set(keys, 6, "gone", "1", Timestamp{keys.Now().micros + 1});
  });
  Do([&](Structures& keys) {
    const uint32_t six = 6;
    return keys.FlushDatabases({&six, 1});
  });
  Told();
  JobRunner runner(store(), {KeyExpiryKind(*databases_)});
  clock().Advance(Duration::Seconds(1));
  const auto started = StartKeyExpiry(store());
  ASSERT_TRUE(started) << started.error();
  for (int turns = 0; turns < 100; ++turns) {
    const auto turn = runner.TakeTurn();
    ASSERT_TRUE(turn) << turn.error();
    if (!turn->worked) break;
  }
  EXPECT_THAT(Told(), ElementsAre("5 a expired"));
}

TEST_P(KeyEventsTest, WhatHasExpiredIsToldBeforeWhatReplacesIt) {
  Do([&](Structures& keys) { return Set(keys, 0, "a", "1", Timestamp{keys.Now().micros + 1}); });
  Told();
  clock().Advance(Duration::Seconds(1));
  Do([&](Structures& keys) -> Status {
    KVARTS_CHECK_OK(Set(keys, 0, "a", "2"));
    return Set(keys, 0, "a", "3");
  });
  EXPECT_THAT(Told(), ElementsAre("0 a expired", "0 a new", "0 a set", "0 a set"));
}

}  // namespace
}  // namespace kvarts::structure
