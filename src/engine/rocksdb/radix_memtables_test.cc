// The memtable in RocksDB's hands, beside its own.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <random>
#include <thread>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/memtable/rep.h"
#include "support/temp_dir.h"

namespace kvarts {
namespace {

using test::TempDir;

class Store {
 public:
  explicit Store(std::shared_ptr<rocksdb::MemTableRepFactory> memtables) : memtables_(std::move(memtables)) { Open(); }

  void Open() {
    db_.reset();
    rocksdb::Options options;
    options.create_if_missing = true;
    options.allow_concurrent_memtable_write = false;
    if (memtables_ != nullptr) options.memtable_factory = memtables_;
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, dir_ / "db", &opened);
    EXPECT_TRUE(status.ok()) << status.ToString();
    db_.reset(opened);
  }
  rocksdb::DB* operator->() { return db_.get(); }

  std::string Get(const std::string& key, const rocksdb::Snapshot* at) {
    rocksdb::ReadOptions options;
    options.snapshot = at;
    std::string value;
    return InRocks([&] { return db_->Get(options, key, &value); }).ok() ? value : "none";
  }
  // From a place on, in one direction.
  std::string Walk(const std::string& from, bool backwards, const rocksdb::Snapshot* at) {
    return InRocks([&] { return WalkIn(from, backwards, at); });
  }

 private:
  std::string WalkIn(const std::string& from, bool backwards, const rocksdb::Snapshot* at) {
    rocksdb::ReadOptions options;
    options.snapshot = at;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options));
    std::string walked;
    backwards ? iterator->SeekForPrev(from) : iterator->Seek(from);
    for (int steps = 0; steps < 20 && iterator->Valid(); ++steps) {
      walked += iterator->key().ToString() + "=" + iterator->value().ToString() + " ";
      // And back again, now and then.
      const bool forth = (steps % 5 == 4) == backwards;
      forth ? iterator->Next() : iterator->Prev();
    }
    return walked;
  }

  TempDir dir_;
  const std::shared_ptr<rocksdb::MemTableRepFactory> memtables_;
  std::unique_ptr<rocksdb::DB> db_;
};

TEST(RadixMemtables, AnswerLikeASkipList) {
  Store ours(MakeRadixMemtables());
  Store theirs(nullptr);
  std::mt19937_64 random(5);  // NOLINT: the same ones each time
  const auto key = [&] { return std::string(random() % 4, 'a') + std::to_string(random() % 300); };
  const rocksdb::Snapshot* our_past = nullptr;
  const rocksdb::Snapshot* their_past = nullptr;
  const auto forget = [&] {
    if (our_past == nullptr) return;
    ours->ReleaseSnapshot(std::exchange(our_past, nullptr));
    theirs->ReleaseSnapshot(std::exchange(their_past, nullptr));
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string one = key();
    const std::string other = key();
    const uint64_t what = random() % 1'000;
    const auto both = [&](auto change) {
      EXPECT_TRUE(InRocks([&] { return change(ours); }).ok());
      EXPECT_TRUE(InRocks([&] { return change(theirs); }).ok());
    };
    if (what < 600) {
      both([&](Store& store) { return store->Put({}, one, std::to_string(i)); });
    } else if (what < 800) {
      both([&](Store& store) { return store->Delete({}, one); });
    } else if (what < 805) {
      const auto [first, last] = std::minmax(one, other);
      both([&, first = first, last = last](Store& store) {
        return store->DeleteRange({}, store->DefaultColumnFamily(), first, last);
      });
    } else if (what < 820) {
      forget();
      our_past = ours->GetSnapshot();
      their_past = theirs->GetSnapshot();
    } else if (what < 822) {
      both([&](Store& store) { return store->Flush({}); });
    } else if (what < 823) {
      forget();
      ours.Open();
      theirs.Open();
    }
    const bool past = random() % 2 != 0;
    const rocksdb::Snapshot* const our_time = past ? our_past : nullptr;
    const rocksdb::Snapshot* const their_time = past ? their_past : nullptr;
    ASSERT_EQ(ours.Get(one, our_time), theirs.Get(one, their_time)) << one;
    if (what % 10 != 0) continue;
    const bool backwards = random() % 2 != 0;
    ASSERT_EQ(ours.Walk(other, backwards, our_time), theirs.Walk(other, backwards, their_time)) << other;
  }
  forget();
}

TEST(RadixMemtables, TellAboutHowMuchARangeHas) {
  Store store(MakeRadixMemtables());
  for (int i = 1'000; i < 3'000; ++i) ASSERT_TRUE(store->Put({}, std::to_string(i), "x").ok());
  const auto count = [&](const std::string& from, const std::string& to) {
    uint64_t entries = 0;
    uint64_t bytes = 0;
    store->GetApproximateMemTableStats({from, to}, &entries, &bytes);
    return entries;
  };
  EXPECT_EQ(count("1500", "1600"), 100u);
  EXPECT_EQ(count("0", "9"), 2'000u);
  EXPECT_EQ(count("9", "99"), 0u);
  EXPECT_EQ(count("1600", "1500"), 0u);
}

// Their memory is given back by whichever thread ends them.
TEST(RadixMemtables, IteratorsMayEndOnAnotherThread) {
  Store store(MakeRadixMemtables());
  ASSERT_TRUE(store->Put({}, "k", "v").ok());
  for (int i = 0; i < 100; ++i) {
    std::unique_ptr<rocksdb::Iterator> iterator(store->NewIterator({}));
    iterator->SeekToFirst();
    EXPECT_TRUE(iterator->Valid());
    if (i % 3 == 0) std::thread([ending = std::move(iterator)]() mutable { ending.reset(); }).join();
  }
}

}  // namespace
}  // namespace kvarts
