// Commands on sets.
#include <algorithm>
#include <limits>

#include "model/structure/glob.h"
#include "model/structure/sets.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/scan_options.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::Members;
using structure::Type;

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

Result<Members*> SetOf(DataCall& call, size_t argument) {
  KVARTS_TRY(Key * key, call.OpenToRead(argument));
  return key->As<Members>(Type::kSet);
}

Result<std::vector<Members*>> SetsOf(DataCall& call, size_t first, size_t end) {
  std::vector<Members*> sets;
  for (size_t i = first; i < end; ++i) {
    KVARTS_TRY(Members * set, SetOf(call, i));
    sets.push_back(set);
  }
  return sets;
}

// What an operation goes through, before it does.
enum class Operation : uint8_t { kIntersection, kUnion, kDifference };

Status ExpectSets(const DataCall& call, std::span<Members* const> sets, Operation operation) {
  const auto size = [](const Members* set) { return set == nullptr ? uint64_t{0} : set->size(); };
  uint64_t all = 0;
  uint64_t smallest = kAll;
  for (const Members* set : sets) {
    all += size(set);
    smallest = std::min(smallest, size(set));
  }
  if (operation == Operation::kUnion) return call.ExpectElements(all);
  return call.ExpectElements(operation == Operation::kIntersection ? smallest : size(sets[0]));
}

void ReplySet(DataCall& call, const std::vector<Bytes>& names) {
  call.reply.Set(names.size());
  for (const Bytes& name : names) call.reply.Bulk(name);
}

Result<std::vector<Bytes>> Combine(DataCall& call, Operation operation, size_t first) {
  KVARTS_TRY(const std::vector<Members*> sets, SetsOf(call, first, call.arguments.size()));
  KVARTS_CHECK_OK(ExpectSets(call, sets, operation));
  switch (operation) {
    case Operation::kIntersection:
      return structure::Intersection(sets);
    case Operation::kUnion:
      return structure::Union(sets);
    default:
      return structure::Difference(sets);
  }
}

Status ShowCombined(DataCall& call, Operation operation) {
  KVARTS_TRY(const std::vector<Bytes> names, Combine(call, operation, 1));
  ReplySet(call, names);
  return {};
}

Status StoreCombined(DataCall& call, Operation operation, std::string_view event) {
  KVARTS_TRY(const std::vector<Bytes> names, Combine(call, operation, 2));
  KVARTS_CHECK_OK(call.ExpectStored(names.size()));
  KVARTS_TRY(Key * target, call.Open(1));
  const bool was_there = target->exists();
  target->Remove();
  if (!names.empty()) {
    KVARTS_TRY(Members * set, target->Make<Members>(Type::kSet));
    for (const Bytes& name : names) KVARTS_CHECK_OK(set->Put(name, {}));
    target->Changed();
    call.Tell(structure::kSetEvents, event, *target);
  } else if (was_there) {
    call.TellIfGone(*target);
  }
  call.reply.Int(static_cast<int64_t>(names.size()));
  return {};
}

}  // namespace

Status SAdd(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * set, key->Make<Members>(Type::kSet));
  int64_t added = 0;
  for (const std::string_view name : call.arguments.subspan(2)) {
    KVARTS_TRY(const std::optional<Bytes> before, set->Find(name));
    if (before) continue;
    KVARTS_CHECK_OK(set->Put(name, {}));
    ++added;
  }
  if (added > 0) {
    key->Changed();
    call.Tell(structure::kSetEvents, "sadd", *key);
  }
  call.reply.Int(added);
  return {};
}

Status SRem(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
  int64_t erased = 0;
  for (size_t i = 2; set != nullptr && i < call.arguments.size(); ++i) {
    KVARTS_TRY(const bool was_there, set->Erase(call.arguments[i]));
    erased += was_there ? 1 : 0;
  }
  if (erased > 0) {
    key->Changed();
    call.Tell(structure::kSetEvents, "srem", *key);
    call.TellIfGone(*key);
  }
  call.reply.Int(erased);
  return {};
}

