#include "protocol/resp/sorted_set_arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "protocol/resp/arguments.h"

namespace kvarts::resp {
namespace {

using structure::NameBound;
using structure::ScoreBound;

// As strtod reads it: blanks before it are passed over, and nothing is zero.
std::optional<ScoreBound> ScoreBoundOf(std::string_view text) {
  ScoreBound bound;
  bound.excluded = text.starts_with('(');
  if (bound.excluded) text.remove_prefix(1);
  const Bytes copy(text);
  char* end = nullptr;
  bound.score = std::strtod(copy.c_str(), &end);
  return *end != '\0' || std::isnan(bound.score) ? std::nullopt : std::optional(bound);
}

std::optional<NameBound> NameBoundOf(std::string_view text) {
  NameBound bound;
  if (text == "-" || text == "+") {
    bound.kind = text == "-" ? NameBound::Kind::kBeforeAll : NameBound::Kind::kBehindAll;
    return bound;
  }
  if (!text.starts_with('(') && !text.starts_with('[')) return std::nullopt;
  bound.excluded = text[0] == '(';
  bound.name = text.substr(1);
  return bound;
}

}  // namespace

Result<double> ScoreOf(std::string_view argument, const char* otherwise) {
  const std::optional<double> score = structure::ParseScore(argument);
  if (!score) return Wrong(otherwise);
  return *score;
}

Result<ScoreRange> ScoreRangeOf(std::string_view low, std::string_view high) {
  const std::optional<ScoreBound> first = ScoreBoundOf(low);
  const std::optional<ScoreBound> last = ScoreBoundOf(high);
  if (!first || !last) return Wrong("min or max is not a float");
  return ScoreRange{*first, *last};
}

Result<NameRange> NameRangeOf(std::string_view low, std::string_view high) {
  const std::optional<NameBound> first = NameBoundOf(low);
  const std::optional<NameBound> last = NameBoundOf(high);
  if (!first || !last) return Wrong("min or max not valid string range item");
  return NameRange{*first, *last};
}

Result<PlaceRange> PlaceRangeOf(std::string_view first, std::string_view last) {
  PlaceRange range{};
  KVARTS_TRY(range.first, IntegerOf(first));
  KVARTS_TRY(range.last, IntegerOf(last));
  return range;
}

structure::SortedSet::Places PlaceRange::Among(uint64_t size) const {
  const auto all = static_cast<int64_t>(size);
  const int64_t from = std::max<int64_t>(first < 0 ? first + all : first, 0);
  const int64_t to = std::min<int64_t>(last < 0 ? last + all : last, all - 1);
  if (from > to) return {};
  return {static_cast<uint64_t>(from), static_cast<uint64_t>(to) + 1};
}

MembersReply::MembersReply(ReplyWriter& reply, uint64_t size, bool with_scores)
    : reply_(reply), with_scores_(with_scores), pairs_(with_scores && reply.version() > 2) {
  reply_.Array(with_scores_ && !pairs_ ? 2 * size : size);
}

void ReplyMembers(DataCall& call, std::span<const structure::SortedSet::Entry> members, bool with_scores) {
  MembersReply reply(call.reply, members.size(), with_scores);
  for (const auto& [name, score] : members) reply.Add(name, score);
}

Status StoreMembers(DataCall& call, structure::Key& target, std::span<const structure::SortedSet::Entry> members,
                    std::string_view event) {
  const bool was_there = target.exists();
  KVARTS_CHECK_OK(structure::SetMembers(target, members));
  if (!members.empty()) {
    call.Tell(structure::kSortedSetEvents, event, target);
  } else if (was_there) {
    call.TellIfGone(target);
  }
  return {};
}

void TellPopped(DataCall& call, structure::Key& key, bool highest) {
  call.Tell(structure::kSortedSetEvents, highest ? "zpopmax" : "zpopmin", key);
  call.TellIfGone(key);
}

}  // namespace kvarts::resp
