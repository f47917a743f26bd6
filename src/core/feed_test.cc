// Feeds: an entry for every change, in the commit of the change, in commit order, from the declaration on.
#include "core/feed.h"

#include <atomic>
#include <semaphore>
#include <set>
#include <thread>

#include "support/stores.h"

namespace kvarts::test {
namespace {

using Lines = std::vector<std::string>;

class FeedTest : public StoreTest {
 protected:
  FeedTable& feeds() { return store().feeds(); }
  FeedId Declare(const KeyRange& range) {
    const auto feed = feeds().Declare(range);
    EXPECT_TRUE(feed) << feed.error();
    return feed ? *feed : FeedId{};
  }
  // Everything from a position on, in pages of this size.
  std::vector<FeedEntry> ReadAll(FeedId feed, FeedPosition from = {}, size_t limit = 1000) {
    std::vector<FeedEntry> entries;
    while (true) {
      auto page = feeds().Read(feed, from, limit);
      EXPECT_TRUE(page) << page.error();
      if (!page) return entries;
      EXPECT_LE(page->entries.size(), limit);
      for (FeedEntry& entry : page->entries) entries.push_back(std::move(entry));
      from = page->next;
      if (!page->more) return entries;
    }
  }
  static std::string StateOf(const std::optional<Record>& record) {
    if (!record) return "-";
    if (record->header.kind != ValueKind::kCounter) return record->value;
    return "#" + std::to_string(CounterNumber(record->header, record->value));
  }
  // "put a -:1": what was done to which key, from what to what.
  static std::string LineOf(const FeedEntry& entry) {
    constexpr const char* kOps[] = {"put", "erase", "range", "add"};
    const std::string what = std::string(kOps[static_cast<int>(entry.op)]) + " " + entry.key;
    if (entry.op == Mutation::Op::kEraseRange) return what + ".." + entry.end;
    return what + " " + StateOf(entry.before) + ":" + StateOf(entry.after);
  }
  Lines LinesOf(FeedId feed, FeedPosition from = {}, size_t limit = 1000) {
    Lines lines;
    for (const FeedEntry& entry : ReadAll(feed, from, limit)) lines.push_back(LineOf(entry));
    return lines;
  }
};
KVARTS_ON_EVERY_ENGINE(FeedTest);

TEST_P(FeedTest, HasAnEntryForEveryChangeInItsRange) {
  ASSERT_TRUE(Run(Putting("b", "before the feed")));
  const FeedId feed = Declare({"b", "d"});
  EXPECT_EQ(LinesOf(feed), Lines{});
  ASSERT_TRUE(Run(Putting("b", "1")));
  ASSERT_TRUE(Run(Putting("a", "elsewhere")));
  ASSERT_TRUE(Run(Putting("d", "elsewhere")));
  MustRun([](Txn& txn) -> Status {
    txn.Erase("b");
    txn.Erase("c");
    txn.Add("cc", 5);
    return {};
  });
  MustRun([](Txn& txn) -> Status {
    txn.Add("cc", 2);
    txn.EraseRange({"a", "c"});
    return {};
  });
  EXPECT_EQ(LinesOf(feed), (Lines{"put b before the feed:1", "erase b 1:-", "erase c -:-", "add cc -:#5",
                                  "add cc #5:#7", "range b..c"}));
}

TEST_P(FeedTest, EntriesCarryVersionsHeadersAndContext) {
  const FeedId feed = Declare(KeyRange::All());
  RunOptions options;
  options.context = {.actor = "ada", .trace = "t", .command = "c"};
  const Timestamp expiry = In(Duration::Seconds(10));
  const Version first = MustRun(
      [&](Txn& txn) -> Status {
        txn.Put("a", "1", {.expiry = expiry, .kind = ValueKind::kEnvelope, .owned = false, .schema = 3});
        return {};
      },
      options);
  const Version second = MustRun(Putting("a", "2"));
  const auto entries = ReadAll(feed);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].position, (FeedPosition{first, 0}));
  EXPECT_EQ(entries[0].context, options.context);
  EXPECT_FALSE(entries[0].before);
  EXPECT_EQ(
      entries[0].after->header,
      (ValueHeader{
          .version = first, .expiry = expiry, .kind = ValueKind::kEnvelope, .owned = false, .schema = 3, .marks = {}}));
  EXPECT_EQ(entries[1].position, (FeedPosition{second, 0}));
  EXPECT_EQ(entries[1].before, entries[0].after);
  EXPECT_TRUE(entries[1].context.empty());
  EXPECT_EQ(entries[1].after, Find("a"));
}

