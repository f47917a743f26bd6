// The public interface as a program that embeds Kvarts uses it, on both engines.
#include "kvarts/database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "support/commits.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;

// Which limit an error names.
std::string LimitOf(const auto& result) { return result.has_value() ? "" : std::string(result.error().field("limit")); }

enum class Where { kMemory, kRocksDb };

class DatabaseTest : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override { Open({}); }
  void Open(Options options) {
    db_.reset();
    options.durability = Durability::kNone;
    auto opened =
        GetParam() == Where::kMemory ? Database::OpenInMemory(options) : Database::Open(temp_ / "data", options);
    ASSERT_TRUE(opened) << opened.error();
    db_.emplace(*std::move(opened));
  }
  Database& db() { return *db_; }
  std::string Get(std::string_view key) {
    const auto found = db().Get(key);
    EXPECT_TRUE(found) << found.error();
    return *found ? (*found)->value : "(nothing)";
  }
  static std::vector<std::string> KeysOf(const Page& page) {
    std::vector<std::string> keys;
    for (const Entry& entry : page.entries) keys.emplace_back(entry.key);
    return keys;
  }

 private:
  TempDir temp_;
  std::optional<Database> db_;
};
INSTANTIATE_TEST_SUITE_P(On, DatabaseTest, testing::Values(Where::kMemory, Where::kRocksDb),
                         [](const auto& where) { return where.param == Where::kMemory ? "memory" : "rocksdb"; });

TEST_P(DatabaseTest, PutsGetsAndDeletes) {
  const auto first = db().Put("a", "1");
  ASSERT_TRUE(first) << first.error();
  const auto second = db().Put("a", "2");
  EXPECT_GT(*second, *first);
  EXPECT_EQ((*db().Get("a"))->version, *second);
  EXPECT_EQ(Get("a"), "2");
  EXPECT_TRUE(db().Delete("a"));
  EXPECT_EQ(Get("a"), "(nothing)");
  const std::string_view keys[] = {"x", "a", ""};
  ASSERT_TRUE(db().Put("", "the empty key is a key"));
  const auto many = db().GetMany(keys);
  EXPECT_FALSE((*many)[0] || (*many)[1]);
  EXPECT_EQ((*many)[2]->value, "the empty key is a key");
}

TEST_P(DatabaseTest, ComparesAndSwaps) {
  const Version version = *db().Create("a", "1");
  EXPECT_EQ(CodeOf(db().Create("a", "2")), "already_exists");
  const auto stale = db().Replace("a", "2", Version{version.stamp - 1});
  EXPECT_EQ(CodeOf(stale), "precondition_failed");
  EXPECT_EQ(stale.error().field("version"), version.ToString());
  const auto swapped = db().Replace("a", "3", version);
  ASSERT_TRUE(swapped) << swapped.error();
  EXPECT_EQ(CodeOf(db().DeleteIf("a", version)), "precondition_failed");
  EXPECT_EQ(Get("a"), "3");
  EXPECT_TRUE(db().DeleteIf("a", *swapped));
  EXPECT_EQ(CodeOf(db().Replace("a", "4", *swapped)), "precondition_failed");
}

TEST_P(DatabaseTest, ScansPageByPageInBothDirections) {
  for (const char* key : {"b1", "b2", "b3", "a", "c"}) ASSERT_TRUE(db().Put(key, "v"));
  for (const bool reverse : {false, true}) {
    ScanOptions options{.limit = 2, .reverse = reverse};
    const auto first = db().Scan(Range::Prefix("b"), options);
    ASSERT_TRUE(first && first->cursor);
    options.cursor = *first->cursor;
    const auto rest = db().Scan(Range::Prefix("b"), options);
    ASSERT_TRUE(rest) << rest.error();
    EXPECT_FALSE(rest->cursor);
    std::vector<std::string> keys = KeysOf(*first);
    for (const std::string& key : KeysOf(*rest)) keys.push_back(key);
    if (reverse) std::ranges::reverse(keys);
    EXPECT_THAT(keys, ElementsAre("b1", "b2", "b3"));
    // A cursor belongs to its query.
    EXPECT_EQ(CodeOf(db().Scan(Range::Prefix("a"), options)), "invalid_argument");
    options.cursor[3] ^= 1;
    EXPECT_EQ(CodeOf(db().Scan(Range::Prefix("b"), options)), "invalid_argument");
  }
  const auto keys_only = db().Scan(Range::All(), {.keys_only = true});
  EXPECT_EQ(keys_only->entries.size(), 5u);
  EXPECT_EQ(keys_only->entries[0].value, "");
  EXPECT_EQ(CodeOf(db().Scan({"b", "a"})), "invalid_argument");
}

