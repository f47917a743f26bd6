#include "engine/rocksdb/memtable/node.h"

#include <bit>
#include <new>

namespace kvarts::memtable {
namespace {

// A set of labels.
class Labels {
 public:
  void Add(uint8_t label) {
    std::atomic<uint64_t>& word = words_[label / 64];
    word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << label % 64, std::memory_order_release);
  }
  // -1: there is none.
  int AtLeast(int label) const {
    for (int word = label / 64; label < 256; label = ++word * 64) {
      const uint64_t rest = words_[static_cast<size_t>(word)].load(std::memory_order_acquire) >> label % 64;
      if (rest != 0) return label + std::countr_zero(rest);
    }
    return -1;
  }
  int AtMost(int label) const {
    for (int word = label / 64; label >= 0; label = word-- * 64 - 1) {
      const uint64_t rest = words_[static_cast<size_t>(word)].load(std::memory_order_acquire) << (63 - label % 64);
      if (rest != 0) return label - std::countl_zero(rest);
    }
    return -1;
  }

 private:
  std::array<std::atomic<uint64_t>, 4> words_{};
};

}  // namespace

// In the order in which they came. Labels stand eight to a word, and all of a word are compared at once.
template <size_t kMost>
class Node::Few final : public Node {
 public:
  static constexpr Kind kKind = kMost == 4 ? Kind::k4 : Kind::k16;
  explicit Few(BytesView prefix) : Node(kKind, prefix) {}

  Slot* Find(uint8_t label) {
    const size_t count = count_.load(std::memory_order_acquire);
    for (size_t first = 0; first < count; first += kPerWord) {
      const uint64_t differ = labels_[first / kPerWord].load(std::memory_order_relaxed) ^ (kOnes * label);
      // The lowest byte of zero has its highest bit here, and none below it has.
      const uint64_t equal = (differ - kOnes) & ~differ & kOnes << 7;
      if (equal == 0) continue;
      const size_t at = first + static_cast<size_t>(std::countr_zero(equal)) / 8;
      return at < count ? &children_[at] : nullptr;  // what is free is zero, and behind the others
    }
    return nullptr;
  }
  template <class Better>
  std::optional<Labelled> Best(Better better) const {
    const size_t count = count_.load(std::memory_order_acquire);
    int best = -1;
    size_t best_at = 0;
    for (size_t at = 0; at < count; ++at) {
      const uint64_t word = labels_[at / kPerWord].load(std::memory_order_relaxed);
      const int label = static_cast<uint8_t>(word >> at % kPerWord * 8);
      if (!better(label, best)) continue;
      best = label;
      best_at = at;
    }
    if (best < 0) return std::nullopt;
    return Labelled{static_cast<uint8_t>(best), children_[best_at].Load()};
  }
  std::optional<Labelled> AtLeast(int least) const {
    return Best([least](int label, int best) { return label >= least && (best < 0 || label < best); });
  }
  std::optional<Labelled> AtMost(int most) const {
    return Best([most](int label, int best) { return label <= most && label > best; });
  }
  bool Add(uint8_t label, Child child) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == kMost) return false;
    children_[count].Store(child);
    std::atomic<uint64_t>& word = labels_[count / kPerWord];
    word.store(word.load(std::memory_order_relaxed) | uint64_t{label} << count % kPerWord * 8,
               std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr size_t kPerWord = sizeof(uint64_t);
  static constexpr uint64_t kOnes = 0x0101010101010101;

  std::array<std::atomic<uint64_t>, (kMost + kPerWord - 1) / kPerWord> labels_{};
  std::array<Slot, kMost> children_;
};

// In the order in which they came, with the place of each by its label.
class Node::Some final : public Node {
 public:
  static constexpr Kind kKind = Kind::k48;
  explicit Some(BytesView prefix) : Node(kKind, prefix) {}

