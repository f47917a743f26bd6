// Commands on lists, and those of them that wait until there is something in one.
#include <limits>

#include "model/structure/list.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/blocking.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/multi_pop.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::List;
using structure::Type;
using End = List::End;

Result<List*> ListOf(DataCall& call, size_t argument) {
  KVARTS_TRY(Key * key, call.OpenToRead(argument));
  return key->As<List>(Type::kList);
}

// Null when there is none. For who has waited what is of another type is none.
Result<List*> SourceOf(const DataCall& call, Key& key) {
  if (call.waited && key.type() != Type::kList) return nullptr;
  return key.As<List>(Type::kList);
}

Result<End> EndOf(std::string_view argument) {
  if (IsWord(argument, "LEFT")) return End::kHead;
  if (IsWord(argument, "RIGHT")) return End::kTail;
  return Wrong(kSyntaxError);
}

void ReplyBulks(DataCall& call, const std::vector<Bytes>& items) {
  call.reply.Array(items.size());
  for (const Bytes& item : items) call.reply.Bulk(item);
}

void TellPushed(DataCall& call, Key& key, End end) {
  call.Tell(structure::kListEvents, end == End::kHead ? "lpush" : "rpush", key);
}

void TellPopped(DataCall& call, Key& key, End end) {
  call.Tell(structure::kListEvents, end == End::kHead ? "lpop" : "rpop", key);
  call.TellIfGone(key);
}

Status ReplySize(DataCall& call, const List* list) {
  call.reply.Int(list == nullptr ? 0 : static_cast<int64_t>(list->size()));
  return {};
}

Status Push(DataCall& call, End end, bool only_there) {
  KVARTS_TRY(Key * key, call.Open(1));
  if (only_there && !key->exists()) return ReplySize(call, nullptr);
  KVARTS_TRY(List * list, key->Make<List>(Type::kList));
  for (const std::string_view item : call.arguments.subspan(2)) KVARTS_CHECK_OK(list->Push(end, item));
  key->Changed();
  TellPushed(call, *key, end);
  return ReplySize(call, list);
}

Status Pop(DataCall& call, End end) {
  const bool counted = call.arguments.size() > 2;
  int64_t count = 1;
  if (call.arguments.size() > 3) {
    return WrongWith("wrong number of arguments for ", end == End::kHead ? "'lpop' command" : "'rpop' command");
  }
  if (counted) {
    constexpr const char* kNotPositive = "value is out of range, must be positive";
    KVARTS_TRY(count, IntegerOf(call.arguments[2], kNotPositive));
    if (count < 0) return Wrong(kNotPositive);
  }
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(List * list, key->As<List>(Type::kList));
  if (list == nullptr) {
    counted ? call.reply.NullArray() : call.reply.Null();
    return {};
  }
  KVARTS_TRY(const std::vector<Bytes> taken, list->Pop(end, static_cast<uint64_t>(count)));
  if (!taken.empty()) {
    key->Changed();
    TellPopped(call, *key, end);
  }
  if (counted) {
    ReplyBulks(call, taken);
  } else {
    call.reply.Bulk(taken[0]);
  }
  return {};
}

// From one end of a list to one of another, or of the same. Whether there is anything to move: else nothing is, and
// nothing is answered.
Result<bool> MoveItem(DataCall& call, End from, End to) {
  KVARTS_TRY(Key * source, call.Open(1));
  KVARTS_TRY(List * list, SourceOf(call, *source));
  if (list == nullptr) return false;
  KVARTS_TRY(Key * target, call.Open(2));
  KVARTS_CHECK_OK(target->As<List>(Type::kList));
  KVARTS_TRY(const std::vector<Bytes> taken, list->Pop(from, 1));
  KVARTS_TRY(List * moved_to, target->Make<List>(Type::kList));
  KVARTS_CHECK_OK(moved_to->Push(to, taken[0]));
  target->Changed();
  if (source != target) source->Changed();
  TellPushed(call, *target, to);
  TellPopped(call, *source, from);
  call.reply.Bulk(taken[0]);
  return true;
}

Status MoveOrNull(DataCall& call, End from, End to) {
  KVARTS_TRY(const bool moved, MoveItem(call, from, to));
  if (!moved) call.reply.Null();
  return {};
}

Result<Attempted> MoveOrWait(DataCall& call, End from, End to) {
  KVARTS_CHECK_OK(TimeoutOf(call.arguments.back()));
  KVARTS_TRY(const bool moved, MoveItem(call, from, to));
  if (!moved) call.reply.Null();
  return Attempted{moved, call.arguments.subspan(1, 1)};
}

