#include "model/structure/sorted_set.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

namespace kvarts::structure {
namespace {

constexpr const char* kDamaged = "a sorted set is damaged";
// Members come anywhere: so with each of them a leaf is written, and large ones would cost more than they spare.
constexpr TreeLimits kLimits = {.max_leaf_bytes = 512};
constexpr uint64_t kSign = uint64_t{1} << 63;

// Their order as numbers is that of scores.
uint64_t BitsOf(double score) {
  const auto bits = std::bit_cast<uint64_t>(score == 0 ? 0.0 : score);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

Bytes ItemOf(double score, BytesView name) {
  Bytes item;
  item.reserve(kScoreBytes + name.size());
  AppendScore(&item, score);
  item.append(name);
  return item;
}

// Of one that is damaged nothing is.
bool IsItem(BytesView item) { return item.size() >= kScoreBytes; }
BytesView NameIn(BytesView item) { return item.substr(kScoreBytes); }

Result<double> ScoreIn(BytesView value) {
  if (value.size() != kScoreBytes) return Error(ErrorCode::kCorruption, kDamaged);
  return ScoreAt(value);
}

// Any number below the end, each as likely as any other.
uint64_t Below(uint64_t end, const std::function<uint64_t()>& random) {
  const uint64_t whole = UINT64_MAX - UINT64_MAX % end;
  while (true) {
    const uint64_t number = random();
    if (number < whole) return number % end;
  }
}

}  // namespace

void AppendScore(Bytes* to, double score) { AppendBig(to, BitsOf(score)); }

double ScoreAt(BytesView bytes) {
  const auto bits = LoadBig<uint64_t>(bytes.data());
  return std::bit_cast<double>((bits & kSign) != 0 ? bits & ~kSign : ~bits);
}

SortedSet::SortedSet(Txn& txn, CollectionIds& ids)
    : SortedSet(txn, ids, Tree(txn, ids, Tree::Order::kByBytes, kLimits)) {}

SortedSet::SortedSet(Txn& txn, CollectionIds& ids, Tree tree) : txn_(&txn), ids_(&ids), tree_(std::move(tree)) {}

Result<SortedSet> SortedSet::Decode(Txn& txn, CollectionIds& ids, BytesView stored) {
  KVARTS_TRY(Tree tree, Tree::Decode(txn, ids, Tree::Order::kByBytes, stored, kLimits));
  return SortedSet(txn, ids, std::move(tree));
}

Error SortedSet::TooLarge() const {
  return Error(ErrorCode::kTooLarge, "the sorted set is too large to be changed so at once",
               {{"limit", "max_commit_operations"}, {"members", std::to_string(size())}});
}

Result<std::optional<double>> SortedSet::Score(BytesView name) {
  std::optional<double> score;
  if (spread()) {
    KVARTS_TRY(const std::optional<Bytes> value, Scores().Find(name));
    if (value) {
      KVARTS_TRY(score, ScoreIn(*value));
    }
    return score;
  }
  KVARTS_CHECK_OK(tree_.Visit(0, size(), false, [&](BytesView item) {
    if (IsItem(item) && NameIn(item) == name) score = ScoreAt(item);
    return !score;
  }));
  return score;
}

Status SortedSet::Scores(std::span<const BytesView> names, std::vector<std::optional<double>>* scores) {
  scores->assign(names.size(), std::nullopt);
  if (!spread()) {
    for (size_t i = 0; i < names.size(); ++i) {
      KVARTS_TRY((*scores)[i], Score(names[i]));
    }
    return {};
  }
  std::vector<std::optional<Bytes>> values;
  KVARTS_CHECK_OK(Scores().FindMany(names, &values));
  for (size_t i = 0; i < names.size(); ++i) {
    if (!values[i]) continue;
    KVARTS_TRY((*scores)[i], ScoreIn(*values[i]));
  }
  return {};
}

Status SortedSet::ReadFor(std::span<const Member> members) {
  if (!spread()) return {};
  std::vector<Bytes> items;
  items.reserve(members.size());
  for (const Member& member : members) items.push_back(ItemOf(member.score, member.name));
  return tree_.ReadFor(items);
}

Status SortedSet::Put(BytesView name, double score, std::optional<double> before) {
  if (before == score) return {};
  if (name.size() > txn_->limits().max_key_bytes) {
    return Error(ErrorCode::kTooLarge, "the name of a member is too long", {{"limit", "max_key_bytes"}});
  }
  if (before) {
    KVARTS_TRY(const bool was_there, tree_.Erase(ItemOf(*before, name)));
    if (!was_there) return Error(ErrorCode::kCorruption, kDamaged);
  }
  const bool was_spread = spread();
  KVARTS_TRY(const bool is_new, tree_.Insert(ItemOf(score, name)));
  if (!is_new) return Error(ErrorCode::kCorruption, kDamaged);
  if (!spread()) return {};
  Members scores = Scores();
  Bytes value;
  AppendScore(&value, score);
  if (was_spread) {
    scores.PutUnseen(name, value);
    return {};
  }
  return tree_.Visit(0, size(), false, [&](BytesView item) {
    scores.PutUnseen(NameIn(item), item.substr(0, kScoreBytes));
    return true;
  });
}

Result<bool> SortedSet::Erase(BytesView name) {
  KVARTS_TRY(const std::optional<double> score, Score(name));
  if (!score) return false;
  KVARTS_TRY(const bool was_there, tree_.Erase(ItemOf(*score, name)));
  if (!was_there) return Error(ErrorCode::kCorruption, kDamaged);
  if (spread()) Scores().EraseUnseen(name);
  return true;
}

Result<uint64_t> SortedSet::CountBefore(BytesView item) {
  KVARTS_TRY(const Tree::Place place, tree_.Find(item));
  return place.position;
}

Result<uint64_t> SortedSet::PlaceOf(BytesView name, double score) { return CountBefore(ItemOf(score, name)); }

Result<SortedSet::Places> SortedSet::Between(const ScoreBound& low, const ScoreBound& high) {
  // Behind all members of a score begins what follows it.
  Bytes begin;
  AppendBig(&begin, BitsOf(low.score) + (low.excluded ? 1 : 0));
  Bytes end;
  AppendBig(&end, BitsOf(high.score) + (high.excluded ? 0 : 1));
  Places places;
  KVARTS_TRY(places.begin, CountBefore(begin));
  KVARTS_TRY(places.end, CountBefore(end));
  places.end = std::max(places.begin, places.end);
  return places;
}

Result<uint64_t> SortedSet::CountBefore(double score, const NameBound& bound, bool low) {
  Bytes item = ItemOf(score, bound.name);
  // The next name, in their order.
  if (low == bound.excluded) item.push_back('\0');
  return CountBefore(item);
}

// Where names begin to be behind the bound, as if they were in their order.
Result<uint64_t> SortedSet::FirstBehind(const NameBound& bound, bool low) {
  uint64_t first = 0;
  for (uint64_t left = size(); left > 0;) {
    const uint64_t half = left / 2;
    KVARTS_TRY(const Entry entry, At(first + half));
    const bool before = low == bound.excluded ? entry.first <= bound.name : entry.first < bound.name;
    if (before) first += half + 1;
    left = before ? left - half - 1 : half;
  }
  return first;
}

Result<SortedSet::Places> SortedSet::Between(const NameBound& low, const NameBound& high) {
  if (size() == 0) return Places{};
  KVARTS_TRY(const Entry lowest, At(0));
  KVARTS_TRY(const Entry highest, At(size() - 1));
  const auto count_before = [&](const NameBound& bound, bool is_low) -> Result<uint64_t> {
    if (bound.kind == NameBound::Kind::kBeforeAll) return uint64_t{0};
    if (bound.kind == NameBound::Kind::kBehindAll) return size();
    if (lowest.second != highest.second) return FirstBehind(bound, is_low);
    return CountBefore(lowest.second, bound, is_low);
  };
  Places places;
  KVARTS_TRY(places.begin, count_before(low, true));
  KVARTS_TRY(places.end, count_before(high, false));
  places.end = std::max(places.begin, places.end);
  return places;
}

Status SortedSet::Visit(uint64_t from, uint64_t count, bool downwards, const Visitor& visit) {
  bool damaged = false;
  KVARTS_CHECK_OK(tree_.Visit(from, count, downwards, [&](BytesView item) {
    damaged = !IsItem(item);
    if (!damaged) visit(NameIn(item), ScoreAt(item));
    return !damaged;
  }));
  return damaged ? Status(Error(ErrorCode::kCorruption, kDamaged)) : Status();
}

Result<SortedSet::Entry> SortedSet::At(uint64_t place) {
  KVARTS_TRY(const Bytes item, tree_.At(place));
  if (!IsItem(item)) return Error(ErrorCode::kCorruption, kDamaged);
  return Entry(NameIn(item), ScoreAt(item));
}

Result<std::vector<SortedSet::Entry>> SortedSet::Copied(const Places& places) {
  if (places.size() > txn_->limits().max_commit_operations) return TooLarge();
  std::vector<Entry> entries;
  entries.reserve(places.size());
  KVARTS_CHECK_OK(Visit(places.begin, places.size(), false,
                        [&](BytesView name, double score) { entries.emplace_back(name, score); }));
  return entries;
}

Status SortedSet::EraseAll(const Places& places) {
  if (!spread()) return tree_.EraseAt(places.begin, places.size());
  if (places.size() > txn_->limits().max_commit_operations) return TooLarge();
  Members scores = Scores();
  KVARTS_CHECK_OK(Visit(places.begin, places.size(), false, [&](BytesView name, double) { scores.EraseUnseen(name); }));
  return tree_.EraseAt(places.begin, places.size());
}

Result<uint64_t> SortedSet::Scan(uint64_t place, size_t count, const Visitor& visit) {
  if (!spread()) {
    KVARTS_CHECK_OK(Visit(0, size(), false, visit));
    return 0;
  }
  bool damaged = false;
  KVARTS_TRY(const uint64_t next, Scores().Scan(place, count, [&](BytesView name, BytesView value) {
    const Result<double> score = ScoreIn(value);
    damaged = damaged || !score.has_value();
    if (score.has_value()) visit(name, *score);
  }));
  if (damaged) return Error(ErrorCode::kCorruption, kDamaged);
  return next;
}

Result<std::vector<SortedSet::Entry>> SortedSet::Choose(int64_t count, const std::function<uint64_t()>& random) {
  std::vector<Entry> chosen;
  if (size() == 0 || count == 0) return chosen;
  for (; count < 0; ++count) {
    KVARTS_TRY(chosen.emplace_back(), At(Below(size(), random)));
  }
  if (!chosen.empty()) return chosen;
  if (static_cast<uint64_t>(count) < size()) return ChooseDifferent(static_cast<uint64_t>(count), random);
  KVARTS_CHECK_OK(Visit(0, size(), false, [&](BytesView name, double score) { chosen.emplace_back(name, score); }));
  return chosen;
}

Result<std::vector<SortedSet::Entry>> SortedSet::ChooseDifferent(uint64_t count,
                                                                 const std::function<uint64_t()>& random) {
  // Each round allows for one place more: it, or if what is drawn was there already, the new one.
  std::unordered_set<uint64_t> drawn;
  for (uint64_t last = size() - count; last < size(); ++last) {
    if (!drawn.insert(Below(last + 1, random)).second) drawn.insert(last);
  }
  std::vector<uint64_t> places(drawn.begin(), drawn.end());
  std::ranges::sort(places);  // so that what lies together is read together
  std::vector<Entry> chosen;
  chosen.reserve(places.size());
  for (const uint64_t place : places) {
    KVARTS_TRY(chosen.emplace_back(), At(place));
  }
  for (size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[Below(i, random)]);
  return chosen;
}

Result<SortedSet> SortedSet::Copy() {
  if (spread() && size() > txn_->limits().max_commit_operations) return TooLarge();
  KVARTS_TRY(Tree tree, tree_.Copy());
  SortedSet copy(*txn_, *ids_, std::move(tree));
  if (!spread()) return copy;
  Members scores = copy.Scores();
  KVARTS_CHECK_OK(tree_.Visit(0, size(), false, [&](BytesView item) {
    if (IsItem(item)) scores.PutUnseen(NameIn(item), item.substr(0, kScoreBytes));
    return true;
  }));
  return copy;
}

}  // namespace kvarts::structure
