// Many threads at once: nothing is lost, nothing is torn, nobody sees the past again.
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class ThreadsTest : public EngineTest {
 protected:
  // Runs `work(thread)` on so many threads and waits for them.
  static void InThreads(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
    for (std::thread& thread : threads) thread.join();
  }
  Result<Committed> Quickly(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    Commit commit = MakeCommit(std::move(mutations), std::move(preconditions));
    commit.durability = Durability::kNone;
    return CommitAndWait(engine(), std::move(commit));
  }
};
KVARTS_ON_EVERY_ENGINE(ThreadsTest);

Bytes Account(uint64_t number) { return "account" + std::to_string(number); }

int64_t Balance(const std::optional<Record>& record) { return record ? LoadLittle<int64_t>(record->value.data()) : 0; }

// Moves an amount between two accounts; what it read becomes preconditions.
TestSubmission::Body Transfer(uint64_t from, uint64_t to, int64_t amount) {
  return [=](View& view, Commit* commit) -> Status {
    const std::array<Bytes, 2> names = {Account(from), Account(to)};
    const std::array<BytesView, 2> keys = {names[0], names[1]};
    std::array<std::optional<Record>, 2> records;
    KVARTS_CHECK_OK(view.Get(keys, records, {}));
    for (int i = 0; i < 2; ++i) {
      commit->preconditions.push_back(FromRead(VersionIs(keys[i], records[i]->header.version)));
      const int64_t change = i == 0 ? -amount : amount;
      commit->mutations.push_back(Mutation::Put(keys[i], CounterValue(Balance(records[i]) + change)));
    }
    commit->durability = Durability::kNone;
    return {};
  };
}

TEST_P(ThreadsTest, MoneyIsNeitherMadeNorLost) {
  constexpr uint64_t kAccounts = 20;
  constexpr int64_t kEach = 1000;
  std::vector<Mutation> opening;
  for (uint64_t i = 0; i < kAccounts; ++i) {
    opening.push_back(Mutation::Put(Account(i), CounterValue(kEach)));
  }
  Must(std::move(opening));
  std::atomic<int> tellers = 4;
  std::atomic<int> audits = 0;
  InThreads(6, [&](int t) {
    std::mt19937_64 random(t);
    if (t < 4) {
      for (int i = 0; i < 150; ++i) {
        const uint64_t from = random() % kAccounts;
        const uint64_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
        const auto outcome = Transact(engine(), Transfer(from, to, static_cast<int64_t>(random() % 50)));
        EXPECT_TRUE(outcome) << outcome.error();
      }
      --tellers;
      return;
    }
    do {  // auditors
      ScanRequest request;
      request.reverse = audits % 2 == 0;
      request.max_entries = 1 + audits % 7;
      int64_t sum = 0;
      const auto view = NewView();
      for (const Found& entry : Entries(*view, request)) {
        sum += LoadLittle<int64_t>(entry.value.data());
      }
      EXPECT_EQ(sum, static_cast<int64_t>(kAccounts) * kEach);
      ++audits;
    } while (tellers > 0);
  });
  EXPECT_GT(audits, 0);
}

TEST_P(ThreadsTest, AddsFromAllThreadsAddUp) {
  InThreads(4, [&](int t) {
    for (int i = 0; i < 300; ++i) {
      EXPECT_TRUE(Quickly({Mutation::Add("n", t + 1), Mutation::Add("m" + std::to_string(t), 1)}));
    }
  });
  EXPECT_EQ(Number("n"), 300 * (1 + 2 + 3 + 4));
  for (int t = 0; t < 4; ++t) EXPECT_EQ(Number("m" + std::to_string(t)), 300);
}

TEST_P(ThreadsTest, OnlyOneCreates) {
  constexpr int kKeys = 100;
  std::array<std::atomic<int>, kKeys> created{};
  InThreads(4, [&](int) {
    for (int i = 0; i < kKeys; ++i) {
      const Bytes key = "key" + std::to_string(i);
      const auto outcome = Quickly({Mutation::Put(key, "")}, {Absent(key)});
      EXPECT_TRUE(outcome || outcome.error().code() == ErrorCode::kPreconditionFailed);
      created[i] += outcome ? 1 : 0;
    }
  });
  for (const auto& count : created) EXPECT_EQ(count, 1);
}

