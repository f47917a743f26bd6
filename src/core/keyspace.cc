#include "core/keyspace.h"

#include "encoding/tuple_text.h"

namespace kvarts {
namespace {

// The bytes before a user's key: the number of the space and the code of the tail.
const KeyBuffer& UserPrefix() {
  static const KeyBuffer kPrefix = UserKey({});
  return kPrefix;
}

}  // namespace

std::string_view SpaceName(Space space) {
  switch (space) {
    case Space::kSettings:
      return "settings";
    case Space::kKeys:
      return "keys";
    case Space::kFeed:
      return "feed";
    case Space::kJobs:
      return "jobs";
    case Space::kExpiry:
      return "expiry";
    case Space::kJobQueue:
      return "jobqueue";
    case Space::kTables:
      return "tables";
    case Space::kStructures:
      return "structs";
    case Space::kStructureCounts:
      return "counts";
    case Space::kStructureMembers:
      return "members";
    case Space::kStructuresDropped:
      return "dropped";
    case Space::kFieldExpiry:
      return "fields";
  }
  return {};
}

KeyRange SpaceRange(Space space) {
  KeyBuffer key;
  BeginKey(&key, space);
  return KeyRange::Prefix(key);
}

KeyBuffer UserKey(BytesView user_key) {
  KeyBuffer key;
  BeginKey(&key, Space::kKeys).Tail(user_key);
  return key;
}

std::optional<BytesView> UserKeyOf(BytesView physical_key) {
  const BytesView prefix = UserPrefix();
  if (!physical_key.starts_with(prefix)) return std::nullopt;
  return physical_key.substr(prefix.size());
}

KeyRange UserRange(const KeyRange& range) {
  if (!range.HasEnd()) return {Bytes(UserKey(range.start).view()), PrefixEnd(UserPrefix())};
  return {Bytes(UserKey(range.start).view()), Bytes(UserKey(range.end).view())};
}

std::string DescribeKey(BytesView physical_key) {
  if (const auto user_key = UserKeyOf(physical_key)) return "keys: " + Escaped(*user_key);
  TupleReader reader(physical_key);
  const Result<int64_t> number = reader.TakeInt();
  const bool known = number.has_value() && *number > 0 && *number < 256;
  const std::string_view name = known ? SpaceName(static_cast<Space>(*number)) : std::string_view();
  return (name.empty() ? "unknown" : std::string(name)) + ": " + TupleToString(physical_key);
}

}  // namespace kvarts
