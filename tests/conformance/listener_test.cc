// The commit listener: told of every commit in order, and what it adds takes its turn at once.
#include <mutex>
#include <thread>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

// Writes down what it is told.
class Scribe final : public CommitListener {
 public:
  // What to submit right after a commit that puts `key`.
  std::function<void(BytesView key, std::vector<std::unique_ptr<Submission>>*)> follow;

  void Decided(const Commit& commit, Version version, std::vector<std::unique_ptr<Submission>>* next) override {
    {
      const std::lock_guard lock(mutex_);
      decided_.push_back(version);
      for (const Mutation& mutation : commit.mutations) Write("decided " + mutation.key);
    }
    if (!follow) return;
    for (const Mutation& mutation : commit.mutations) follow(mutation.key, next);
  }
  void Visible(const Commit& commit, Version version) override {
    const std::lock_guard lock(mutex_);
    visible_.push_back(version);
    for (const Mutation& mutation : commit.mutations) Write("visible " + mutation.key);
  }
  void Followed(FollowedRanges*) override {}
  void Elsewhere(const KeyRange&, std::vector<std::unique_ptr<Submission>>*) override {}
  void Begin(std::span<const KeyRange>) override {}
  void Changed(const Mutation&, Version) override {}
  void Lost() override {}
  void Note(const std::string& event) {
    const std::lock_guard lock(mutex_);
    Write(event);
  }

  std::vector<Version> decided() const {
    const std::lock_guard lock(mutex_);
    return decided_;
  }
  std::vector<Version> visible() const {
    const std::lock_guard lock(mutex_);
    return visible_;
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  // When an event happened, among all; -1 when it did not.
  int When(const std::string& event) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(events_.begin(), events_.end(), event);
    return found == events_.end() ? -1 : static_cast<int>(found - events_.begin());
  }

 private:
  void Write(std::string event) { events_.push_back(std::move(event)); }

  mutable std::mutex mutex_;
  std::vector<Version> decided_;
  std::vector<Version> visible_;
  std::vector<std::string> events_;
};

class ListenerTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    engine().SetListener(&scribe_);
  }
  std::unique_ptr<TestSubmission> Noted(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    auto submission = std::make_unique<TestSubmission>(MakeCommit(std::move(mutations), std::move(preconditions)));
    const Bytes key = submission->commit.mutations.front().key;
    submission->on_done = [this, key](const auto& outcome) { scribe_.Note((outcome ? "done " : "failed ") + key); };
    return submission;
  }
  // Keys in the order in which commits that put them were decided.
  std::string DecidedKeys() {
    std::string keys;
    for (const std::string& event : scribe_.events()) {
      if (event.starts_with("decided ")) keys += event.substr(8) + " ";
    }
    return keys;
  }
  // The engine goes first.
  void TearDown() override { Open({}); }

  Scribe scribe_;
};
KVARTS_ON_EVERY_ENGINE(ListenerTest);

TEST_P(ListenerTest, IsToldOfEveryCommitOnce) {
  std::vector<Version> versions;
  for (int i = 0; i < 20; ++i) versions.push_back(Put("a", ""));
  EXPECT_EQ(scribe_.decided(), versions);
  EXPECT_EQ(scribe_.visible(), versions);
}

TEST_P(ListenerTest, IsNotToldOfWhatFailedOrWroteNothing) {
  Put("a", "");
  EXPECT_TRUE(Try({}, {Present("a")}));
  EXPECT_FALSE(Try({Mutation::Put("b", "")}, {Absent("a")}));
  EXPECT_FALSE(Try({Mutation::Put("c", "")}, {FromRead(Absent("a"))}));
  EXPECT_FALSE(Try({Mutation::Put("", "")}));
  EXPECT_EQ(DecidedKeys(), "a ");
  EXPECT_EQ(scribe_.visible().size(), 1u);
}

TEST_P(ListenerTest, DecidedComesBeforeVisibleAndThatBeforeDone) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 5; ++i) batch.push_back(Noted({Mutation::Put("k" + std::to_string(i), "")}));
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    ASSERT_TRUE(ticket->Outcome());
  }
  for (int i = 0; i < 5; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_GE(scribe_.When("decided " + key), 0);
    EXPECT_LT(scribe_.When("decided " + key), scribe_.When("visible " + key));
    EXPECT_LT(scribe_.When("visible " + key), scribe_.When("done " + key));
    if (i == 0) continue;
    const std::string before = "k" + std::to_string(i - 1);
    for (const char* event : {"decided ", "visible ", "done "}) {
      EXPECT_LT(scribe_.When(event + before), scribe_.When(event + key));
    }
  }
}