TEST_P(FeedTest, ChangesOfOneCommitFollowOneAnother) {
  const FeedId feed = Declare(KeyRange::All());
  ASSERT_TRUE(Run(Putting("a", "0")));
  const Version version = MustRun([](Txn& txn) -> Status {
    txn.Put("a", "1");
    txn.Put("a", "2");
    txn.Erase("a");
    txn.Add("a", 3);
    txn.Add("a", 4);
    txn.EraseRange({"a", "b"});
    txn.Put("a", "5");
    return {};
  });
  const auto entries = ReadAll(feed, {version, 0});
  Lines lines;
  for (size_t i = 0; i < entries.size(); ++i) {
    lines.push_back(LineOf(entries[i]));
    EXPECT_EQ(entries[i].position, (FeedPosition{version, i}));
    EXPECT_TRUE(i == 0 || !entries[i].before || entries[i].before->header.version == version) << i;
    EXPECT_TRUE(!entries[i].after || entries[i].after->header.version == version) << i;
  }
  EXPECT_EQ(lines,
            (Lines{"put a 0:1", "put a 1:2", "erase a 2:-", "add a -:#3", "add a #3:#7", "range a..b", "put a -:5"}));
}

TEST_P(FeedTest, ABlindPutIsRecordedWithWhatItReallyMet) {
  const FeedId feed = Declare(KeyRange::All());
  // Somebody is faster between the run and the commit.
  std::atomic<int> runs = 0;
  MustRun([&](Txn& txn) -> Status {
    txn.Put("a", "mine");
    if (runs++ == 0) MustRun(Putting("a", "theirs"));
    return {};
  });
  EXPECT_EQ(LinesOf(feed), (Lines{"put a -:theirs", "put a theirs:mine"}));
}

TEST_P(FeedTest, WhatHasExpiredWasNotThere) {
  const FeedId feed = Declare(KeyRange::All());
  MustRun([&](Txn& txn) -> Status {
    txn.Put("a", "1", {.expiry = In(Duration::Seconds(1))});
    return {};
  });
  Wait(Duration::Seconds(1));
  ASSERT_TRUE(Run(Putting("a", "2")));
  EXPECT_EQ(LinesOf(feed), (Lines{"put a -:1", "put a -:2"}));
}

TEST_P(FeedTest, StampsAreFilledIn) {
  const FeedId feed = Declare(KeyRange::Prefix("log/"));
  const Version version = MustRun([](Txn& txn) -> Status {
    Mutation put = Mutation::Put("log/????????", "at ????????");
    put.key_stamp = 4;
    put.value_stamp = 3;
    txn.Apply(put);
    put.value = "x";
    put.value_stamp = Mutation::kNoStamp;
    txn.Apply(put);
    return {};
  });
  Bytes key = "log/";
  AppendBig(&key, version.stamp);
  Bytes value = "at ";
  AppendBig(&value, version.stamp);
  const auto entries = ReadAll(feed);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, key);
  EXPECT_FALSE(entries[0].before);
  EXPECT_EQ(entries[0].after->value, value);
  EXPECT_EQ(entries[1].key, key);
  EXPECT_EQ(entries[1].before->value, value);
  EXPECT_EQ(entries[1].after, Find(key));
}

TEST_P(FeedTest, AStampedKeyCountsWhereItLands) {
  // The range begins in the middle of what the stamp may become: beyond every version of today.
  const FeedId later = Declare({"log/\x7f", "log0"});
  const FeedId all = Declare(KeyRange::Prefix("log/"));
  MustRun([](Txn& txn) -> Status {
    Mutation put = Mutation::Put("log/\xff\xff\xff\xff\xff\xff\xff\xff", "");
    put.key_stamp = 4;
    txn.Apply(put);
    return {};
  });
  EXPECT_EQ(ReadAll(later).size(), 0u);
  EXPECT_EQ(ReadAll(all).size(), 1u);
}

TEST_P(FeedTest, OverlappingFeedsEachHaveTheirOwn) {
  const FeedId all = Declare(KeyRange::All());
  const FeedId users = Declare(KeyRange::Prefix("user:"));
  EXPECT_NE(all, users);
  MustRun([](Txn& txn) -> Status {
    txn.Put("other", "1");
    txn.Put("user:1", "2");
    txn.EraseRange({"a", "user:2"});
    return {};
  });
  EXPECT_EQ(LinesOf(all), (Lines{"put other -:1", "put user:1 -:2", "range a..user:2"}));
  EXPECT_EQ(LinesOf(users), (Lines{"put user:1 -:2", "range user:..user:2"}));
  EXPECT_EQ(ReadAll(users).front().position.index, 0u);
}

TEST_P(FeedTest, TheSameRangeTwiceIsTheSameFeed) {
  const FeedId feed = Declare({"a", "b"});
  EXPECT_EQ(Declare({"a", "b"}), feed);
  EXPECT_NE(Declare({"a", "c"}), feed);
  EXPECT_EQ(CodeOf(feeds().Declare({"b", "a"})), "invalid_argument");
  EXPECT_EQ(CodeOf(feeds().Declare({Bytes(9000, 'x'), ""})), "too_large");
}