Status SIsMember(DataCall& call) {
  KVARTS_TRY(Members * set, SetOf(call, 1));
  std::optional<Bytes> found;
  if (set != nullptr) {
    KVARTS_TRY(found, set->Find(call.arguments[2]));
  }
  call.reply.Int(found ? 1 : 0);
  return {};
}

Status SMIsMember(DataCall& call) {
  KVARTS_TRY(Members * set, SetOf(call, 1));
  const Arguments names = call.arguments.subspan(2);
  std::vector<std::optional<Bytes>> found(names.size());
  if (set != nullptr) KVARTS_CHECK_OK(set->FindMany(names, &found));
  call.reply.Array(names.size());
  for (const auto& one : found) call.reply.Int(one ? 1 : 0);
  return {};
}

Status SCard(DataCall& call) {
  KVARTS_TRY(const Members* set, SetOf(call, 1));
  call.reply.Int(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
  return {};
}

Status SMembers(DataCall& call) {
  KVARTS_TRY(Members * set, SetOf(call, 1));
  const size_t size = set == nullptr ? 0 : set->size();
  KVARTS_CHECK_OK(call.ExpectElements(size));
  call.reply.Set(size);
  if (set == nullptr) return {};
  return set->ForEach([&](BytesView name, BytesView) { call.reply.Bulk(name); });
}

Status SMove(DataCall& call) {
  KVARTS_TRY(Key * from, call.Open(1));
  KVARTS_TRY(Key * to, call.Open(2));
  KVARTS_TRY(Members * source, from->As<Members>(Type::kSet));
  if (source == nullptr) {
    call.reply.Int(0);
    return {};
  }
  KVARTS_CHECK_OK(to->As<Members>(Type::kSet));
  const std::string_view name = call.arguments[3];
  KVARTS_TRY(const std::optional<Bytes> found, source->Find(name));
  if (found && from != to) {
    KVARTS_CHECK_OK(source->Erase(name));
    from->Changed();
    call.Tell(structure::kSetEvents, "srem", *from);
    call.TellIfGone(*from);
    KVARTS_TRY(Members * target, to->Make<Members>(Type::kSet));
    KVARTS_TRY(const bool is_new, target->Put(name, {}));
    if (is_new) {
      to->Changed();
      call.Tell(structure::kSetEvents, "sadd", *to);
    }
  }
  call.reply.Int(found ? 1 : 0);
  return {};
}

Status SPop(DataCall& call) {
  if (call.arguments.size() > 3) return Wrong(kSyntaxError);
  const bool counted = call.arguments.size() == 3;
  int64_t count = 1;
  if (counted) {
    constexpr const char* kNotPositive = "value is out of range, must be positive";
    KVARTS_TRY(count, IntegerOf(call.arguments[2], kNotPositive));
    if (count < 0) return Wrong(kNotPositive);
  }
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * set, key->As<Members>(Type::kSet));
  std::vector<Members::Entry> chosen;
  if (set != nullptr) {
    KVARTS_CHECK_OK(call.ExpectChosen(count, set->size()));
    KVARTS_CHECK_OK(call.ExpectStored(std::min<uint64_t>(static_cast<uint64_t>(count), set->size())));
    KVARTS_TRY(chosen, set->Choose(count, [&call] { return call.keys.txn().Random(); }));
  }
  for (const auto& [name, value] : chosen) KVARTS_CHECK_OK(set->Erase(name));
  if (!chosen.empty()) {
    key->Changed();
    call.Tell(structure::kSetEvents, "spop", *key);
    call.TellIfGone(*key);
  }
  if (!counted) {
    if (chosen.empty()) {
      call.reply.Null();
    } else {
      call.reply.Bulk(chosen[0].first);
    }
    return {};
  }
  call.reply.Set(chosen.size());
  for (const auto& [name, value] : chosen) call.reply.Bulk(name);
  return {};
}

