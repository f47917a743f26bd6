// Several processes on the same data: what one declares holds for the others, what one changes wakes the others, and no
// reader of a feed misses what becomes visible late.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <semaphore>
#include <set>

#include "core/feed.h"
#include "core/job_runner.h"
#include "support/forwarding_engine.h"
#include "support/processes.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

class SharedStoreTest : public ProcessesTest {
 protected:
  // What was put, by all the entries from a position on.
  static void ReadOn(Store& store, FeedId feed, FeedPosition* from, std::multiset<Bytes>* seen) {
    const auto page = store.feeds().Read(feed, *from, 7);
    ASSERT_TRUE(page) << page.error();
    for (const FeedEntry& entry : page->entries) seen->insert(entry.after ? entry.after->value : Bytes("erased"));
    *from = page->next;
  }
  static FeedId MustDeclare(Store& store, const KeyRange& range) {
    const auto feed = store.feeds().Declare(range);
    EXPECT_TRUE(feed) << feed.error();
    return feed ? *feed : FeedId{};
  }

  // A reader follows a feed of everything under "k" page by page while others commit; how many entries it was never
  // shown.
  static size_t Missed(Store& reader, FeedId feed, const std::vector<Store*>& writers, milliseconds time) {
    std::mutex mutex;
    std::set<Bytes> committed;
    Version last;
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < writers.size() * 3; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; !stop; ++n) {
          const Bytes value = std::to_string(i) + "-" + std::to_string(n);
          RunOptions quick;
          quick.durability = Durability::kNone;
          // Some write much, and take their time between their version and their end.
          const int more = i % 3 == 0 ? 200 : 0;
          const auto report = writers[i % writers.size()]->RunBody(
              [&](Txn& txn) -> Status {
                txn.Put("k" + std::to_string(i), value);
                for (int k = 0; k < more; ++k) txn.Add("busy" + std::to_string(i) + "-" + std::to_string(k), 1);
                return {};
              },
              quick);
          EXPECT_TRUE(report) << report.error();
          const std::lock_guard lock(mutex);
          committed.insert(value);
          last = std::max(last, report->version);
        }
      });
    }
    std::multiset<Bytes> seen;
    FeedPosition from;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) ReadOn(reader, feed, &from, &seen);
    stop = true;
    threads.clear();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (from.version <= last && std::chrono::steady_clock::now() < patience) ReadOn(reader, feed, &from, &seen);
    EXPECT_GT(from.version, last);
    std::erase_if(committed, [&](const Bytes& value) { return seen.contains(value); });
    // What is not in the feed at all is another fault.
    std::multiset<Bytes> all;
    const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (from = {}; from.version <= last && std::chrono::steady_clock::now() < enough;) {
      ReadOn(reader, feed, &from, &all);
    }
    for (const Bytes& value : committed) EXPECT_TRUE(all.contains(value)) << value << " was not recorded";
    return committed.size();
  }
};
KVARTS_ON_ENGINES_WITH(SharedStoreTest, shared);

// Others put all the time. From the version of the declaration on nothing goes unrecorded, and nothing is recorded
// twice.
TEST_P(SharedStoreTest, AFeedThatOneDeclaresRecordsWhatOthersCommit) {
  Store& a = Begin();
  const std::vector<Store*> others = {&Begin(), &Begin()};
  for (int round = 0; round < 5; ++round) {
    const Bytes prefix = "round" + std::to_string(round) + "/";
    std::mutex mutex;
    std::map<Version, Bytes> committed;
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; !stop; ++n) {
          const Bytes value = std::to_string(i) + "-" + std::to_string(n);
          const Version version = MustPut(*others[i % 2], prefix + std::to_string(n % 3), value);
          const std::lock_guard lock(mutex);
          committed[version] = value;
        }
      });
    }
    std::this_thread::sleep_for(milliseconds(20));
    const FeedId feed = MustDeclare(a, KeyRange::Prefix(prefix));
    // Whatever is submitted from here on is recorded.
    const Version after = MustPut(a, "elsewhere", "");
    std::this_thread::sleep_for(milliseconds(50));
    stop = true;
    threads.clear();
    std::multiset<Bytes> seen;
    FeedPosition from;
    const Version last = MustPut(a, "elsewhere", "");
    while (from.version <= last) ReadOn(a, feed, &from, &seen);
    size_t expected = 0;
    for (const auto& [version, value] : committed) {
      if (version < after) continue;
      ++expected;
      EXPECT_EQ(seen.count(value), 1u) << "round " << round << ", " << value;
    }
    EXPECT_GT(expected, 0u);
    for (const Bytes& value : seen) EXPECT_EQ(seen.count(value), 1u) << value;
  }
}

