// Commands on the members of a sorted set.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "model/structure/glob.h"
#include "model/structure/secret_hash.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/scan_options.h"
#include "protocol/resp/sorted_set_arguments.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::SortedSet;
using Member = SortedSet::Member;
using structure::Type;

constexpr const char* kNotFloat = "value is not a valid float";

struct AddOptions {
  bool only_new = false;
  bool only_known = false;
  bool changed = false;  // those count, too
  bool increment = false;
  bool greater = false;
  bool less = false;
};

// Which of them there are; how many words they take.
Result<size_t> ReadAddOptions(Arguments arguments, AddOptions* options) {
  const std::pair<std::string_view, bool*> words[] = {{"NX", &options->only_new}, {"XX", &options->only_known},
                                                      {"CH", &options->changed},  {"INCR", &options->increment},
                                                      {"GT", &options->greater},  {"LT", &options->less}};
  size_t at = 0;
  for (; at < arguments.size(); ++at) {
    const auto* const word = std::ranges::find_if(words, [&](const auto& w) { return IsWord(arguments[at], w.first); });
    if (word == std::end(words)) break;
    *word->second = true;
  }
  const size_t left = arguments.size() - at;
  if (left == 0 || left % 2 == 1) return Wrong(kSyntaxError);
  if (options->only_new && options->only_known) return Wrong("XX and NX options at the same time are not compatible");
  if (options->greater + options->less + options->only_new > 1) {
    return Wrong("GT, LT, and/or NX options at the same time are not compatible");
  }
  if (options->increment && left > 2) return Wrong("INCR option supports a single increment-element pair");
  return at;
}

// The score that a member is to have; nothing when it is to stay as it is.
Result<std::optional<double>> ScoreAfter(const AddOptions& options, double score, std::optional<double> before) {
  if (!before) return options.only_known ? std::nullopt : std::optional(score);
  if (options.only_new) return std::optional<double>();
  if (options.increment) score += *before;
  if (std::isnan(score)) return Wrong("resulting score is not a number (NaN)");
  if ((options.less && score >= *before) || (options.greater && score <= *before)) return std::optional<double>();
  return std::optional(score);
}

// As ZSCAN writes it, in version 3, too: in small sorted sets Redis has integers as such.
void AppendScanned(DataCall& call, double score, bool small) {
  constexpr double kIntegers = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
  if (small && std::abs(score) < kIntegers && std::trunc(score) == score) {
    call.reply.Bulk(std::to_string(static_cast<int64_t>(score)));
  } else {
    ReplyWriter(&call.reply.out(), 2).Double(score);
  }
}

// The scores of many, read together, as they are in the course of a command.
class KnownScores {
 public:
  Status Read(SortedSet& set, std::span<const std::string_view> names) {
    std::vector<std::optional<double>> scores;
    KVARTS_CHECK_OK(set.Scores(names, &scores));
    for (size_t i = 0; i < names.size(); ++i) known_.emplace(names[i], scores[i]);
    return {};
  }
  std::optional<double>& operator[](std::string_view name) { return known_[name]; }

 private:
  std::unordered_map<std::string_view, std::optional<double>, structure::SecretHash> known_;
};

struct Added {
  int64_t added = 0;
  int64_t changed = 0;
  std::optional<double> score;  // of the last one, unless it stayed as it was
};

Result<Added> AddMembers(DataCall& call, Key& key, std::span<const Member> members, const AddOptions& options) {
  Added result;
  KVARTS_TRY(SortedSet * set, key.As<SortedSet>(Type::kSortedSet));
  if (set == nullptr && options.only_known) return result;
  KVARTS_TRY(set, key.Make<SortedSet>(Type::kSortedSet));
  KnownScores known;
  std::optional<double> single;
  if (members.size() == 1) {
    KVARTS_TRY(single, set->Score(members[0].name));
  } else {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const Member& member : members) names.push_back(member.name);
    KVARTS_CHECK_OK(known.Read(*set, names));
    KVARTS_CHECK_OK(set->ReadFor(members));
  }
  for (const Member& member : members) {
    std::optional<double>& before = members.size() == 1 ? single : known[member.name];
    KVARTS_TRY(result.score, ScoreAfter(options, member.score, before));
    if (!result.score || result.score == before) continue;
    KVARTS_CHECK_OK(set->Put(member.name, *result.score, before));
    ++(before ? result.changed : result.added);
    before = result.score;
  }
  if (result.added + result.changed > 0) {
    key.Changed();
    call.Tell(structure::kSortedSetEvents, options.increment ? "zincr" : "zadd", key);
  }
  return result;
}

Status PopMembers(DataCall& call, bool highest) {
  if (call.arguments.size() > 3) return Wrong(kSyntaxError);
  const bool counted = call.arguments.size() == 3;
  int64_t count = 1;
  if (counted) {
    constexpr const char* kNotPositive = "value is out of range, must be positive";
    KVARTS_TRY(count, IntegerOf(call.arguments[2], kNotPositive));
    if (count < 0) return Wrong(kNotPositive);
  }
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(SortedSet * set, key->As<SortedSet>(Type::kSortedSet));
  std::vector<SortedSet::Entry> popped;
  if (set != nullptr) {
    KVARTS_TRY(popped, structure::Pop(*key, *set, static_cast<uint64_t>(count), highest));
    if (!popped.empty()) TellPopped(call, *key, highest);
  }
  if (counted || popped.empty()) {
    ReplyMembers(call, popped, true);
  } else {
    call.reply.Array(2).Bulk(popped[0].first).Double(popped[0].second);
  }
  return {};
}