TEST_P(FeedTest, AnErrorOrARolledBackWriteLeavesNoEntry) {
  const FeedId feed = Declare(KeyRange::All());
  EXPECT_FALSE(Run([](Txn& txn) -> Status {
    txn.Put("a", "");
    return Error(ErrorCode::kInvalidArgument, "made up");
  }));
  MustRun([](Txn& txn) -> Status {
    const auto savepoint = txn.Save();
    txn.Put("a", "");
    txn.RollBack(savepoint);
    txn.Put("b", "");
    return {};
  });
  EXPECT_EQ(LinesOf(feed), Lines{"put b -:"});
}

TEST_P(FeedTest, PagesResumeExactly) {
  const FeedId feed = Declare(KeyRange::All());
  for (int commit = 0; commit < 5; ++commit) {
    MustRun([&](Txn& txn) -> Status {
      for (int i = 0; i <= commit; ++i) txn.Put("k" + std::to_string(commit) + std::to_string(i), "");
      return {};
    });
  }
  const Lines all = LinesOf(feed);
  EXPECT_EQ(all.size(), 15u);
  for (const size_t limit : {1, 2, 4, 14, 15}) EXPECT_EQ(LinesOf(feed, {}, limit), all) << limit;
  const auto entries = ReadAll(feed);
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(LinesOf(feed, entries[i].position), Lines(all.begin() + static_cast<std::ptrdiff_t>(i), all.end()));
  }
  EXPECT_EQ(CodeOf(feeds().Read(feed, {}, 0)), "invalid_argument");
  EXPECT_EQ(CodeOf(feeds().Read(feed, {}, engine().limits().max_page_entries + 1)), "too_large");
}

TEST_P(FeedTest, AReaderThatIsUpToDateGoesOnWhereItWas) {
  const FeedId feed = Declare(KeyRange::Prefix("in/"));
  ASSERT_TRUE(Run(Putting("in/1", "")));
  auto page = feeds().Read(feed, {}, 10);
  ASSERT_TRUE(page);
  EXPECT_FALSE(page->more);
  ASSERT_TRUE(Run(Putting("out", "")));
  const auto empty = feeds().Read(feed, page->next, 10);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->entries.empty());
  EXPECT_TRUE(!engine().capabilities().total_order || empty->next > page->next);
  ASSERT_TRUE(Run(Putting("in/2", "")));
  EXPECT_EQ(LinesOf(feed, empty->next), Lines{"put in/2 -:"});
}

TEST_P(FeedTest, IsThereAgainAfterARestart) {
  const FeedId feed = Declare({"a", "b"});
  ASSERT_TRUE(Run(Putting("a1", "")));
  Restart();
  EXPECT_EQ(Declare({"a", "b"}), feed);
  ASSERT_TRUE(Run(Putting("a2", "")));
  EXPECT_EQ(LinesOf(feed), (Lines{"put a1 -:", "put a2 -:"}));
  EXPECT_NE(Declare({"a", "c"}), feed);
}

TEST_P(FeedTest, WhatIsTrimmedIsGoneAndWhoWantsItIsTold) {
  const FeedId feed = Declare(KeyRange::All());
  std::vector<Version> versions;
  for (int i = 0; i < 5; ++i) versions.push_back(MustRun(Putting("k" + std::to_string(i), "")));
  ASSERT_TRUE(feeds().Trim(feed, versions[2]).has_value());
  EXPECT_EQ(LinesOf(feed), (Lines{"put k2 -:", "put k3 -:", "put k4 -:"}));
  EXPECT_EQ(LinesOf(feed, {versions[2], 0}).size(), 3u);
  const auto missed = feeds().Read(feed, {versions[1], 0}, 10);
  ASSERT_EQ(CodeOf(missed), "not_found");
  EXPECT_EQ(missed.error().field("oldest"), versions[2].ToString());
  ASSERT_TRUE(feeds().Trim(feed, versions[0]).has_value()) << "what is gone is gone";
  EXPECT_EQ(CodeOf(feeds().Read(feed, {versions[1], 0}, 10)), "not_found");
  ASSERT_TRUE(feeds().Trim(feed, {UINT64_MAX}).has_value());
  EXPECT_EQ(LinesOf(feed), Lines{});
  ASSERT_TRUE(Run(Putting("k5", "")));
  EXPECT_EQ(LinesOf(feed), Lines{"put k5 -:"}) << "the future cannot be trimmed";
}