TEST_P(DatabaseTest, CursorsGrowOld) {
  Options options;
  options.max_cursor_age = Duration::Millis(1);
  Open(options);
  for (const char* key : {"a", "b"}) ASSERT_TRUE(db().Put(key, ""));
  const auto page = db().Scan(Range::All(), {.limit = 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(CodeOf(db().Scan(Range::All(), {.cursor = *page->cursor})), "invalid_argument");
}

TEST_P(DatabaseTest, TransactionsAreWholeAndSeeTheirOwnWrites) {
  ASSERT_TRUE(db().Put("ada", "100"));
  const auto moved = db().Transact([](Transaction& txn) -> Result<std::string> {
    KVARTS_TRY(const auto from, txn.Get("ada"));
    KVARTS_CHECK_OK(txn.Put("ada", std::to_string(std::stoi(from->value) - 30)));
    KVARTS_CHECK_OK(txn.Put("grace", "30"));
    KVARTS_TRY(const auto seen, txn.Scan(Range::All()));
    return fmt::format("{}+{}", seen.entries[0].value, seen.entries[1].value);
  });
  ASSERT_TRUE(moved) << moved.error();
  EXPECT_EQ(*moved, "70+30");
  EXPECT_EQ((*db().Get("ada"))->version, (*db().Get("grace"))->version);
  const Status refused = db().Transact([](Transaction& txn) -> Status {
    KVARTS_CHECK_OK(txn.DeleteRange(Range::All()));
    return Error(ErrorCode::kPreconditionFailed, "changed my mind");
  });
  EXPECT_EQ(CodeOf(refused), "precondition_failed");
  EXPECT_EQ(Get("ada"), "70");
}

TEST_P(DatabaseTest, ATransactionSaysItsVersion) {
  Version version;
  ASSERT_TRUE(db().Transact([](Transaction& txn) { return txn.Put("key", "value"); }, {}, &version));
  EXPECT_EQ(version, (*db().Get("key"))->version);
  const auto read = [](Transaction& txn) { return txn.Get("key"); };
  const Version written = std::exchange(version, {});
  ASSERT_TRUE(db().Transact(read, {}, &version));
  EXPECT_GE(version, written);
}

TEST_P(DatabaseTest, APageKeepsWhatItsEntriesReferTo) {
  ASSERT_TRUE(db().Put("a", "1", {.ttl = Duration::Seconds(60)}));
  ASSERT_TRUE(db().Put("b", std::string(1000, 'b')));
  ASSERT_TRUE(db().Add("n", 42));
  std::vector<Entry> entries;
  std::shared_ptr<const void> memory;
  {
    auto page = db().Scan(Range::All());
    ASSERT_TRUE(page) << page.error();
    entries = page->entries;
    memory = page->memory;
  }
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].value, "1");
  EXPECT_TRUE(entries[0].expiry.has_value());
  EXPECT_EQ(entries[0].version, (*db().Get("a"))->version);
  EXPECT_EQ(entries[1].value, std::string(1000, 'b'));
  EXPECT_FALSE(entries[1].expiry.has_value());
  EXPECT_EQ(entries[2].key, "n");
  EXPECT_EQ(entries[2].value, "42");
}

TEST_P(DatabaseTest, NoIncrementIsLostAmongThreads) {
  ASSERT_TRUE(db().Put("n", "0"));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Status added = db().Transact([](Transaction& txn) -> Status {
          KVARTS_TRY(const auto n, txn.Get("n"));
          return txn.Put("n", std::to_string(std::stoi(n->value) + 1));
        });
        ASSERT_TRUE(added) << added.error();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(Get("n"), "200");
}

TEST_P(DatabaseTest, WhatABodyThrowsReachesItsCaller) {
  const auto throwing = [](Transaction& txn) -> Status {
    KVARTS_CHECK_OK(txn.Put("a", ""));
    throw std::out_of_range("by the body");
  };
  EXPECT_THROW(IgnoreError(db().Transact(throwing)), std::out_of_range);
  EXPECT_EQ(Get("a"), "(nothing)");
  EXPECT_TRUE(db().Put("a", "the store goes on"));
}

TEST_P(DatabaseTest, CountersAddUpAndSayWhenTheyAreFull) {
  EXPECT_TRUE(db().Add("hits", 5));
  EXPECT_TRUE(db().Add("hits", -7));
  EXPECT_EQ(*db().GetCounter("hits"), -2);
  EXPECT_EQ(Get("hits"), "-2");
  EXPECT_EQ(*db().GetCounter("none"), 0);
  EXPECT_TRUE(db().Add("full", INT64_MAX));
  EXPECT_TRUE(db().Add("full", 1));
  EXPECT_EQ(CodeOf(db().GetCounter("full")), "too_large");
  ASSERT_TRUE(db().Put("text", "5"));
  EXPECT_EQ(CodeOf(db().GetCounter("text")), "invalid_argument");
}

TEST_P(DatabaseTest, ValuesExpire) {
  ASSERT_TRUE(db().Put("short", "", {.ttl = Duration::Millis(20)}));
  ASSERT_TRUE(db().Put("long", "", {.ttl = Duration::Seconds(3600)}));
  EXPECT_GT((*db().Get("long"))->expiry, db().Now());
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  EXPECT_EQ(Get("short"), "(nothing)");
  EXPECT_THAT(KeysOf(*db().Scan(Range::All())), ElementsAre("long"));
  for (const Duration bad : {Duration{0}, Duration{-1}, Duration{INT64_MAX}}) {
    EXPECT_EQ(CodeOf(db().Put("bad", "", {.ttl = bad})), "invalid_argument") << bad.micros;
    EXPECT_EQ(CodeOf(db().Create("bad", "", {.ttl = bad})), "invalid_argument") << bad.micros;
  }
  EXPECT_EQ(Get("bad"), "(nothing)");
}

