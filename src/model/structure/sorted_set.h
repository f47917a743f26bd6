// SortedSet: members with a score each, in the order of scores, and of names among equal scores.
//
// The order is a tree (tree.h) whose items are the score, in eight bytes that have its order, and the name. A small
// sorted set lies as such in the record of its key. Of a larger one each member has a record besides, found by its name
// (members.h), whose value is the score: so what is asked by name is one read.
//
// Places count from zero, from the lowest score on.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/structure/members.h"
#include "model/structure/tree.h"

namespace kvarts::structure {

// An end of a range of scores.
struct ScoreBound {
  double score = 0;
  bool excluded = false;
};

// An end of a range of names: one of them, or beyond all.
struct NameBound {
  enum class Kind : uint8_t { kBeforeAll, kName, kBehindAll };
  Kind kind = Kind::kName;
  BytesView name;
  bool excluded = false;
};

class SortedSet {
 public:
  // Places from `begin` on, up to but not with `end`.
  struct Places {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t size() const { return end - begin; }
  };
  using Entry = std::pair<Bytes, double>;

  // There is nothing in it.
  SortedSet(Txn& txn, CollectionIds& ids);
  // `corruption` when the bytes are none.
  static Result<SortedSet> Decode(Txn& txn, CollectionIds& ids, BytesView stored);
  Bytes Encode() { return tree_.Encode(); }

  bool spread() const { return tree_.spread(); }
  uint64_t size() const { return tree_.size(); }

  Result<std::optional<double>> Score(BytesView name);
  // In their order.
  Status Scores(std::span<const BytesView> names, std::vector<std::optional<double>>* scores);
  // Reads together what it takes to put them.
  struct Member {
    double score;
    BytesView name;
  };
  Status ReadFor(std::span<const Member> members);
  // `before` is its score so far, as Score has told it. No score is NaN.
  Status Put(BytesView name, double score, std::optional<double> before);
  // Whether it was there.
  Result<bool> Erase(BytesView name);

  // Of a member with its score.
  Result<uint64_t> PlaceOf(BytesView name, double score);
  Result<Places> Between(const ScoreBound& low, const ScoreBound& high);
  // Of members with equal scores. Where they differ, it is as if names were in their order.
  Result<Places> Between(const NameBound& low, const NameBound& high);

  // Members from a place on, downwards to lower ones, `count` at most.
  using Visitor = std::function<void(BytesView name, double score)>;
  Status Visit(uint64_t from, uint64_t count, bool downwards, const Visitor& visit);
  // Those that are there, in their order; `too_large` when a commit could not hold them.
  Result<std::vector<Entry>> Copied(const Places& places);
  // `too_large` when a commit cannot hold it: nothing of it may be committed. What would leave nothing is better done
  // by removing the key.
  Status EraseAll(const Places& places);

  // As Members::Scan.
  Result<uint64_t> Scan(uint64_t place, size_t count, const Visitor& visit);
  // So many different ones, each as likely as any other, or all; of a negative number as many, which need not differ.
  Result<std::vector<Entry>> Choose(int64_t count, const std::function<uint64_t()>& random);

  void Drop() { tree_.Drop(); }
  // Another one with the same members. `too_large` when a commit cannot hold it.
  Result<SortedSet> Copy();

 private:
  SortedSet(Txn& txn, CollectionIds& ids, Tree tree);

  Members Scores() { return {*txn_, *ids_, tree_.id(), tree_.size()}; }
  Result<Entry> At(uint64_t place);
  Result<uint64_t> CountBefore(BytesView item);
  Result<uint64_t> CountBefore(double score, const NameBound& bound, bool low);
  Result<uint64_t> FirstBehind(const NameBound& bound, bool low);
  Result<std::vector<Entry>> ChooseDifferent(uint64_t count, const std::function<uint64_t()>& random);
  Error TooLarge() const;

  Txn* txn_;
  CollectionIds* ids_;
  Tree tree_;
};

// A score as it stands in the tree and in records: eight bytes, whose order is that of scores. There is one zero.
constexpr size_t kScoreBytes = 8;
void AppendScore(Bytes* to, double score);
double ScoreAt(BytesView bytes);

}  // namespace kvarts::structure