Status SRandMember(DataCall& call) {
  if (call.arguments.size() > 3) return Wrong(kSyntaxError);
  const bool counted = call.arguments.size() == 3;
  int64_t count = 1;
  if (counted) {
    KVARTS_TRY(count, RandomCountOf(call.arguments[2]));
  }
  KVARTS_TRY(Members * set, SetOf(call, 1));
  std::vector<Members::Entry> chosen;
  if (set != nullptr) {
    KVARTS_CHECK_OK(call.ExpectChosen(count, set->size()));
    KVARTS_TRY(chosen, set->Choose(count, [&call] { return call.keys.txn().Random(); }));
  }
  if (!counted) {
    if (chosen.empty()) {
      call.reply.Null();
    } else {
      call.reply.Bulk(chosen[0].first);
    }
    return {};
  }
  call.reply.Array(chosen.size());
  for (const auto& [name, value] : chosen) call.reply.Bulk(name);
  return {};
}

Status SInter(DataCall& call) { return ShowCombined(call, Operation::kIntersection); }
Status SUnion(DataCall& call) { return ShowCombined(call, Operation::kUnion); }
Status SDiff(DataCall& call) { return ShowCombined(call, Operation::kDifference); }
Status SInterStore(DataCall& call) { return StoreCombined(call, Operation::kIntersection, "sinterstore"); }
Status SUnionStore(DataCall& call) { return StoreCombined(call, Operation::kUnion, "sunionstore"); }
Status SDiffStore(DataCall& call) { return StoreCombined(call, Operation::kDifference, "sdiffstore"); }

Status SInterCard(DataCall& call) {
  const Arguments arguments = call.arguments;
  constexpr const char* kNoKeys = "numkeys should be greater than 0";
  KVARTS_TRY(const int64_t keys, IntegerOf(arguments[1], kNoKeys));
  if (keys < 1) return Wrong(kNoKeys);
  if (static_cast<uint64_t>(keys) > arguments.size() - 2) {
    return Wrong("Number of keys can't be greater than number of args");
  }
  const size_t end = 2 + static_cast<size_t>(keys);
  int64_t limit = 0;
  for (size_t i = end; i < arguments.size(); i += 2) {
    if (!IsWord(arguments[i], "LIMIT") || i + 1 == arguments.size()) return Wrong(kSyntaxError);
    constexpr const char* kNegative = "LIMIT can't be negative";
    KVARTS_TRY(limit, IntegerOf(arguments[i + 1], kNegative));
    if (limit < 0) return Wrong(kNegative);
  }
  KVARTS_TRY(const std::vector<Members*> sets, SetsOf(call, 2, end));
  KVARTS_CHECK_OK(ExpectSets(call, sets, Operation::kIntersection));
  KVARTS_TRY(const uint64_t count,
             structure::CountIntersection(sets, limit == 0 ? kAll : static_cast<uint64_t>(limit)));
  call.reply.Int(static_cast<int64_t>(count));
  return {};
}

Status SScan(DataCall& call) {
  KVARTS_TRY(const uint64_t cursor, CursorOf(call.arguments[2]));
  KVARTS_TRY(Members * set, SetOf(call, 1));
  if (set == nullptr) {
    call.reply.Array(2).Bulk("0").Array(0);
    return {};
  }
  KVARTS_TRY(const ScanOptions options, ReadScanOptions(call.arguments.subspan(3), false));
  std::vector<Bytes> found;
  const auto count = static_cast<size_t>(std::min<int64_t>(options.count, Members::kMaxScanned));
  KVARTS_TRY(const uint64_t next, set->Scan(cursor, count, [&](BytesView name, BytesView) {
    if (structure::GlobMatches(options.pattern, name)) found.emplace_back(name);
  }));
  call.reply.Array(2).Bulk(std::to_string(next)).Array(found.size());
  for (const Bytes& name : found) call.reply.Bulk(name);
  return {};
}

}  // namespace kvarts::resp
