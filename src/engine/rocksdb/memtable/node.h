// Nodes of the radix tree of a memtable.
//
// A node stands for a part that keys have in common: its prefix. It has a child for each byte that some key has next,
// and an entry of its own for the key that ends there. Its kind says for how many children there is room: four,
// sixteen, 48, or all; one that is full is replaced by a larger copy.
//
// One thread changes nodes, and any may read them meanwhile. Of what a reader has once found nothing goes away:
// children are added and replaced, each by one store, and a prefix never changes. A node that was replaced stays as it
// was then, for those who are still at it; what came later they need not see.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "engine/rocksdb/memtable/entry.h"

namespace kvarts::memtable {

class Node;

// Nothing, a node, or the newest entry of a key.
class Child {
 public:
  Child() = default;
  explicit Child(Node* node) : bits_(reinterpret_cast<uintptr_t>(node)) {}
  explicit Child(const Entry* newest) : bits_(reinterpret_cast<uintptr_t>(newest) | kIsEntry) {}

  explicit operator bool() const { return bits_ != 0; }
  // Null when it is something else.
  Node* node() const { return (bits_ & kIsEntry) == 0 ? reinterpret_cast<Node*>(bits_) : nullptr; }
  Entry* entry() const { return (bits_ & kIsEntry) != 0 ? reinterpret_cast<Entry*>(bits_ & ~kIsEntry) : nullptr; }

 private:
  static constexpr uintptr_t kIsEntry = 1;
  uintptr_t bits_ = 0;
};

// A reader sees all of what it loads here.
class Slot {
 public:
  Child Load() const { return child_.load(std::memory_order_acquire); }
  void Store(Child child) { child_.store(child, std::memory_order_release); }

 private:
  std::atomic<Child> child_{};
};

class Node {
 public:
  enum class Kind : uint8_t { k4, k16, k48, k256 };
  struct Labelled {
    uint8_t label;
    Child child;
  };

  // With room for four. A prefix of more than kNear bytes is part of an entry, which is there as long as the node.
  static Node* New(BytesView prefix, Space& space);
  // With the same children, and perhaps room for more.
  static Node* Copy(const Node& node, BytesView prefix, Kind kind, Space& space);

  Kind kind() const { return kind_; }
  BytesView prefix() const { return {prefix_bytes_ <= kNear ? near_ : far_, prefix_bytes_}; }
  Slot& own() { return own_; }
  const Slot& own() const { return own_; }

  // Null when there is none.
  Slot* Find(uint8_t label);
  // That with the smallest label of at least this, and with the largest of at most this.
  std::optional<Labelled> AtLeast(int label) const;
  std::optional<Labelled> AtMost(int label) const;

  // False when there is no room. The label is a new one.
  bool Add(uint8_t label, Child child);

  // How many entries hang here.
  uint32_t entries() const { return entries_.load(std::memory_order_relaxed); }
  void CountEntries(uint32_t more) { entries_.store(entries() + more, std::memory_order_relaxed); }

 protected:
  Node(Kind kind, BytesView prefix);

 private:
  template <size_t kMost>
  class Few;
  class Some;
  class All;

  static constexpr uint32_t kNear = 8;

  // Calls a function with a null pointer to the class of a kind.
  template <class Function>
  static auto OfKind(Kind kind, Function function);
  // Calls a function with it as what it is.
  template <class Function>
  static auto As(auto& node, Function function);

  const Kind kind_;
  const uint32_t prefix_bytes_;
  union {
    char near_[kNear];
    const char* far_;
  };
  Slot own_;
  std::atomic<uint32_t> entries_{0};

 protected:
  // Children, which are found in it by those who have seen it so large.
  std::atomic<uint32_t> count_{0};
};

}  // namespace kvarts::memtable
