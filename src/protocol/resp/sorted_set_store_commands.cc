// Commands that make one sorted set of several, or of sets.
#include <algorithm>
#include <limits>

#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/sorted_set_arguments.h"

namespace kvarts::resp {
namespace {

using structure::Aggregate;
using structure::Key;
using structure::Scored;
using structure::SortedSet;

enum class Operation : uint8_t { kUnion, kIntersection, kDifference, kCount };

struct Combination {
  Operation operation;
  bool stores;
  std::vector<Scored> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  uint64_t limit = std::numeric_limits<uint64_t>::max();
};

Status ReadWeights(Arguments weights, std::vector<Scored>* inputs) {
  for (size_t i = 0; i < weights.size(); ++i) {
    KVARTS_TRY((*inputs)[i].weight, ScoreOf(weights[i], "weight value is not a float"));
  }
  return {};
}

Result<Aggregate> AggregateOf(std::string_view word) {
  if (IsWord(word, "SUM")) return Aggregate::kSum;
  if (IsWord(word, "MIN")) return Aggregate::kMin;
  if (IsWord(word, "MAX")) return Aggregate::kMax;
  return Wrong(kSyntaxError);
}

Status ReadWords(Arguments words, Combination* combination) {
  const bool counts = combination->operation == Operation::kCount;
  const bool weighs = !counts && combination->operation != Operation::kDifference;
  const size_t inputs = combination->inputs.size();
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t left = words.size() - i;
    if (weighs && left > inputs && IsWord(words[i], "WEIGHTS")) {
      KVARTS_CHECK_OK(ReadWeights(words.subspan(i + 1, inputs), &combination->inputs));
      i += inputs;
    } else if (weighs && left > 1 && IsWord(words[i], "AGGREGATE")) {
      KVARTS_TRY(combination->aggregate, AggregateOf(words[++i]));
    } else if (!combination->stores && !counts && IsWord(words[i], "WITHSCORES")) {
      combination->with_scores = true;
    } else if (counts && left > 1 && IsWord(words[i], "LIMIT")) {
      constexpr const char* kNegative = "LIMIT can't be negative";
      KVARTS_TRY(const int64_t limit, IntegerOf(words[++i], kNegative));
      if (limit < 0) return Wrong(kNegative);
      combination->limit = limit == 0 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(limit);
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return {};
}

// From the number of keys on, which stands at `argument`.
Result<Combination> ReadCombination(DataCall& call, const char* name, size_t argument, Operation operation) {
  const Arguments arguments = call.arguments;
  KVARTS_TRY(const int64_t keys, IntegerOf(arguments[argument]));
  if (keys < 1) return WrongWith("at least 1 input key is needed for ", "'" + std::string(name) + "' command");
  if (static_cast<uint64_t>(keys) > arguments.size() - argument - 1) return Wrong(kSyntaxError);
  const size_t end = argument + 1 + static_cast<size_t>(keys);
  Combination combination{operation, argument > 1, {}};
  for (size_t i = argument + 1; i < end; ++i) {
    KVARTS_TRY(Key * key, call.OpenToRead(i));
    KVARTS_TRY(combination.inputs.emplace_back(), Scored::Of(*key));
  }
  KVARTS_CHECK_OK(ReadWords(arguments.subspan(end), &combination));
  uint64_t members = 0;
  for (const Scored& input : combination.inputs) members += input.size();
  KVARTS_CHECK_OK(call.ExpectElements(members));
  return combination;
}

Result<std::vector<SortedSet::Entry>> Combine(const Combination& combination) {
  switch (combination.operation) {
    case Operation::kUnion:
      return structure::Union(combination.inputs, combination.aggregate);
    case Operation::kDifference:
      return structure::Difference(combination.inputs);
    default:
      return structure::Intersection(combination.inputs, combination.aggregate);
  }
}

Status ShowCombined(DataCall& call, const char* name, Operation operation) {
  KVARTS_TRY(const Combination combination, ReadCombination(call, name, 1, operation));
  KVARTS_TRY(const std::vector<SortedSet::Entry> members, Combine(combination));
  ReplyMembers(call, members, combination.with_scores);
  return {};
}

// `name` is that of the event, too.
Status StoreCombined(DataCall& call, const char* name, Operation operation) {
  KVARTS_TRY(const Combination combination, ReadCombination(call, name, 2, operation));
  KVARTS_TRY(const std::vector<SortedSet::Entry> members, Combine(combination));
  KVARTS_CHECK_OK(call.ExpectStored(members.size()));
  KVARTS_TRY(Key * target, call.Open(1));
  KVARTS_CHECK_OK(StoreMembers(call, *target, members, name));
  call.reply.Int(static_cast<int64_t>(members.size()));
  return {};
}

}  // namespace

Status ZUnion(DataCall& call) { return ShowCombined(call, "zunion", Operation::kUnion); }
Status ZInter(DataCall& call) { return ShowCombined(call, "zinter", Operation::kIntersection); }
Status ZDiff(DataCall& call) { return ShowCombined(call, "zdiff", Operation::kDifference); }
Status ZUnionStore(DataCall& call) { return StoreCombined(call, "zunionstore", Operation::kUnion); }
Status ZInterStore(DataCall& call) { return StoreCombined(call, "zinterstore", Operation::kIntersection); }
Status ZDiffStore(DataCall& call) { return StoreCombined(call, "zdiffstore", Operation::kDifference); }

Status ZInterCard(DataCall& call) {
  KVARTS_TRY(const Combination combination, ReadCombination(call, "zintercard", 1, Operation::kCount));
  KVARTS_TRY(const uint64_t count, structure::CountIntersection(combination.inputs, combination.limit));
  call.reply.Int(static_cast<int64_t>(count));
  return {};
}

}  // namespace kvarts::resp