// From the first of the lists that there is; nothing when there is none.
struct Taken {
  std::string_view key;
  std::vector<Bytes> items;
};
Result<std::optional<Taken>> PopFirst(DataCall& call, Arguments names, End end, uint64_t count) {
  for (const std::string_view name : names) {
    KVARTS_TRY(Key * key, call.keys.Open(call.database, name));
    KVARTS_TRY(List * list, SourceOf(call, *key));
    if (list == nullptr) continue;
    KVARTS_TRY(std::vector<Bytes> items, list->Pop(end, count));
    key->Changed();
    TellPopped(call, *key, end);
    return Taken{name, std::move(items)};
  }
  return std::nullopt;
}

Result<Attempted> PopOrWait(DataCall& call, End end) {
  KVARTS_CHECK_OK(TimeoutOf(call.arguments.back()));
  const Arguments names = call.arguments.subspan(1, call.arguments.size() - 2);
  KVARTS_TRY(const std::optional<Taken> taken, PopFirst(call, names, end, 1));
  if (taken) {
    call.reply.Array(2).Bulk(taken->key).Bulk(taken->items[0]);
  } else {
    call.reply.NullArray();
  }
  return Attempted{taken.has_value(), names};
}

// Whether there was anything.
Result<bool> PopMany(DataCall& call, const MultiPop& pop) {
  KVARTS_TRY(const End end, EndOf(pop.where));
  KVARTS_TRY(const std::optional<Taken> taken, PopFirst(call, pop.keys, end, pop.count));
  if (!taken) {
    call.reply.NullArray();
    return false;
  }
  call.reply.Array(2).Bulk(taken->key);
  ReplyBulks(call, taken->items);
  return true;
}

