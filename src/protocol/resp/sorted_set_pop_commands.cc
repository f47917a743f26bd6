// Commands that take members from the first sorted set of several, and those of them that wait until there is one.
#include "protocol/resp/arguments.h"
#include "protocol/resp/blocking.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/multi_pop.h"
#include "protocol/resp/sorted_set_arguments.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::SortedSet;
using structure::Type;

struct Taken {
  std::string_view key;
  std::vector<SortedSet::Entry> members;
};

// Nothing when there is no such set. For who has waited what is of another type is none.
Result<std::optional<Taken>> PopFirst(DataCall& call, Arguments names, uint64_t count, bool highest) {
  for (const std::string_view name : names) {
    KVARTS_TRY(Key * key, call.keys.Open(call.database, name));
    if (call.waited && key->type() != Type::kSortedSet) continue;
    KVARTS_TRY(SortedSet * set, key->As<SortedSet>(Type::kSortedSet));
    if (set == nullptr) continue;
    KVARTS_TRY(std::vector<SortedSet::Entry> members, structure::Pop(*key, *set, count, highest));
    TellPopped(call, *key, highest);
    return Taken{name, std::move(members)};
  }
  return std::nullopt;
}

// Whether there was anything.
Result<bool> PopMany(DataCall& call, const MultiPop& pop) {
  KVARTS_TRY(const std::optional<Taken> taken, PopFirst(call, pop.keys, pop.count, IsWord(pop.where, "MAX")));
  if (!taken) {
    call.reply.NullArray();
    return false;
  }
  call.reply.Array(2).Bulk(taken->key).Array(taken->members.size());
  for (const auto& [name, score] : taken->members) call.reply.Array(2).Bulk(name).Double(score);
  return true;
}

Result<Attempted> PopOrWait(DataCall& call, bool highest) {
  KVARTS_CHECK_OK(TimeoutOf(call.arguments.back()));
  const Arguments names = call.arguments.subspan(1, call.arguments.size() - 2);
  KVARTS_TRY(const std::optional<Taken> taken, PopFirst(call, names, 1, highest));
  if (taken) {
    const auto& [name, score] = taken->members[0];
    call.reply.Array(3).Bulk(taken->key).Bulk(name).Double(score);
  } else {
    call.reply.NullArray();
  }
  return Attempted{taken.has_value(), names};
}

}  // namespace

Status ZMPop(DataCall& call) {
  KVARTS_TRY(const MultiPop pop, ReadMultiPop(call.arguments.subspan(1), "MIN", "MAX"));
  KVARTS_CHECK_OK(PopMany(call, pop));
  return {};
}

Result<Attempted> BZPopMin(DataCall& call) { return PopOrWait(call, false); }
Result<Attempted> BZPopMax(DataCall& call) { return PopOrWait(call, true); }

Result<Attempted> BZMPop(DataCall& call) {
  KVARTS_TRY(const MultiPop pop, ReadMultiPop(call.arguments.subspan(2), "MIN", "MAX"));
  KVARTS_CHECK_OK(TimeoutOf(call.arguments[1]));
  KVARTS_TRY(const bool popped, PopMany(call, pop));
  return Attempted{popped, pop.keys};
}

}  // namespace kvarts::resp