TEST_P(FeedTest, TrimmingSurvivesARestart) {
  const FeedId feed = Declare(KeyRange::All());
  ASSERT_TRUE(Run(Putting("a", "1")));
  const Version second = MustRun(Putting("a", "2"));
  ASSERT_TRUE(feeds().Trim(feed, second).has_value());
  Restart();
  EXPECT_EQ(LinesOf(feed), Lines{"put a 1:2"});
  EXPECT_EQ(CodeOf(feeds().Read(feed, {Version{1}, 0}, 10)), "not_found");
}

TEST_P(FeedTest, AFeedThatWasNeverDeclaredIsNotFound) {
  EXPECT_EQ(CodeOf(feeds().Read({7}, {}, 10)), "not_found");
  EXPECT_EQ(CodeOf(feeds().Trim({7}, kNoVersion)), "not_found");
}

// Commits come from all sides while the feed is declared: the first entry is that of some commit, and from then on not
// one is missing.
TEST_P(FeedTest, NoCommitAfterTheDeclarationGoesUnrecorded) {
  for (int round = 0; round < 10; ++round) {
    const std::string prefix = "round" + std::to_string(round) + "/";
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::set<Version> committed;
    std::vector<std::thread> writers;
    for (int w = 0; w < 3; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; !stop; ++i) {
          // Several at once, so that they are decided as a group.
          std::counting_semaphore<> answered{0};
          std::vector<Store::Request> batch;
          for (int b = 0; b < 4; ++b) {
            const Bytes key = prefix + std::to_string(w) + "-" + std::to_string(i) + "-" + std::to_string(b);
            batch.push_back({Putting(key, ""), Quick(), [&](Result<RunReport> report) {
                               ASSERT_TRUE(report) << report.error();
                               {
                                 const std::lock_guard lock(mutex);
                                 committed.insert(report->version);
                               }
                               answered.release();
                             }});
          }
          store().RunAsync(std::move(batch));
          for (int b = 0; b < 4; ++b) answered.acquire();
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const FeedId feed = Declare(KeyRange::Prefix(prefix));
    const auto declared = Find(FeedDeclarationKey(feed));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    stop = true;
    for (std::thread& writer : writers) writer.join();
    ASSERT_TRUE(declared);
    std::set<Version> expected;
    for (const Version version : committed) {
      if (version > declared->header.version) expected.insert(version);
    }
    std::set<Version> recorded;
    for (const FeedEntry& entry : ReadAll(feed)) recorded.insert(entry.position.version);
    EXPECT_EQ(recorded, expected) << round;
  }
}

TEST_P(FeedTest, ReplayingItGivesTheState) {
  const FeedId feed = Declare(KeyRange::Prefix("s/"));
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      std::mt19937 random(w);
      for (int i = 0; i < 60; ++i) {
        const uint32_t bits = random();
        const auto body = [bits](Txn& txn) -> Status {
          const Bytes key = "s/" + std::to_string(bits % 7);
          const Bytes counter = "s/n" + std::to_string(bits % 3);
          if (bits % 5 == 0) txn.Erase(key);
          if (bits % 11 == 0) txn.EraseRange({"s/2", "s/5"});
          if (bits % 5 != 0) txn.Put(key, std::to_string(bits));
          txn.Add(counter, bits % 100);
          return {};
        };
        ASSERT_TRUE(Run(body, Quick()));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::map<Bytes, Record> state;
  for (const FeedEntry& entry : ReadAll(feed, {}, 7)) {
    if (entry.op == Mutation::Op::kEraseRange) {
      const KeyRange range{entry.key, entry.end};
      std::erase_if(state, [&](const auto& one) { return range.Contains(BytesView(one.first)); });
      continue;
    }
    const auto found = state.find(entry.key);
    ASSERT_EQ(entry.before, found == state.end() ? std::nullopt : std::optional(found->second)) << LineOf(entry);
    state.erase(entry.key);
    if (entry.after) state.emplace(entry.key, *entry.after);
  }
  std::map<Bytes, Record> stored;
  ScanRequest request;
  request.range = KeyRange::Prefix("s/");
  for (const Found& found : Entries(*NewView(), request)) stored.emplace(found.key, Record{found.header, found.value});
  EXPECT_EQ(state, stored);
}

TEST_P(FeedTest, SubscribersAreToldOfEntries) {
  const FeedId feed = Declare(KeyRange::All());
  std::vector<FeedPosition> told;
  store().subscriptions().Watch(FeedEntries(feed), [&](const Mutation* mutation, Version) {
    if (mutation == nullptr) return;
    const auto entry = DecodeFeedEntry(mutation->key, mutation->value);
    ASSERT_TRUE(entry) << entry.error();
    told.push_back(entry->position);
  });
  const Version version = MustRun([](Txn& txn) -> Status {
    txn.Put("a", "");
    txn.Put("b", "");
    return {};
  });
  EXPECT_EQ(told, (std::vector<FeedPosition>{{version, 0}, {version, 1}}));
}

}  // namespace
}  // namespace kvarts::test
