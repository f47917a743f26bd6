// Entries of a memtable, and the versions of one key.
//
// RocksDB writes an entry as: the length of the key with its tag (varint32), the key, the tag (eight bytes, little
// endian: the number of the write and its type), and a value that is nobody's concern here. Of one key the larger tag
// is the newer version, and comes first.
//
// The versions of a key are a list, newest first, to which a new one is mostly added at the front. So that an old one
// is found without a look at all those since, there is an anchor between two entries now and then; anchors know each
// other by jump pointers that grow with the distance, as in a skip list made from behind. One that is not the
// newest makes no anchor: whoever adds many from the newest to the oldest walks past all of them each time.
//
// One thread adds; any may read meanwhile, from when the newest version was given to it by a load that acquires.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "engine/rocksdb/memtable/space.h"

namespace kvarts::memtable {

struct Anchor;

struct EntryKey {
  BytesView user_key;
  uint64_t tag;
};

// What RocksDB calls an internal key: a key with its tag behind it.
inline EntryKey SplitKey(BytesView internal) {
  EntryKey key{internal.substr(0, internal.size() - sizeof(uint64_t)), 0};
  std::memcpy(&key.tag, key.user_key.data() + key.user_key.size(), sizeof(key.tag));
  return key;
}

// Stands right before what RocksDB writes.
struct Entry {
  explicit Entry() = default;

  char* encoded() { return reinterpret_cast<char*>(this + 1); }
  const char* encoded() const { return reinterpret_cast<const char*>(this + 1); }
  static Entry* Of(char* encoded) { return reinterpret_cast<Entry*>(encoded) - 1; }
  EntryKey key() const {
    const auto* at = reinterpret_cast<const unsigned char*>(encoded());
    uint32_t length = *at & 0x7F;
    for (int shift = 7; (*at++ & 0x80) != 0; shift += 7) length |= static_cast<uint32_t>(*at & 0x7F) << shift;
    return SplitKey({reinterpret_cast<const char*>(at), length});
  }

  // An entry, or an anchor with the lowest bit set; zero behind the oldest.
  std::atomic<uintptr_t> older{0};
};

// Adds a version to those that begin with `newest`, and returns which is the newest now.
Entry* AddVersion(Entry* newest, Entry* added, Space& space, uint64_t* random);
// The newest whose tag is at most this; null when there is none.
const Entry* FirstAtMost(const Entry* newest, uint64_t tag);
// The oldest whose tag is larger; the newest has to be one.
const Entry* LastAbove(const Entry* newest, uint64_t tag);
const Entry* Oldest(const Entry* newest);
// Null behind the oldest.
const Entry* OlderThan(const Entry& entry);

}  // namespace kvarts::memtable