TEST_P(ListenerTest, IsShownTheStampedCommit) {
  Mutation put = Mutation::Put("log/........", "");
  put.key_stamp = 4;
  const Version version = Must({put});
  Bytes key = "log/";
  AppendBig(&key, version.stamp);
  EXPECT_GE(scribe_.When("decided " + key), 0);
  EXPECT_GE(scribe_.When("visible " + key), 0);
}

TEST_P(ListenerTest, IsShownWhatTheSecondRunMade) {
  const auto ticket = SubmitOne(engine(), RunFirst([](View&, Commit* commit) -> Status {
                                  commit->mutations = {Mutation::Put("made", "")};
                                  return {};
                                }));
  ASSERT_TRUE(ticket->Outcome());
  EXPECT_EQ(DecidedKeys(), "made ");
}

TEST_P(ListenerTest, WhatItAddsComesBeforeEverythingLater) {
  std::vector<std::shared_ptr<Ticket>> followers;
  scribe_.follow = [&](BytesView key, std::vector<std::unique_ptr<Submission>>* next) {
    if (key != "b") return;
    for (const char* follower : {"b1", "b2"}) {
      auto submission = Noted({Mutation::Put(follower, "")}, {Present("b"), Absent("c")});
      followers.push_back(submission->ticket());
      next->push_back(std::move(submission));
    }
  };
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (const char* key : {"a", "b", "c", "d"}) batch.push_back(Noted({Mutation::Put(key, "")}));
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_TRUE(ticket->Outcome());
  }
  ASSERT_EQ(followers.size(), 2u);
  for (const auto& ticket : followers) EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  EXPECT_EQ(DecidedKeys(), "a b b1 b2 c d ");
}

TEST_P(ListenerTest, WhatFollowsMayHaveFollowersItself) {
  std::vector<std::shared_ptr<Ticket>> followers;
  scribe_.follow = [&](BytesView key, std::vector<std::unique_ptr<Submission>>* next) {
    if (key.size() >= 4) return;
    for (const char* more : {"1", "2"}) {
      auto submission = Noted({Mutation::Put(Bytes(key) + more, "")});
      followers.push_back(submission->ticket());
      next->push_back(std::move(submission));
    }
  };
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(Noted({Mutation::Put("aa", "")}));
  batch.push_back(Noted({Mutation::Put("last", "")}));
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_TRUE(ticket->Outcome());
  }
  for (const auto& ticket : followers) EXPECT_TRUE(ticket->Outcome());
  EXPECT_EQ(DecidedKeys(), "aa aa1 aa11 aa12 aa2 aa21 aa22 last ");
}

TEST_P(ListenerTest, AFollowerIsRunWithTheCommitItFollows) {
  std::string seen;
  std::shared_ptr<Ticket> ticket;
  scribe_.follow = [&](BytesView key, std::vector<std::unique_ptr<Submission>>* next) {
    if (key != "list") return;
    auto pop = RunFirst([&](View& view, Commit* commit) -> Status {
      KVARTS_TRY(const auto record, view.GetOne("list"));
      seen = ValueOf(record);
      *commit = MakeCommit({Mutation::Erase("list")}, {FromRead(VersionIs("list", record->header.version))});
      return {};
    });
    ticket = pop->ticket();
    next->push_back(std::move(pop));
    scribe_.follow = nullptr;
  };
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(Noted({Mutation::Put("list", "item")}));
  batch.push_back(Noted({Mutation::Put("later", "")}, {Absent("list")}));
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  EXPECT_EQ(CodeOf(tickets[0]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[1]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  EXPECT_EQ(seen, "item");
  EXPECT_EQ(Value("list"), "absent");
}

TEST_P(ListenerTest, IsToldInCommitOrderFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Commit commit = MakeCommit({Mutation::Put("k", "")});
        commit.durability = Durability::kNone;
        EXPECT_TRUE(CommitAndWait(engine(), std::move(commit)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scribe_.decided().size(), 800u);
  EXPECT_EQ(scribe_.visible(), scribe_.decided());
  if (engine().capabilities().total_order) {
    const auto versions = scribe_.decided();
    EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end()));
  }
}

TEST_P(ListenerTest, WhatIsVisibleIsSeenByReads) {
  // A reader that is told of a version from another thread finds it.
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 50; ++i) {
    batch.push_back(Noted({Mutation::Put("n", std::to_string(i))}));
  }
  std::thread reader([&] {
    Version last;
    for (int rounds = 0; rounds < 100'000 && scribe_.visible().size() < 50; ++rounds) {
      const auto visible = scribe_.visible();
      if (visible.empty()) continue;
      const auto record = Find("n");
      ASSERT_TRUE(record);
      EXPECT_GE(record->header.version, visible.back());
      EXPECT_GE(record->header.version, last);
      last = record->header.version;
    }
  });
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    EXPECT_TRUE(ticket->Outcome());
  }
  reader.join();
}

}  // namespace
}  // namespace kvarts::test