TEST_P(SharedStoreTest, AReaderOfAFeedMissesNothingThatBecomesVisibleLate) {
  Store& a = Begin();
  const std::vector<Store*> writers = {&Begin(), &Begin()};
  const FeedId feed = MustDeclare(a, KeyRange::Prefix("k"));
  EXPECT_EQ(Missed(a, feed, writers, milliseconds(1500)), 0u);
}

// An engine whose word on what is settled is only the last version there is.
class Hasty final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  Result<Version> Settle() override {
    KVARTS_TRY(const auto view, inner().OpenView());
    return view->version();
  }
};

TEST_P(SharedStoreTest, AReaderThatGoesByTheLastVersionMissesSome) {
  Store& a = Begin([](std::unique_ptr<Engine> inner) { return std::make_unique<Hasty>(std::move(inner)); });
  const std::vector<Store*> writers = {&Begin(), &Begin()};
  const FeedId feed = MustDeclare(a, KeyRange::Prefix("k"));
  size_t missed = 0;
  for (int round = 0; round < 20 && missed == 0; ++round) {
    missed = Missed(a, feed, writers, milliseconds(500));
  }
  EXPECT_GT(missed, 0u);
}

// Watchers come while all write, and each is told of everything that was committed after it began: once, and in the
// order of versions.
TEST_P(SharedStoreTest, WhoWatchesLiveIsToldOfWhatAllCommitOnceAndInOrder) {
  const std::vector<Store*> stores = {&Begin(), &Begin(), &Begin()};
  std::mutex mutex;
  std::map<Version, Bytes> committed;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; !stop; ++n) {
        const Bytes value = std::to_string(i) + "-" + std::to_string(n);
        const Version version = MustPut(*stores[i % 3], "k" + std::to_string(n % 3), value);
        const std::lock_guard lock(mutex);
        committed[version] = value;
      }
    });
  }
  struct Watcher {
    std::atomic<bool> begun = false;
    std::vector<std::pair<Version, Bytes>> told;
    Version after;  // it had begun when this was committed
  };
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < 6; ++i) {
    watchers.push_back(std::make_unique<Watcher>());
    Watcher& watcher = *watchers.back();
    // Some of the same range, others of one of their own.
    KeyRange range = i % 2 == 0 ? KeyRange::Prefix("k") : KeyRange{"k", "l" + std::to_string(i)};
    stores[i % 3]->subscriptions().WatchLive(std::move(range), [&](const Subscriptions::News& news) {
      const std::lock_guard lock(mutex);
      EXPECT_NE(news.kind, Subscriptions::News::Kind::kLost);
      if (news.kind == Subscriptions::News::Kind::kBegins) watcher.begun = true;
      if (news.mutation != nullptr) watcher.told.emplace_back(news.version, news.mutation->value);
    });
    ASSERT_TRUE(Eventually([&] { return watcher.begun.load(); }));
    watcher.after = MustPut(*stores[(i + 1) % 3], "elsewhere", "");
    std::this_thread::sleep_for(milliseconds(30));
  }
  std::this_thread::sleep_for(milliseconds(300));
  stop = true;
  threads.clear();
  const Version last = MustPut(*stores[0], "k0", "last");
  committed[last] = "last";
  for (const auto& watcher : watchers) {
    ASSERT_TRUE(Eventually([&] {
      const std::lock_guard lock(mutex);
      return !watcher->told.empty() && watcher->told.back().first == last;
    }));
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(std::ranges::is_sorted(watcher->told, std::ranges::less_equal()) || watcher->told.size() == 1);
    std::map<Version, Bytes> told(watcher->told.begin(), watcher->told.end());
    EXPECT_EQ(told.size(), watcher->told.size()) << "something was told twice";
    const std::map<Version, Bytes> expected(committed.upper_bound(watcher->after), committed.end());
    EXPECT_GT(expected.size(), 1u);
    EXPECT_EQ((std::map<Version, Bytes>(told.upper_bound(watcher->after), told.end())), expected);
  }
}

TEST_P(SharedStoreTest, WhoWaitsIsWokenByWhatOthersCommit) {
  Store& a = Begin();
  Store& b = Begin();
  std::mutex mutex;
  std::condition_variable changed;
  int woken = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes key = "queue/" + std::to_string(round);
    // The one begins to wait while the other puts.
    std::jthread putting([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 300));
      MustPut(b, key, "1");
    });
    const auto waiting = a.RunWhenReady(
        KeyRange::Single(key),
        [key](Txn& txn) -> Result<Store::Ready> {
          KVARTS_TRY(const auto record, txn.Get(key));
          if (!record) return Store::Ready::kWait;
          txn.Erase(key);
          return Store::Ready::kDone;
        },
        Quick(),
        [&](const Result<RunReport>& report) {
          EXPECT_TRUE(report) << report.error();
          const std::lock_guard lock(mutex);
          ++woken;
          changed.notify_all();
        });
    putting.join();
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(10), [&] { return woken > round; })) << "round " << round;
  }
}