TEST_P(ThreadsTest, CompareAndSwapNeverLosesAnUpdate) {
  Put("n", "0");
  std::atomic<int> swapped = 0;
  InThreads(4, [&](int) {
    for (int i = 0; i < 200; ++i) {
      const auto record = Find("n");
      const std::string next = std::to_string(std::stoi(record->value) + 1);
      swapped += Quickly({Mutation::Put("n", next)}, {VersionIs("n", record->header.version)}) ? 1 : 0;
    }
  });
  EXPECT_EQ(Value("n"), std::to_string(swapped));
  EXPECT_GT(swapped, 0);
}

TEST_P(ThreadsTest, EveryThreadReadsItsOwnWrites) {
  InThreads(4, [&](int t) {
    for (int i = 0; i < 200; ++i) {
      const Bytes key = "key" + std::to_string(t);
      const std::string value = std::to_string(i);
      const auto outcome = Quickly({Mutation::Put(key, value)});
      ASSERT_TRUE(outcome);
      EXPECT_EQ(Value(key), value);
      const auto view = NewView();
      EXPECT_GE(view->version(), outcome->version);
      EXPECT_EQ(Value(*view, key), value);
    }
  });
}

TEST_P(ThreadsTest, ReadersSeeVersionsGrowAndCommitsWhole) {
  Must({Mutation::Put("a", "0"), Mutation::Put("b", "0")});
  std::atomic<bool> stop = false;
  InThreads(4, [&](int t) {
    if (t == 0) {
      for (int i = 1; i <= 500; ++i) {
        const std::string n = std::to_string(i);
        EXPECT_TRUE(Quickly({Mutation::Put("a", n), Mutation::Put("b", n)}));
      }
      stop = true;
      return;
    }
    Version last;
    const std::array<BytesView, 2> keys = {"a", "b"};
    while (!stop) {
      std::array<std::optional<Record>, 2> records;
      ASSERT_TRUE(engine().Get(keys, records, {}));
      ASSERT_TRUE(records[0] && records[1]);
      EXPECT_EQ(records[0]->value, records[1]->value);
      EXPECT_EQ(records[0]->header.version, records[1]->header.version);
      EXPECT_GE(records[0]->header.version, last);
      last = records[0]->header.version;
    }
  });
}

// Every kind of operation at once. What is checked is that views do not move and that everything is answered.
TEST_P(ThreadsTest, AllOperationsMixed) {
  InThreads(4, [&](int t) {
    std::mt19937_64 random(t);
    const auto key = [&] { return "k" + std::to_string(random() % 50); };
    for (int i = 0; i < 200; ++i) {
      const auto view = NewView();
      const auto before = Entries(*view);
      std::vector<Mutation> mutations;
      for (uint64_t n = random() % 4; n > 0; --n) {
        switch (random() % 4) {
          case 0:
            mutations.push_back(Mutation::Put(key(), key(), In(Duration::Micros(100))));
            break;
          case 1:
            mutations.push_back(Mutation::Erase(key()));
            break;
          case 2:
            mutations.push_back(Mutation::Add(key(), 1));
            break;
          default: {
            const Bytes start = key();
            mutations.push_back(Mutation::EraseRange(start, start + "5"));
          }
        }
      }
      const Version since = view->version();
      const auto outcome = Quickly(std::move(mutations), {FromRead(RangeUnchanged("k1", "k3", since))});
      EXPECT_TRUE(outcome || outcome.error().code() == ErrorCode::kConflict) << outcome.error();
      if (i % 10 == 0) clock().Advance(Duration::Micros(10));
      if (i % 50 == 0) {
        EXPECT_TRUE(engine().Compact(KeyRange::Prefix("k")));
      }
      EXPECT_EQ(Entries(*view), before);
    }
  });
}

TEST_P(ThreadsTest, OpeningAndClosingViewsUnderWritesKeepsTheirCount) {
  Limits limits;
  limits.max_views = 8;
  Open(limits);
  std::atomic<int> refused = 0;
  InThreads(4, [&](int t) {
    for (int i = 0; i < 300; ++i) {
      std::vector<std::unique_ptr<View>> views;
      for (int n = 0; n < 3; ++n) {
        auto view = engine().OpenView();
        refused += view ? 0 : 1;
        if (view) views.push_back(*std::move(view));
      }
      if (i % 10 == 0) {
        EXPECT_TRUE(Quickly({Mutation::Put("k" + std::to_string(t), "")}));
      }
    }
  });
  std::vector<std::unique_ptr<View>> views;
  for (int n = 0; n < 8; ++n) views.push_back(NewView());
  EXPECT_EQ(CodeOf(engine().OpenView()), "overloaded");
}

}  // namespace
}  // namespace kvarts::test