TEST_P(DatabaseTest, SnapshotsStandStill) {
  Options options;
  options.max_views = 1;
  Open(options);
  ASSERT_TRUE(db().Put("a", "then"));
  {
    const auto snapshot = db().OpenSnapshot();
    ASSERT_TRUE(snapshot) << snapshot.error();
    ASSERT_TRUE(db().Put("a", "now"));
    EXPECT_EQ((*(*snapshot)->Get("a"))->value, "then");
    EXPECT_EQ((*snapshot)->Scan(Range::All())->entries[0].value, "then");
    EXPECT_EQ(LimitOf(db().OpenSnapshot()), "max_views");
  }
  EXPECT_TRUE(db().OpenSnapshot());
}

TEST_P(DatabaseTest, WatchesTellInCommitOrder) {
  const auto watch = *db().WatchPrefix("w");
  ASSERT_TRUE(db().Put("w1", "a"));
  ASSERT_TRUE(db().Put("other", ""));
  ASSERT_TRUE(db().Add("w2", 3));
  ASSERT_TRUE(db().DeleteRange(Range::Prefix("w")));
  const auto put = *watch->Next(Duration::Seconds(10));
  ASSERT_TRUE(put);
  EXPECT_EQ(put->key + "=" + put->value, "w1=a");
  EXPECT_EQ((*watch->Next(Duration::Seconds(10)))->delta, 3);
  const auto erased = *watch->Next(Duration::Seconds(10));
  EXPECT_EQ(erased->kind, Change::Kind::kDeleteRange);
  EXPECT_EQ(erased->key + ".." + erased->end, "w..x");
  EXPECT_FALSE(*watch->Next(Duration::Millis(1)));
}

TEST_P(DatabaseTest, AWatchThatFallsBehindSaysSo) {
  Options options;
  options.max_watch_backlog = 2;
  options.max_watch_backlog_bytes = 100;
  Open(options);
  const auto after = [&](const std::vector<std::string>& values) {
    const auto watch = *db().WatchPrefix("w");
    for (const std::string& value : values) EXPECT_TRUE(db().Put("w", value));
    EXPECT_TRUE(db().Sync());
    std::string seen;
    while (true) {
      const auto next = watch->Next(Duration::Millis(50));
      if (!next || !*next) return seen + CodeOf(next) + LimitOf(next);
      seen += "+";
    }
  };
  EXPECT_EQ(after({"1", "2"}), "++ok");
  EXPECT_EQ(after({"1", "2", "3"}), "++overloadedmax_watch_backlog");
  EXPECT_EQ(after({std::string(90, 'x')}), "+ok");
  EXPECT_EQ(after({std::string(90, 'x'), std::string(20, 'x')}), "+overloadedmax_watch_backlog_bytes");
}

TEST_P(DatabaseTest, LimitsAreNamedAndNothingIsWritten) {
  Options options;
  options.max_key_bytes = 10;
  options.max_value_bytes = 10;
  options.max_commit_operations = 2;
  options.max_page_entries = 3;
  Open(options);
  EXPECT_TRUE(db().Put("ten bytes.", "ten bytes."));
  EXPECT_EQ(LimitOf(db().Put("eleven byte", "")), "max_key_bytes");
  EXPECT_EQ(LimitOf(db().Get("eleven byte")), "max_key_bytes");
  EXPECT_EQ(LimitOf(db().Put("a", "eleven byte")), "max_value_bytes");
  EXPECT_TRUE(db().Scan(Range::All(), {.limit = 3}));
  EXPECT_EQ(LimitOf(db().Scan(Range::All(), {.limit = 4})), "max_page_entries");
  const auto putting = [](int n) {
    return [n](Transaction& txn) -> Status {
      for (int i = 0; i < n; ++i) KVARTS_CHECK_OK(txn.Put("k" + std::to_string(i), ""));
      return {};
    };
  };
  EXPECT_EQ(LimitOf(db().Transact(putting(3))), "max_commit_operations");
  EXPECT_EQ(Get("k0"), "(nothing)");
  EXPECT_TRUE(db().Transact(putting(2)));
}

TEST(DatabaseDirectory, KeepsWhatWasWrittenAndSaysWhatIsWrong) {
  const TempDir temp;
  Options no_create;
  no_create.create_if_missing = false;
  EXPECT_EQ(CodeOf(Database::Open(temp / "a/b/data", no_create)), "not_found");
  {
    auto db = Database::Open(temp / "a/b/data");
    ASSERT_TRUE(db) << db.error();
    ASSERT_TRUE(db->Put("a", "kept"));
    EXPECT_EQ(CodeOf(Database::Open(temp / "a/b/data")), "unavailable");
  }
  auto again = Database::Open(temp / "a/b/data", no_create);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ((*again->Get("a"))->value, "kept");
}

}  // namespace
}  // namespace kvarts::test