TEST_P(SharedStoreTest, WhoFindsOutForWhatItWaitsIsWokenByWhatOthersCommit) {
  Store& a = Begin();
  Store& b = Begin();
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes key = "found/" + std::to_string(round);
    std::binary_semaphore woken{0};
    std::jthread putting([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 300));
      MustPut(b, key, "1");
    });
    const auto waiting = a.RunWhenReady(
        {},
        [key](Txn& txn, Store::Ranges* ranges) -> Result<Store::Ready> {
          KVARTS_TRY(const auto record, txn.Get(key));
          *ranges = {KeyRange::Single("elsewhere"), KeyRange::Single(key)};
          return record ? Store::Ready::kDone : Store::Ready::kWait;
        },
        Quick(), [&](const Result<RunReport>&) { woken.release(); });
    ASSERT_TRUE(woken.try_acquire_for(std::chrono::seconds(10))) << "round " << round;
  }
}

TEST_P(SharedStoreTest, OneOfSeveralWaitersTakesEachItem) {
  const std::vector<Store*> stores = {&Begin(), &Begin(), &Begin()};
  constexpr int kItems = 60;
  std::mutex mutex;
  std::condition_variable changed;
  std::multiset<Bytes> taken;
  for (int i = 0; i < kItems; ++i) {
    auto item = std::make_shared<Bytes>();
    stores[i % 3]->RunWhenReady(
        KeyRange::Prefix("item/"),
        [item](Txn& txn) -> Result<Store::Ready> {
          ScanRequest request;
          request.range = KeyRange::Prefix("item/");
          request.max_entries = 1;
          KVARTS_TRY(const ScanPage page, txn.Scan(request));
          if (page.empty()) return Store::Ready::kWait;
          *item = page[0].key;
          txn.Erase(page[0].key);
          return Store::Ready::kDone;
        },
        Quick(),
        [&, item](const Result<RunReport>& report) {
          EXPECT_TRUE(report) << report.error();
          const std::lock_guard lock(mutex);
          taken.insert(*item);
          changed.notify_all();
        });
  }
  for (int i = 0; i < kItems; ++i) MustPut(*stores[(i / 2) % 3], "item/" + std::to_string(100 + i), "");
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return taken.size() == kItems; })) << taken.size();
  for (const Bytes& item : taken) EXPECT_EQ(taken.count(item), 1u) << item;
}

TEST_P(SharedStoreTest, AJobOfOneIsDoneByAnyOfThemOnce) {
  const std::vector<Store*> stores = {&Begin(), &Begin(), &Begin()};
  constexpr int kChunks = 10;
  const JobKind kind{"count", [](Txn& txn, const JobRecord& job) -> Result<JobStep> {
                       const int chunk = job.cursor.empty() ? 0 : std::stoi(job.cursor);
                       txn.Add("chunk" + std::to_string(chunk), 1);
                       JobStep step;
                       step.cursor = std::to_string(chunk + 1);
                       step.done = 1;
                       step.finished = chunk + 1 == kChunks;
                       return step;
                     }};
  std::vector<std::unique_ptr<JobRunner>> runners;
  for (Store* store : stores) {
    runners.push_back(std::make_unique<JobRunner>(*store, std::vector<JobKind>{kind}));
    runners.back()->Start();
  }
  std::vector<JobId> ids;
  constexpr int kJobs = 6;
  for (int i = 0; i < kJobs; ++i) {
    const auto id = Jobs(*stores[i % 3]).Start({.kind = "count", .total = kChunks});
    ASSERT_TRUE(id) << id.error();
    ids.push_back(*id);
  }
  for (const JobId& id : ids) {
    EXPECT_TRUE(Eventually([&] {
      const auto job = Jobs(*stores[1]).Get(id);
      return job && job->state == JobState::kDone;
    }));
  }
  for (const auto& runner : runners) runner->Stop();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto record = GetOne(stores[0]->engine(), "chunk" + std::to_string(chunk));
    ASSERT_TRUE(record && *record);
    EXPECT_EQ(CounterNumber((*record)->header, (*record)->value), kJobs);
  }
}

}  // namespace
}  // namespace kvarts::test
