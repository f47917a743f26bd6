#include "engine/rocksdb/memtable/rep.h"

#include <memory>
#include <new>
#include <utility>

#include "engine/rocksdb/memtable/radix_tree.h"

namespace kvarts {
namespace {

using memtable::Entry;
using memtable::EntryKey;
using memtable::RadixTree;
using memtable::SplitKey;
using rocksdb::MemTableRep;
using rocksdb::Slice;

BytesView ViewOf(const Slice& slice) { return {slice.data(), slice.size()}; }

// RocksDB takes an iterator's memory from an arena of its own, whose class it shows nobody, and then calls its
// destructor alone. So the memory is kept until the thread that ended one ends the next: by then the first is gone.
void KeepUntilTheNextEnds(void* memory) {
  struct Free {
    void operator()(void* ended) const { ::operator delete(ended); }
  };
  thread_local std::unique_ptr<void, Free> last;
  last.reset(memory);
}

class TreeIterator final : public MemTableRep::Iterator {
 public:
  TreeIterator(const RadixTree& tree, bool in_arena) : cursor_(tree), in_arena_(in_arena) {}
  ~TreeIterator() override {
    if (in_arena_) KeepUntilTheNextEnds(this);
  }

  bool Valid() const override { return cursor_.entry() != nullptr; }
  const char* key() const override { return cursor_.entry()->encoded(); }
  void Next() override { cursor_.Next(); }
  void Prev() override { cursor_.Previous(); }
  void Seek(const Slice& internal_key, const char*) override { cursor_.ToAtLeast(SplitKey(ViewOf(internal_key))); }
  void SeekForPrev(const Slice& internal_key, const char*) override {
    cursor_.ToAtMost(SplitKey(ViewOf(internal_key)));
  }
  void SeekToFirst() override { cursor_.ToFirst(); }
  void SeekToLast() override { cursor_.ToLast(); }

 private:
  RadixTree::Cursor cursor_;
  const bool in_arena_;
};

// For RocksDB's Get, which looks at the versions of one key alone. It stands on the stack of whoever asks: RocksDB 7.8
// forgets to delete it. A version that does not may destroy it there, which changes nothing, and frees nothing.
class OneKeyIterator final : public MemTableRep::Iterator {
 public:
  explicit OneKeyIterator(const RadixTree& tree) : tree_(tree) {}
  static void operator delete(void*) {}

  bool Valid() const override { return entry_ != nullptr; }
  const char* key() const override { return entry_->encoded(); }
  void Next() override { entry_ = OlderThan(*entry_); }
  void Seek(const Slice& internal_key, const char*) override { entry_ = tree_.Find(SplitKey(ViewOf(internal_key))); }
  // Of all others nobody makes use.
  void Prev() override { entry_ = nullptr; }
  void SeekForPrev(const Slice&, const char*) override { entry_ = nullptr; }
  void SeekToFirst() override { entry_ = nullptr; }
  void SeekToLast() override { entry_ = nullptr; }

 private:
  const RadixTree& tree_;
  const Entry* entry_ = nullptr;
};

// Of a Get of this thread, until it has asked for it.
thread_local OneKeyIterator* getting = nullptr;

class RadixRep final : public MemTableRep, private memtable::Space {
 public:
  explicit RadixRep(rocksdb::Allocator* allocator)
      : MemTableRep(allocator), tree_(static_cast<memtable::Space&>(*this)) {}

  rocksdb::KeyHandle Allocate(size_t bytes, char** encoded) override {
    auto* const entry = new (Aligned(sizeof(Entry) + bytes)) Entry();
    *encoded = entry->encoded();
    return *encoded;
  }
  void Insert(rocksdb::KeyHandle handle) override { tree_.Insert(Entry::Of(static_cast<char*>(handle))); }
  bool Contains(const char* encoded) const override {
    const EntryKey key = SplitKey(ViewOf(rocksdb::GetLengthPrefixedSlice(encoded)));
    const Entry* const found = tree_.Find(key);
    return found != nullptr && found->key().tag == key.tag;
  }
  uint64_t ApproximateNumEntries(const Slice& start, const Slice& end) override {
    const uint64_t before = tree_.CountBefore(SplitKey(ViewOf(start)));
    const uint64_t all = tree_.CountBefore(SplitKey(ViewOf(end)));
    return all < before ? 0 : all - before;
  }
  // All of it is the allocator's.
  size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(rocksdb::Arena* arena) override { return new TreeIterator(tree_, arena != nullptr); }
  // What a LookupKey is RocksDB tells nobody. Its own Get knows: it asks for an iterator, and tells that.
  void Get(const rocksdb::LookupKey& key, void* arguments, bool (*take)(void*, const char*)) override {
    OneKeyIterator iterator(tree_);
    getting = &iterator;
    MemTableRep::Get(key, arguments, take);
    getting = nullptr;
  }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    if (OneKeyIterator* const iterator = std::exchange(getting, nullptr)) return iterator;
    return GetIterator(arena);
  }

 private:
  char* Allocate(size_t bytes) override { return Aligned(bytes); }
  char* Aligned(size_t bytes) {
    constexpr uintptr_t kMask = alignof(Entry) - 1;
    char* memory = nullptr;
    MemTableRep::Allocate(bytes + kMask, &memory);
    return memory + (-reinterpret_cast<uintptr_t>(memory) & kMask);
  }

  RadixTree tree_;
};

class RadixMemtables final : public rocksdb::MemTableRepFactory {
 public:
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&, rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform*, rocksdb::Logger*) override {
    return new RadixRep(allocator);
  }
  const char* Name() const override { return "KvartsRadixMemtable"; }
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> MakeRadixMemtables() { return std::make_shared<RadixMemtables>(); }

}  // namespace kvarts
