#include "engine/rocksdb/memtable/entry.h"

#include <new>

namespace kvarts::memtable {

// Stands before an entry, whose tag it has. Nothing is ever added between the two.
struct Anchor {
  Entry* entry;
  uint64_t tag;
  const Anchor* older;  // itself: there is none
  const Anchor* jump;   // to an older one; itself: there is none
  uint32_t number;      // from the oldest
};

namespace {

constexpr uintptr_t kIsAnchor = 1;
// One entry in so many has an anchor before it.
constexpr uint64_t kBetweenAnchors = 32;

const Anchor* AnchorOf(uintptr_t link) {
  return (link & kIsAnchor) == 0 ? nullptr : reinterpret_cast<const Anchor*>(link & ~kIsAnchor);
}

Entry* Behind(uintptr_t link) {
  const Anchor* const anchor = AnchorOf(link);
  return anchor == nullptr ? reinterpret_cast<Entry*>(link) : anchor->entry;
}

const Anchor* FirstAnchor(const Entry* entry) {
  for (; entry != nullptr; entry = OlderThan(*entry)) {
    if (const Anchor* const anchor = AnchorOf(entry->older.load(std::memory_order_relaxed))) return anchor;
  }
  return nullptr;
}

// Two jumps of the same length become one of their sum, so from any anchor another is found in logarithmic time.
const Anchor* NewAnchor(Entry* entry, Space& space) {
  auto* const anchor = new (space.Allocate(sizeof(Anchor))) Anchor{entry, entry->key().tag, nullptr, nullptr, 0};
  const Anchor* const older = FirstAnchor(entry);
  if (older == nullptr) {
    anchor->older = anchor->jump = anchor;
    return anchor;
  }
  const Anchor* const jump = older->jump;
  const bool alike = older->number - jump->number == jump->number - jump->jump->number;
  anchor->older = older;
  anchor->jump = alike ? jump->jump : older;
  anchor->number = older->number + 1;
  return anchor;
}

// The oldest of which this holds; it holds of the newest, and of none behind one of which it does not.
template <class Holds>
const Entry* Last(const Entry* newest, Holds holds) {
  const Entry* entry = newest;
  while (true) {
    const uintptr_t link = entry->older.load(std::memory_order_acquire);
    const Anchor* anchor = AnchorOf(link);
    if (anchor != nullptr && holds(anchor->tag)) {
      while (true) {
        if (anchor->jump != anchor && holds(anchor->jump->tag)) {
          anchor = anchor->jump;
        } else if (anchor->older != anchor && holds(anchor->older->tag)) {
          anchor = anchor->older;
        } else {
          break;
        }
      }
      entry = anchor->entry;
      continue;
    }
    const Entry* const next = Behind(link);
    if (next == nullptr || !holds(next->key().tag)) return entry;
    entry = next;
  }
}

}  // namespace

Entry* AddVersion(Entry* newest, Entry* added, Space& space, uint64_t* random) {
  const uint64_t tag = added->key().tag;
  if (tag > newest->key().tag) {
    // By chance (xorshift): a count would have to be kept somewhere.
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    auto link = reinterpret_cast<uintptr_t>(newest);
    if (*random % kBetweenAnchors == 0) link = reinterpret_cast<uintptr_t>(NewAnchor(newest, space)) | kIsAnchor;
    added->older.store(link, std::memory_order_relaxed);  // whoever is given `added` is given this
    return added;
  }
  auto* const before = const_cast<Entry*>(LastAbove(newest, tag));
  added->older.store(before->older.load(std::memory_order_relaxed), std::memory_order_relaxed);
  before->older.store(reinterpret_cast<uintptr_t>(added), std::memory_order_release);
  return newest;
}

const Entry* FirstAtMost(const Entry* newest, uint64_t tag) {
  const Entry* entry = newest;
  // Another may have come in between.
  while (entry != nullptr && entry->key().tag > tag) entry = OlderThan(*LastAbove(entry, tag));
  return entry;
}

const Entry* LastAbove(const Entry* newest, uint64_t tag) {
  return Last(newest, [tag](uint64_t other) { return other > tag; });
}

const Entry* Oldest(const Entry* newest) {
  return Last(newest, [](uint64_t) { return true; });
}

const Entry* OlderThan(const Entry& entry) { return Behind(entry.older.load(std::memory_order_acquire)); }

}  // namespace kvarts::memtable
