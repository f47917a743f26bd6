// What commands on sorted sets have in common: their arguments, and how members are answered.
#pragma once

#include <span>
#include <vector>

#include "model/structure/sorted_sets.h"
#include "protocol/resp/command.h"

namespace kvarts::resp {

// What the key of an argument holds; null when it is not there.
inline Result<structure::SortedSet*> SortedSetOf(DataCall& call, size_t argument) {
  KVARTS_TRY(structure::Key * key, call.OpenToRead(argument));
  return key->As<structure::SortedSet>(structure::Type::kSortedSet);
}

Result<double> ScoreOf(std::string_view argument, const char* otherwise);

// From one score, or name, to another: "(1.5", "+inf"; "[a", "(b", "-".
struct ScoreRange {
  structure::ScoreBound low;
  structure::ScoreBound high;
};
Result<ScoreRange> ScoreRangeOf(std::string_view low, std::string_view high);
struct NameRange {
  structure::NameBound low;
  structure::NameBound high;
};
Result<NameRange> NameRangeOf(std::string_view low, std::string_view high);
// From one place to another, both included; less than zero counts from the end.
struct PlaceRange {
  int64_t first;
  int64_t last;

  structure::SortedSet::Places Among(uint64_t size) const;
};
Result<PlaceRange> PlaceRangeOf(std::string_view first, std::string_view last);

// Members, each with its score behind it or, in version 3, both as an array.
class MembersReply {
 public:
  MembersReply(ReplyWriter& reply, uint64_t size, bool with_scores);
  void Add(BytesView name, double score) {
    if (pairs_) reply_.Array(2);
    reply_.Bulk(name);
    if (with_scores_) reply_.Double(score);
  }

 private:
  ReplyWriter& reply_;
  const bool with_scores_;
  const bool pairs_;
};
void ReplyMembers(DataCall& call, std::span<const structure::SortedSet::Entry> members, bool with_scores);

// Replaces what a key holds, and tells of it; without members the key goes.
Status StoreMembers(DataCall& call, structure::Key& target, std::span<const structure::SortedSet::Entry> members,
                    std::string_view event);
// Tells that members were taken from an end.
void TellPopped(DataCall& call, structure::Key& key, bool highest);

}  // namespace kvarts::resp