Status ReadSearch(Arguments options, List::Search* search, bool* all_of_them) {
  constexpr const char* kNoRank =
      "RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from "
      "the end of the list";
  constexpr const char* kNegativeCount = "COUNT can't be negative";
  constexpr const char* kNegativeLength = "MAXLEN can't be negative";
  for (size_t i = 0; i < options.size(); i += 2) {
    if (i + 1 == options.size()) return Wrong(kSyntaxError);
    if (IsWord(options[i], "RANK")) {
      KVARTS_TRY(const int64_t rank, IntegerOf(options[i + 1]));
      if (rank == 0) return Wrong(kNoRank);
      search->backwards = rank < 0;
      // Of the least number Redis makes the last one.
      const uint64_t nth = rank < 0 ? -static_cast<uint64_t>(rank) : static_cast<uint64_t>(rank);
      search->skipped = rank == std::numeric_limits<int64_t>::min() ? 0 : nth - 1;
    } else if (IsWord(options[i], "COUNT")) {
      KVARTS_TRY(const int64_t count, IntegerOf(options[i + 1], kNegativeCount));
      if (count < 0) return Wrong(kNegativeCount);
      search->at_most = static_cast<uint64_t>(count);
      *all_of_them = true;
    } else if (IsWord(options[i], "MAXLEN")) {
      KVARTS_TRY(const int64_t length, IntegerOf(options[i + 1], kNegativeLength));
      if (length < 0) return Wrong(kNegativeLength);
      search->max_compared = static_cast<uint64_t>(length);
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return {};
}

}  // namespace

Status LPush(DataCall& call) { return Push(call, End::kHead, false); }
Status RPush(DataCall& call) { return Push(call, End::kTail, false); }
Status LPushX(DataCall& call) { return Push(call, End::kHead, true); }
Status RPushX(DataCall& call) { return Push(call, End::kTail, true); }
Status LPop(DataCall& call) { return Pop(call, End::kHead); }
Status RPop(DataCall& call) { return Pop(call, End::kTail); }

Status LLen(DataCall& call) {
  KVARTS_TRY(const List* list, ListOf(call, 1));
  return ReplySize(call, list);
}

Status LRange(DataCall& call) {
  KVARTS_TRY(const int64_t first, IntegerOf(call.arguments[2]));
  KVARTS_TRY(const int64_t last, IntegerOf(call.arguments[3]));
  KVARTS_TRY(List * list, ListOf(call, 1));
  const List::Range range = list == nullptr ? List::Range() : list->RangeOf(first, last);
  KVARTS_CHECK_OK(call.ExpectElements(range.count));
  call.reply.Array(range.count);
  if (list == nullptr) return {};
  return list->Visit(range, [&call](BytesView item) {
    call.reply.Bulk(item);
    return true;
  });
}

Status LIndex(DataCall& call) {
  KVARTS_TRY(List * list, ListOf(call, 1));
  std::optional<uint64_t> position;
  if (list != nullptr) {
    KVARTS_TRY(const int64_t index, IntegerOf(call.arguments[2]));
    position = list->PositionOf(index);
  }
  if (!position) {
    call.reply.Null();
    return {};
  }
  KVARTS_TRY(const Bytes item, list->At(*position));
  call.reply.Bulk(item);
  return {};
}

Status LSet(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(List * list, key->As<List>(Type::kList));
  if (list == nullptr) return Wrong(structure::kNoSuchKey);
  KVARTS_TRY(const int64_t index, IntegerOf(call.arguments[2]));
  const std::optional<uint64_t> position = list->PositionOf(index);
  if (!position) return Wrong("index out of range");
  KVARTS_CHECK_OK(list->Replace(*position, call.arguments[3]));
  key->Changed();
  call.Tell(structure::kListEvents, "lset", *key);
  call.reply.Simple("OK");
  return {};
}

Status LInsert(DataCall& call) {
  const bool before = IsWord(call.arguments[2], "BEFORE");
  if (!before && !IsWord(call.arguments[2], "AFTER")) return Wrong(kSyntaxError);
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(List * list, key->As<List>(Type::kList));
  if (list == nullptr) return ReplySize(call, nullptr);
  KVARTS_TRY(const bool inserted, list->InsertBeside(call.arguments[3], before, call.arguments[4]));
  if (!inserted) {
    call.reply.Int(-1);
    return {};
  }
  key->Changed();
  call.Tell(structure::kListEvents, "linsert", *key);
  return ReplySize(call, list);
}

Status LRem(DataCall& call) {
  KVARTS_TRY(const int64_t count, IntegerOf(call.arguments[2]));
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(List * list, key->As<List>(Type::kList));
  uint64_t removed = 0;
  if (list != nullptr) {
    KVARTS_TRY(removed, list->Remove(call.arguments[3], count));
  }
  if (removed > 0) {
    key->Changed();
    call.Tell(structure::kListEvents, "lrem", *key);
    call.TellIfGone(*key);
  }
  call.reply.Int(static_cast<int64_t>(removed));
  return {};
}

Status LTrim(DataCall& call) {
  KVARTS_TRY(const int64_t first, IntegerOf(call.arguments[2]));
  KVARTS_TRY(const int64_t last, IntegerOf(call.arguments[3]));
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(List * list, key->As<List>(Type::kList));
  call.reply.Simple("OK");
  if (list == nullptr) return {};
  const List::Range range = list->RangeOf(first, last);
  // All of it goes with its key.
  if (range.count == 0) {
    key->Remove();
  } else {
    KVARTS_CHECK_OK(list->Keep(range));
    key->Changed();
  }
  call.Tell(structure::kListEvents, "ltrim", *key);
  call.TellIfGone(*key);
  return {};
}

Status LPos(DataCall& call) {
  List::Search search;
  bool counted = false;
  KVARTS_CHECK_OK(ReadSearch(call.arguments.subspan(3), &search, &counted));
  KVARTS_TRY(List * list, ListOf(call, 1));
  std::vector<uint64_t> found;
  if (list != nullptr) {
    KVARTS_TRY(found, list->Find(call.arguments[2], search));
  }
  if (counted) {
    call.reply.Array(found.size());
    for (const uint64_t position : found) call.reply.Int(static_cast<int64_t>(position));
  } else if (found.empty()) {
    call.reply.Null();
  } else {
    call.reply.Int(static_cast<int64_t>(found[0]));
  }
  return {};
}

Status LMove(DataCall& call) {
  KVARTS_TRY(const End from, EndOf(call.arguments[3]));
  KVARTS_TRY(const End to, EndOf(call.arguments[4]));
  return MoveOrNull(call, from, to);
}

Status RPopLPush(DataCall& call) { return MoveOrNull(call, End::kTail, End::kHead); }

Status LMPop(DataCall& call) {
  KVARTS_TRY(const MultiPop pop, ReadMultiPop(call.arguments.subspan(1), "LEFT", "RIGHT"));
  KVARTS_CHECK_OK(PopMany(call, pop));
  return {};
}

Result<Attempted> BLPop(DataCall& call) { return PopOrWait(call, End::kHead); }
Result<Attempted> BRPop(DataCall& call) { return PopOrWait(call, End::kTail); }

Result<Attempted> BLMove(DataCall& call) {
  KVARTS_TRY(const End from, EndOf(call.arguments[3]));
  KVARTS_TRY(const End to, EndOf(call.arguments[4]));
  return MoveOrWait(call, from, to);
}

Result<Attempted> BRPopLPush(DataCall& call) { return MoveOrWait(call, End::kTail, End::kHead); }

Result<Attempted> BLMPop(DataCall& call) {
  KVARTS_TRY(const MultiPop pop, ReadMultiPop(call.arguments.subspan(2), "LEFT", "RIGHT"));
  KVARTS_CHECK_OK(TimeoutOf(call.arguments[1]));
  KVARTS_TRY(const bool popped, PopMany(call, pop));
  return Attempted{popped, pop.keys};
}

}  // namespace kvarts::resp