  Slot* Find(uint8_t label) {
    const uint8_t place = places_[label].load(std::memory_order_acquire);
    return place == 0 ? nullptr : &children_[place - 1U];
  }
  std::optional<Labelled> AtLeast(int least) const { return At(labels_.AtLeast(least)); }
  std::optional<Labelled> AtMost(int most) const { return At(labels_.AtMost(most)); }
  bool Add(uint8_t label, Child child) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == kMost) return false;
    children_[count].Store(child);
    places_[label].store(static_cast<uint8_t>(count + 1), std::memory_order_release);
    labels_.Add(label);
    count_.store(count + 1, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr uint32_t kMost = 48;

  std::optional<Labelled> At(int label) const {
    if (label < 0) return std::nullopt;
    const uint8_t place = places_[static_cast<size_t>(label)].load(std::memory_order_acquire);
    return Labelled{static_cast<uint8_t>(label), children_[place - 1U].Load()};
  }

  Labels labels_;
  std::array<std::atomic<uint8_t>, 256> places_{};  // from one
  std::array<Slot, kMost> children_;
};

class Node::All final : public Node {
 public:
  static constexpr Kind kKind = Kind::k256;
  explicit All(BytesView prefix) : Node(kKind, prefix) {}

  Slot* Find(uint8_t label) { return children_[label].Load() ? &children_[label] : nullptr; }
  std::optional<Labelled> AtLeast(int least) const { return At(labels_.AtLeast(least)); }
  std::optional<Labelled> AtMost(int most) const { return At(labels_.AtMost(most)); }
  bool Add(uint8_t label, Child child) {
    children_[label].Store(child);
    labels_.Add(label);
    return true;
  }

 private:
  std::optional<Labelled> At(int label) const {
    if (label < 0) return std::nullopt;
    return Labelled{static_cast<uint8_t>(label), children_[static_cast<size_t>(label)].Load()};
  }

  Labels labels_;
  std::array<Slot, 256> children_;
};

Node::Node(Kind kind, BytesView prefix) : kind_(kind), prefix_bytes_(static_cast<uint32_t>(prefix.size())), near_{} {
  if (prefix.size() > kNear) {
    far_ = prefix.data();
  } else {
    prefix.copy(near_, kNear);
  }
}

template <class Function>
auto Node::OfKind(Kind kind, Function function) {
  switch (kind) {
    case Kind::k4:
      return function(static_cast<Few<4>*>(nullptr));
    case Kind::k16:
      return function(static_cast<Few<16>*>(nullptr));
    case Kind::k48:
      return function(static_cast<Some*>(nullptr));
    case Kind::k256:
      break;
  }
  return function(static_cast<All*>(nullptr));
}

template <class Function>
auto Node::As(auto& node, Function function) {
  return OfKind(node.kind_, [&]<class Type>(Type*) {
    using Cast = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(node)>>, const Type, Type>;
    return function(static_cast<Cast&>(node));
  });
}

Node* Node::New(BytesView prefix, Space& space) { return new (space.Allocate(sizeof(Few<4>))) Few<4>(prefix); }

Node* Node::Copy(const Node& node, BytesView prefix, Kind kind, Space& space) {
  return OfKind(kind, [&]<class Type>(Type*) -> Node* {
    auto* const copy = new (space.Allocate(sizeof(Type))) Type(prefix);
    copy->own().Store(node.own().Load());
    copy->CountEntries(node.entries());
    for (auto child = node.AtLeast(0); child; child = node.AtLeast(child->label + 1)) {
      copy->Add(child->label, child->child);
    }
    return copy;
  });
}

Slot* Node::Find(uint8_t label) {
  return As(*this, [label](auto& node) { return node.Find(label); });
}

std::optional<Node::Labelled> Node::AtLeast(int label) const {
  return As(*this, [label](const auto& node) { return node.AtLeast(label); });
}

std::optional<Node::Labelled> Node::AtMost(int label) const {
  return As(*this, [label](const auto& node) { return node.AtMost(label); });
}

bool Node::Add(uint8_t label, Child child) {
  return As(*this, [&](auto& node) { return node.Add(label, child); });
}

}  // namespace kvarts::memtable
