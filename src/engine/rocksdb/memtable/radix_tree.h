// The entries of a memtable in the order of their keys: an adaptive radix tree.
//
// To find a key costs as much as the places at which others part from it, however many there are: at most one for each
// of its bytes. Keys are compared as bytes; of one key the newer versions come first (entry.h).
//
// One thread inserts. Any may read meanwhile, without a lock: what was inserted before a read began is found by it, and
// by a cursor, wherever it goes from there; what is inserted meanwhile may be.
#pragma once

#include <vector>

#include "engine/rocksdb/memtable/node.h"

namespace kvarts::memtable {

class RadixTree {
 public:
  explicit RadixTree(Space& space) : space_(space) {}
  RadixTree(const RadixTree&) = delete;
  RadixTree& operator=(const RadixTree&) = delete;

  // No entry with the same key and tag is there.
  void Insert(Entry* entry);

  // The newest of the key whose tag is at most this; null when there is none.
  const Entry* Find(const EntryKey& key) const;
  // About how many entries are before this place: of a key with many versions only nodes above it know how many.
  uint64_t CountBefore(const EntryKey& key) const;

  class Cursor {
   public:
    explicit Cursor(const RadixTree& tree) : tree_(tree) {}

    // Null: there is none.
    const Entry* entry() const { return entry_; }

    void ToFirst();
    void ToLast();
    // To the first that is not before this, and to the last that is not behind it.
    void ToAtLeast(const EntryKey& key);
    void ToAtMost(const EntryKey& key);
    // From an entry.
    void Next();
    void Previous();

   private:
    // What the path goes by, of a node.
    struct Step {
      static constexpr int kOwn = -1;

      const Node* node;
      int label;
    };

    void Begin() {
      path_.clear();
      newest_ = entry_ = nullptr;
    }
    void At(const Entry* newest) { newest_ = entry_ = newest; }
    // To the newest of the first key of what hangs there, and of the last.
    void Down(Child child);
    void DownToLast(Child child);
    // Whether there is another key beyond what the path stands at.
    void ToNextKey();
    void ToPreviousKey();

    const RadixTree& tree_;
    std::vector<Step> path_;
    const Entry* newest_ = nullptr;  // of the key
    const Entry* entry_ = nullptr;
  };

 private:
  // How the part of a key that is left compares with a node's prefix.
  struct Met {
    size_t common;
    int order;  // of the node's keys, against the key; zero: they have it as their prefix
  };
  static Met Meet(BytesView prefix, BytesView rest);

  void Split(Slot* slot, const Node& node, size_t common, Entry* entry, BytesView rest);
  void Part(Slot* slot, Entry* newest, Entry* entry, size_t depth);
  void AddChild(Slot* slot, Node* node, uint8_t label, Entry* entry);

  Space& space_;
  Slot root_;
  uint64_t random_ = 0x9E3779B97F4A7C15;
};

}  // namespace kvarts::memtable
