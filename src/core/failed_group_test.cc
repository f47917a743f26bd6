// What core does when commits were decided and then could not be written: everything goes on as if they had never been.
#include "core/keyspace.h"
#include "engine/memory/memory_engine.h"
#include "support/forwarding_engine.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

// Decides what is submitted, and then fails to write it, like a group of commits that meets a stall.
class StallingEngine final : public ForwardingEngine {
 public:
  StallingEngine() : ForwardingEngine(OpenMemoryEngine({})) {}

  bool stalls = false;

  void Submit(std::span<std::unique_ptr<Submission>> submissions) override {
    if (!stalls) return inner().Submit(submissions);
    for (auto& submission : submissions) {
      if (!submission->Claim()) continue;
      const auto view = inner().OpenView();
      ASSERT_TRUE(view) << view.error();
      ASSERT_TRUE(!submission->run_first || submission->Run(**view).has_value());
    }
    for (auto& submission : submissions) submission->Done(Error(ErrorCode::kOverloaded, "the stall of a test"));
  }
};

class FailedGroupTest : public ::testing::Test {
 protected:
  Status Put(const std::string& key) {
    return store_->Run([&](Txn& txn) -> Status {
      txn.Put(key, "");
      return {};
    });
  }

  StallingEngine engine_;
  std::unique_ptr<Store> store_ = *Store::Open(engine_);
};

TEST_F(FailedGroupTest, ADeclaredFeedIsForgotten) {
  engine_.stalls = true;
  EXPECT_EQ(CodeOf(store_->feeds().Declare(KeyRange::All())), "overloaded");
  engine_.stalls = false;
  ASSERT_TRUE(Put("a").has_value());
  const auto view = engine_.OpenView();
  EXPECT_EQ(ShownScan(**view, SpaceRange(Space::kFeed)), "");
  const auto feed = store_->feeds().Declare(KeyRange::All());
  ASSERT_TRUE(feed) << feed.error();
  ASSERT_TRUE(Put("b").has_value());
  EXPECT_EQ(store_->feeds().Read(*feed, {}, 10)->entries.size(), 1u);
}

// What it saw, and found too little to do with, was never written.
TEST_F(FailedGroupTest, ABodyThatWaitsIsAnswered) {
  std::vector<std::string> answers;
  int runs = 0;
  engine_.stalls = true;
  const auto waiting = store_->RunWhenReady(
      KeyRange::All(),
      [&](Txn&) -> Result<Store::Ready> {
        ++runs;
        return Store::Ready::kWait;
      },
      {}, [&](Result<RunReport> result) { answers.push_back(CodeOf(result)); });
  EXPECT_EQ(answers, std::vector<std::string>{"overloaded"});
  EXPECT_FALSE(store_->Cancel(waiting));
  engine_.stalls = false;
  ASSERT_TRUE(Put("a").has_value());
  EXPECT_EQ(runs, 1) << "and waits no longer";
  EXPECT_EQ(answers.size(), 1u);
}

TEST_F(FailedGroupTest, EffectsDoNotHappen) {
  int effects = 0;
  engine_.stalls = true;
  const Status failed = store_->Run([&](Txn& txn) -> Status {
    txn.Put("a", "");
    txn.AfterCommit([&](Version) { ++effects; });
    return {};
  });
  EXPECT_EQ(CodeOf(failed), "overloaded");
  EXPECT_EQ(effects, 0);
}

}  // namespace
}  // namespace kvarts::test
