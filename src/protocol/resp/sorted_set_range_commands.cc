// Commands on ranges of sorted sets: by place, by score and by name.
#include <algorithm>

#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/sorted_set_arguments.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::SortedSet;
using structure::Type;

enum class By : uint8_t { kPlace, kScore, kName };

// What is asked for, as a command says it by its name or by words.
struct RangeQuery {
  std::optional<By> by;  // nothing: a word may say it
  std::optional<bool> downwards;
  bool with_scores = false;
  int64_t offset = 0;
  int64_t limit = -1;  // less than zero: all
};

Status ReadRangeOptions(Arguments words, bool stores, RangeQuery* query) {
  std::optional<By> by;
  std::optional<bool> downwards;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!stores && IsWord(words[i], "WITHSCORES")) {
      query->with_scores = true;
    } else if (IsWord(words[i], "LIMIT") && i + 2 < words.size()) {
      KVARTS_TRY(query->offset, IntegerOf(words[i + 1]));
      KVARTS_TRY(query->limit, IntegerOf(words[i + 2]));
      i += 2;
    } else if (!query->downwards && IsWord(words[i], "REV")) {
      downwards = true;
    } else if (!query->by && IsWord(words[i], "BYLEX")) {
      by = By::kName;
    } else if (!query->by && IsWord(words[i], "BYSCORE")) {
      by = By::kScore;
    } else {
      return Wrong(kSyntaxError);
    }
  }
  if (!query->by) query->by = by.value_or(By::kPlace);
  if (!query->downwards) query->downwards = downwards.value_or(false);
  if (query->limit != -1 && query->by == By::kPlace) {
    return Wrong("syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  }
  if (query->by == By::kPlace) query->offset = 0;  // as Redis has it
  if (query->with_scores && query->by == By::kName) {
    return Wrong("syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  return {};
}

// The two ends of a range, of whichever kind.
class Range {
 public:
  static Result<Range> Of(By by, std::string_view low, std::string_view high) {
    Range range(by);
    switch (by) {
      case By::kPlace: {
        KVARTS_TRY(range.places_, PlaceRangeOf(low, high));
        break;
      }
      case By::kScore: {
        KVARTS_TRY(range.scores_, ScoreRangeOf(low, high));
        break;
      }
      case By::kName: {
        KVARTS_TRY(range.names_, NameRangeOf(low, high));
        break;
      }
    }
    return range;
  }

  // Counted from the highest, if it is by place and goes downwards.
  Result<SortedSet::Places> In(SortedSet& set, bool downwards) const {
    if (by_ == By::kScore) return set.Between(scores_.low, scores_.high);
    if (by_ == By::kName) return set.Between(names_.low, names_.high);
    const SortedSet::Places places = places_.Among(set.size());
    if (!downwards) return places;
    return SortedSet::Places{set.size() - places.end, set.size() - places.begin};
  }

 private:
  explicit Range(By by) : by_(by) {}

  By by_;
  PlaceRange places_{};
  ScoreRange scores_;
  NameRange names_;
};

Result<SortedSet::Places> Limited(SortedSet::Places places, const RangeQuery& query) {
  if (query.offset < 0) return SortedSet::Places{};
  const uint64_t passed = std::min(static_cast<uint64_t>(query.offset), places.size());
  uint64_t left = places.size() - passed;
  if (query.limit >= 0) left = std::min(left, static_cast<uint64_t>(query.limit));
  if (*query.downwards) {
    const uint64_t end = places.end - passed;
    return SortedSet::Places{end - left, end};
  }
  return SortedSet::Places{places.begin + passed, places.begin + passed + left};
}

// The range that stands behind the key of an argument, and words behind it.
Result<Range> ReadRange(DataCall& call, size_t argument, bool stores, RangeQuery* query) {
  KVARTS_CHECK_OK(ReadRangeOptions(call.arguments.subspan(argument + 3), stores, query));
  // From the highest on, the highest stands first; but not of places.
  const bool turned = *query->downwards && query->by != By::kPlace;
  return Range::Of(*query->by, call.arguments[argument + (turned ? 2 : 1)],
                   call.arguments[argument + (turned ? 1 : 2)]);
}

Status ReplyRange(DataCall& call, RangeQuery query) {
  KVARTS_TRY(const Range range, ReadRange(call, 1, false, &query));
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  SortedSet::Places places;
  if (set != nullptr) {
    KVARTS_TRY(places, range.In(*set, *query.downwards));
    KVARTS_TRY(places, Limited(places, query));
  }
  KVARTS_CHECK_OK(call.ExpectElements(places.size()));
  MembersReply reply(call.reply, places.size(), query.with_scores);
  if (places.size() == 0) return {};
  const uint64_t from = *query.downwards ? places.end - 1 : places.begin;
  return set->Visit(from, places.size(), *query.downwards,
                    [&](BytesView name, double score) { reply.Add(name, score); });
}

Status CountRange(DataCall& call, By by) {
  KVARTS_TRY(const Range range, Range::Of(by, call.arguments[2], call.arguments[3]));
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  SortedSet::Places places;
  if (set != nullptr) {
    KVARTS_TRY(places, range.In(*set, false));
  }
  call.reply.Int(static_cast<int64_t>(places.size()));
  return {};
}

Status EraseRange(DataCall& call, By by, std::string_view event) {
  KVARTS_TRY(const Range range, Range::Of(by, call.arguments[2], call.arguments[3]));
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(SortedSet * set, key->As<SortedSet>(Type::kSortedSet));
  SortedSet::Places places;
  if (set != nullptr) {
    KVARTS_TRY(places, range.In(*set, false));
    KVARTS_CHECK_OK(structure::EraseAll(*key, *set, places));
  }
  if (places.size() > 0) {
    call.Tell(structure::kSortedSetEvents, event, *key);
    call.TellIfGone(*key);
  }
  call.reply.Int(static_cast<int64_t>(places.size()));
  return {};
}

}  // namespace

Status ZRange(DataCall& call) { return ReplyRange(call, {}); }
Status ZRevRange(DataCall& call) { return ReplyRange(call, {.by = By::kPlace, .downwards = true}); }
Status ZRangeByScore(DataCall& call) { return ReplyRange(call, {.by = By::kScore, .downwards = false}); }
Status ZRevRangeByScore(DataCall& call) { return ReplyRange(call, {.by = By::kScore, .downwards = true}); }
Status ZRangeByLex(DataCall& call) { return ReplyRange(call, {.by = By::kName, .downwards = false}); }
Status ZRevRangeByLex(DataCall& call) { return ReplyRange(call, {.by = By::kName, .downwards = true}); }

Status ZRangeStore(DataCall& call) {
  RangeQuery query;
  KVARTS_TRY(const Range range, ReadRange(call, 2, true, &query));
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 2));
  std::vector<SortedSet::Entry> members;
  if (set != nullptr) {
    KVARTS_TRY(SortedSet::Places places, range.In(*set, *query.downwards));
    KVARTS_TRY(places, Limited(places, query));
    KVARTS_TRY(members, set->Copied(places));
  }
  KVARTS_TRY(Key * target, call.Open(1));
  KVARTS_CHECK_OK(StoreMembers(call, *target, members, "zrangestore"));
  call.reply.Int(static_cast<int64_t>(members.size()));
  return {};
}

Status ZCount(DataCall& call) { return CountRange(call, By::kScore); }
Status ZLexCount(DataCall& call) { return CountRange(call, By::kName); }
Status ZRemRangeByRank(DataCall& call) { return EraseRange(call, By::kPlace, "zremrangebyrank"); }
Status ZRemRangeByScore(DataCall& call) { return EraseRange(call, By::kScore, "zremrangebyscore"); }
Status ZRemRangeByLex(DataCall& call) { return EraseRange(call, By::kName, "zremrangebylex"); }

}  // namespace kvarts::resp
