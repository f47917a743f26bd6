#include "protocol/resp/object_facts.h"

#include <algorithm>

#include "model/structure/members.h"
#include "model/structure/strings.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::Members;
using structure::Type;

// What a record takes beside its name and value: its header, and its part of indexes and filters.
constexpr uint64_t kRecordBytes = 48;

std::string_view EncodingOfText(BytesView text) {
  constexpr size_t kMaxEmbedded = 44;
  if (structure::ParseInteger(text)) return "int";
  return text.size() <= kMaxEmbedded ? "embstr" : "raw";
}

bool Within(uint64_t size, const Settings& settings, Number most) { return std::cmp_less_equal(size, settings[most]); }

Result<std::string_view> EncodingOfHash(Members& hash, const Settings& settings) {
  constexpr std::string_view kTable = "hashtable";
  if (!Within(hash.size(), settings, Number::kHashEntries)) return kTable;
  bool small = true;
  const auto look = [&](BytesView name, BytesView value) {
    small = small && Within(std::max(name.size(), value.size()), settings, Number::kHashValue);
  };
  KVARTS_TRY(const uint64_t next, hash.Scan(0, kMaxSamples, look));
  return small && next == 0 ? "listpack" : kTable;
}

Result<std::string_view> EncodingOfSet(Members& set, const Settings& settings) {
  constexpr std::string_view kTable = "hashtable";
  if (!Within(set.size(), settings, Number::kSetEntries)) return kTable;
  bool integers = true;
  const auto look = [&](BytesView name, BytesView) {
    integers = integers && structure::ParseInteger(name).has_value();
  };
  KVARTS_TRY(const uint64_t next, set.Scan(0, kMaxSamples, look));
  return integers && next == 0 ? "intset" : kTable;
}

Result<uint64_t> BytesOfMembers(Members& members, size_t samples) {
  uint64_t bytes = 0;
  uint64_t seen = 0;
  const auto look = [&](BytesView name, BytesView value) {
    bytes += name.size() + value.size() + (members.spread() ? kRecordBytes : 2);
    ++seen;
  };
  const size_t count = samples == 0 ? kMaxSamples : std::min(samples, kMaxSamples);
  KVARTS_TRY(const uint64_t next, members.Scan(0, count, look));
  (void)next;
  return seen == 0 ? 0 : bytes * members.size() / seen;
}

}  // namespace

Result<std::string_view> EncodingOf(Key& key, const Settings& settings) {
  switch (key.type()) {
    case Type::kString:
      return EncodingOfText(key.text());
    case Type::kHash: {
      KVARTS_TRY(Members * hash, key.As<Members>(Type::kHash));
      return EncodingOfHash(*hash, settings);
    }
    case Type::kSet: {
      KVARTS_TRY(Members * set, key.As<Members>(Type::kSet));
      return EncodingOfSet(*set, settings);
    }
    case Type::kSortedSet:
      return Within(key.size(), settings, Number::kSortedSetEntries) ? "listpack" : "skiplist";
    case Type::kList:
      return "quicklist";
    case Type::kNone:
      break;
  }
  return "none";
}

Result<uint64_t> BytesOf(Key& key, size_t samples) {
  // Of what has no names and values to look at, about so much each.
  constexpr uint64_t kElementBytes = 64;
  const uint64_t record = key.place().size() + kRecordBytes;
  switch (key.type()) {
    case Type::kString:
      return record + key.text().size();
    case Type::kHash:
    case Type::kSet: {
      KVARTS_TRY(Members * members, key.As<Members>(key.type()));
      KVARTS_TRY(const uint64_t bytes, BytesOfMembers(*members, samples));
      return record + bytes;
    }
    default:
      return record + key.size() * kElementBytes;
  }
}

}  // namespace kvarts::resp