Status ReplyRank(DataCall& call, bool from_highest) {
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  std::optional<double> score;
  if (set != nullptr) {
    KVARTS_TRY(score, set->Score(call.arguments[2]));
  }
  if (!score) {
    call.reply.Null();
    return {};
  }
  KVARTS_TRY(const uint64_t place, set->PlaceOf(call.arguments[2], *score));
  call.reply.Int(static_cast<int64_t>(from_highest ? set->size() - 1 - place : place));
  return {};
}

void ReplyScore(DataCall& call, std::optional<double> score) {
  if (score) {
    call.reply.Double(*score);
  } else {
    call.reply.Null();
  }
}

}  // namespace

Status ZAdd(DataCall& call) {
  const Arguments arguments = call.arguments;
  AddOptions options;
  KVARTS_TRY(const size_t words, ReadAddOptions(arguments.subspan(2), &options));
  std::vector<Member> members;
  members.reserve((arguments.size() - words) / 2);
  for (size_t i = 2 + words; i < arguments.size(); i += 2) {
    KVARTS_TRY(const double score, ScoreOf(arguments[i], kNotFloat));
    members.push_back({score, arguments[i + 1]});
  }
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(const Added result, AddMembers(call, *key, members, options));
  if (options.increment) {
    ReplyScore(call, result.score);
  } else {
    call.reply.Int(result.added + (options.changed ? result.changed : 0));
  }
  return {};
}

Status ZIncrBy(DataCall& call) {
  KVARTS_TRY(const double by, ScoreOf(call.arguments[2], kNotFloat));
  KVARTS_TRY(Key * key, call.Open(1));
  const Member member{by, call.arguments[3]};
  KVARTS_TRY(const Added result, AddMembers(call, *key, {&member, 1}, {.increment = true}));
  ReplyScore(call, result.score);
  return {};
}

Status ZRem(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(SortedSet * set, key->As<SortedSet>(Type::kSortedSet));
  int64_t erased = 0;
  for (size_t i = 2; set != nullptr && i < call.arguments.size(); ++i) {
    KVARTS_TRY(const bool was_there, set->Erase(call.arguments[i]));
    erased += was_there ? 1 : 0;
  }
  if (erased > 0) {
    key->Changed();
    call.Tell(structure::kSortedSetEvents, "zrem", *key);
    call.TellIfGone(*key);
  }
  call.reply.Int(erased);
  return {};
}

Status ZCard(DataCall& call) {
  KVARTS_TRY(const SortedSet* set, SortedSetOf(call, 1));
  call.reply.Int(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
  return {};
}

Status ZScore(DataCall& call) {
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  std::optional<double> score;
  if (set != nullptr) {
    KVARTS_TRY(score, set->Score(call.arguments[2]));
  }
  ReplyScore(call, score);
  return {};
}

Status ZMScore(DataCall& call) {
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  const Arguments names = call.arguments.subspan(2);
  std::vector<std::optional<double>> scores(names.size());
  if (set != nullptr) KVARTS_CHECK_OK(set->Scores(names, &scores));
  call.reply.Array(scores.size());
  for (const std::optional<double> score : scores) ReplyScore(call, score);
  return {};
}

Status ZRank(DataCall& call) { return ReplyRank(call, false); }
Status ZRevRank(DataCall& call) { return ReplyRank(call, true); }

Status ZPopMin(DataCall& call) { return PopMembers(call, false); }
Status ZPopMax(DataCall& call) { return PopMembers(call, true); }

Status ZRandMember(DataCall& call) {
  const Arguments arguments = call.arguments;
  const bool counted = arguments.size() > 2;
  int64_t count = 1;
  if (counted) {
    KVARTS_TRY(count, RandomCountOf(arguments[2]));
  }
  const bool with_scores = arguments.size() == 4 && IsWord(arguments[3], "WITHSCORES");
  if (arguments.size() > 4 || (arguments.size() == 4 && !with_scores)) return Wrong(kSyntaxError);
  if (with_scores && count > INT64_MAX / 2) return Wrong("value is out of range");
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  std::vector<SortedSet::Entry> chosen;
  if (set != nullptr) {
    KVARTS_TRY(chosen, set->Choose(count, [&call] { return call.keys.txn().Random(); }));
  }
  if (counted) {
    ReplyMembers(call, chosen, with_scores);
  } else if (chosen.empty()) {
    call.reply.Null();
  } else {
    call.reply.Bulk(chosen[0].first);
  }
  return {};
}

Status ZScan(DataCall& call) {
  KVARTS_TRY(const uint64_t cursor, CursorOf(call.arguments[2]));
  KVARTS_TRY(SortedSet * set, SortedSetOf(call, 1));
  if (set == nullptr) {
    call.reply.Array(2).Bulk("0").Array(0);
    return {};
  }
  KVARTS_TRY(const ScanOptions options, ReadScanOptions(call.arguments.subspan(3), false));
  std::vector<SortedSet::Entry> found;
  const auto count = static_cast<size_t>(std::min<int64_t>(options.count, structure::Members::kMaxScanned));
  KVARTS_TRY(const uint64_t next, set->Scan(cursor, count, [&](BytesView name, double score) {
    if (structure::GlobMatches(options.pattern, name)) found.emplace_back(name, score);
  }));
  call.reply.Array(2).Bulk(std::to_string(next)).Array(2 * found.size());
  constexpr uint64_t kSmall = 128;
  for (const auto& [name, score] : found) {
    call.reply.Bulk(name);
    AppendScanned(call, score, set->size() <= kSmall);
  }
  return {};
}

}  // namespace kvarts::resp
