#include "engine/postgres/group.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "engine/limits.h"
#include "engine/postgres/entry_codec.h"

namespace kvarts::postgres {
namespace {

// What kvarts.commit calls them.
enum Op : int16_t {
  kAbsent = 1,
  kPresent = 2,
  kVersionIs = 3,
  kUnchanged = 4,
  kPut = 10,
  kErase = 11,
  kEraseRange = 12,
  kAdd = 13
};
constexpr int16_t kWasRead = 1;
constexpr int16_t kSeesExpired = 2;

Op OpOf(Precondition::Kind kind) {
  switch (kind) {
    case Precondition::Kind::kAbsent:
      return kAbsent;
    case Precondition::Kind::kPresent:
      return kPresent;
    case Precondition::Kind::kVersionIs:
      return kVersionIs;
    case Precondition::Kind::kRangeUnchanged:
      return kUnchanged;
  }
  return kUnchanged;
}

Op OpOf(Mutation::Op op) {
  switch (op) {
    case Mutation::Op::kPut:
      return kPut;
    case Mutation::Op::kErase:
      return kErase;
    case Mutation::Op::kEraseRange:
      return kEraseRange;
    case Mutation::Op::kAdd:
      return kAdd;
  }
  return kPut;
}

int16_t BitsOf(const Precondition& precondition) {
  return static_cast<int16_t>((precondition.from_read ? kWasRead : 0) | (precondition.expired_too ? kSeesExpired : 0));
}

// Of two snapshots "life/xmin:xmax:xip,…" of one life, whether the first was taken before the second: the last to have
// ended had a smaller number, or more were still running before it.
bool IsOlder(std::string_view one, std::string_view other) {
  const auto parts = [](std::string_view snapshot) {
    const size_t end = snapshot.find(':') + 1;
    const size_t running = snapshot.find(':', end) + 1;
    uint64_t number = 0;
    std::from_chars(snapshot.data() + end, snapshot.data() + running - 1, number);
    const std::string_view list = snapshot.substr(running);
    return std::pair(number, list.empty() ? 0 : 1 + std::ranges::count(list, ','));
  };
  const auto [end, running] = parts(one);
  const auto [other_end, other_running] = parts(other);
  return end != other_end ? end < other_end : running > other_running;
}

int32_t Stamp(uint32_t place) { return place == Mutation::kNoStamp ? -1 : static_cast<int32_t>(place); }

}  // namespace

void Snapshots::Add(Version version, std::string snapshot) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = by_version_.try_emplace(version.stamp, snapshot);
  if (!is_new) {
    // Views are not told of in the order in which the server took their snapshots.
    if (IsOlder(snapshot, known->second)) known->second = std::move(snapshot);
    return;
  }
  oldest_first_.push_back(version.stamp);
  if (oldest_first_.size() <= kKept) return;
  by_version_.erase(oldest_first_.front());
  oldest_first_.pop_front();
}

std::optional<std::string> Snapshots::Find(Version version) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_version_.find(version.stamp);
  if (found != by_version_.end()) return found->second;
  return others_ == nullptr ? std::nullopt : others_->Find(version);
}

bool KnownFollowed::Known::Concerns(const Mutation& mutation, const std::vector<KeyRange>& ranges) {
  return std::ranges::any_of(ranges, [&](const KeyRange& range) {
    if (mutation.op == Mutation::Op::kEraseRange) return range.Intersects({mutation.key, mutation.end});
    if (mutation.key_stamp == Mutation::kNoStamp) return range.Contains(BytesView(mutation.key));
    return range.Intersects(KeyRange::Prefix(BytesView(mutation.key).substr(0, mutation.key_stamp)));
  });
}

void Locks::Add(const Commit& commit) {
  const size_t before = keys.size();
  for (const Precondition& precondition : commit.preconditions) {
    if (precondition.kind == Precondition::Kind::kRangeUnchanged) {
      AddRead({precondition.key, precondition.end});
    } else {
      keys.push_back(LockOf(precondition.key) | kShared);
    }
  }
  for (const Mutation& mutation : commit.mutations) {
    if (mutation.op == Mutation::Op::kEraseRange) {
      modes |= kAllWriters;
    } else {
      AddWritten(mutation);
    }
  }
  Sort(before);
}

void Locks::AddRead(const KeyRange& range) {
  for (const size_t bytes : kAreas) {
    const BytesView area = BytesView(range.start).substr(0, bytes);
    if (area.size() < bytes || !KeyRange::Prefix(area).Contains(range)) continue;
    keys.push_back(LockOfArea(area));
    return;
  }
  modes |= kAllWriters;
}

void Locks::AddWritten(const Mutation& mutation) {
  const BytesView key = mutation.key;
  // Nobody else has the key that a stamp makes; what stands before the stamp is known.
  const bool stamped = mutation.key_stamp != Mutation::kNoStamp;
  if (!stamped) keys.push_back(LockOf(key));
  const size_t known = stamped ? mutation.key_stamp : key.size();
  for (const size_t bytes : kAreas) {
    if (known >= bytes) keys.push_back(LockOfArea(key.substr(0, bytes)) | kShared);
  }
}

void Locks::Add(const Locks& other) {
  const size_t before = keys.size();
  modes |= other.modes;
  keys.insert(keys.end(), other.keys.begin(), other.keys.end());
  Sort(before);
}

void Locks::Sort(size_t sorted) {
  const auto added = keys.begin() + static_cast<ptrdiff_t>(sorted);
  std::sort(added, keys.end());
  std::inplace_merge(keys.begin(), added, keys.end());
  // Of two locks that are the same the exclusive one comes first and stays.
  const auto same = [](int64_t a, int64_t b) { return (a | kShared) == (b | kShared); };
  keys.erase(std::ranges::unique(keys, same).begin(), keys.end());
  if (keys.size() > kMaxKeys || (modes & kAllWriters) != 0) KeepAllOut();
}

void Locks::AddTo(Params* params) const {
  ArrayParam array(ArrayParam::Of::kInt8);
  for (const int64_t key : keys) array.Int8(key);
  array.AddTo(params);
}

void Locks::KeepAllOut() {
  modes |= kAllWriters;
  keys.clear();
}

// The arrays of kvarts.commit, in the order of its parameters: each operation has a place in all of them.
class Group::Arrays {
 public:
  Arrays(const Snapshots& snapshots, const KnownFollowed::Known& followed)
      : snapshots_(snapshots), followed_(followed) {}

  void Add(int32_t commit, const Precondition& precondition) {
    commit_.Int4(commit);
    op_.Int2(OpOf(precondition.kind));
    bits_.Int2(BitsOf(precondition));
    const bool range = precondition.kind == Precondition::Kind::kRangeUnchanged;
    range ? AddRange({precondition.key, precondition.end}) : AddKey(precondition.key);
    expire_.Int8(StoredExpiry(precondition.lapses));
    schema_.Int4(0);
    value_.Bytes({});
    number_.Int8(static_cast<int64_t>(precondition.version.stamp));
    stamp_key_.Int4(-1);
    stamp_value_.Int4(-1);
    const auto seen = range ? snapshots_.Find(precondition.version) : std::nullopt;
    seen ? snapshot_.Bytes(*seen) : snapshot_.Null();
  }

  void Add(int32_t commit, const Mutation& mutation) {
    commit_.Int4(commit);
    if (KnownFollowed::Known::Concerns(mutation, followed_.touched)) touches_.Int4(commit_.size());
    if (KnownFollowed::Known::Concerns(mutation, followed_.told)) tells_.Int4(commit_.size());
    op_.Int2(OpOf(mutation.op));
    bits_.Int2(StoredBits(mutation));
    const bool range = mutation.op == Mutation::Op::kEraseRange;
    range ? AddRange({mutation.key, mutation.end}) : AddKey(mutation.key);
    expire_.Int8(StoredExpiry(mutation.expiry));
    schema_.Int4(static_cast<int32_t>(mutation.schema));
    value_.Bytes(StoredValue(mutation.kind, mutation.value));
    number_.Int8(mutation.delta);
    stamp_key_.Int4(Stamp(mutation.key_stamp));
    stamp_value_.Int4(Stamp(mutation.value_stamp));
    snapshot_.Null();
  }

  void AddTo(Params* params) {
    for (ArrayParam* array : {&touches_, &tells_, &commit_, &op_, &bits_, &key_, &digest_, &rest_, &end_, &end_rest_,
                              &number_, &expire_, &schema_, &value_, &stamp_key_, &stamp_value_, &snapshot_}) {
      array->AddTo(params);
    }
  }

 private:
  using Of = ArrayParam::Of;

  void AddKey(BytesView key) {
    const KeyColumns columns(key);
    key_.Bytes(columns.key);
    digest_.Bytes(columns.digest);
    rest_.Bytes(columns.rest);
    end_.Bytes({});
    end_rest_.Bytes({});
  }

  void AddRange(const KeyRange& range) {
    const Bound lower(range.start);
    const Bound upper = Bound::Upper(range);
    key_.Bytes(lower.key);
    digest_.Bytes({});
    rest_.Bytes(lower.rest);
    end_.Bytes(upper.key);
    end_rest_.Bytes(upper.rest);
  }

  const Snapshots& snapshots_;
  const KnownFollowed::Known& followed_;
  ArrayParam touches_{Of::kInt4}, tells_{Of::kInt4};  // places, from 1
  ArrayParam commit_{Of::kInt4}, op_{Of::kInt2}, bits_{Of::kInt2};
  ArrayParam key_{Of::kBytea}, digest_{Of::kBytea}, rest_{Of::kBytea}, end_{Of::kBytea}, end_rest_{Of::kBytea};
  ArrayParam number_{Of::kInt8}, expire_{Of::kInt8}, schema_{Of::kInt4}, value_{Of::kBytea};
  ArrayParam stamp_key_{Of::kInt4}, stamp_value_{Of::kInt4}, snapshot_{Of::kText};
};

// Those of kvarts.put_all.
class Group::PutArrays {
 public:
  void Add(int32_t commit, const Mutation& mutation, bool touches) {
    const KeyColumns columns(mutation.key);
    commit_.Int4(commit);
    if (touches) touches_.Int4(commit_.size());
    bits_.Int2(StoredBits(mutation));
    key_.Bytes(columns.key);
    digest_.Bytes(columns.digest);
    rest_.Bytes(columns.rest);
    expire_.Int8(StoredExpiry(mutation.expiry));
    schema_.Int4(static_cast<int32_t>(mutation.schema));
    value_.Bytes(StoredValue(mutation.kind, mutation.value));
  }
  void AddTouchesTo(Params* params) { touches_.AddTo(params); }
  void AddTo(Params* params) {
    for (ArrayParam* array : {&commit_, &bits_, &key_, &digest_, &rest_, &expire_, &schema_, &value_}) {
      array->AddTo(params);
    }
  }

 private:
  using Of = ArrayParam::Of;

  ArrayParam touches_{Of::kInt4}, commit_{Of::kInt4}, bits_{Of::kInt2};
  ArrayParam key_{Of::kBytea}, digest_{Of::kBytea}, rest_{Of::kBytea};
  ArrayParam expire_{Of::kInt8}, schema_{Of::kInt4}, value_{Of::kBytea};
};

void Group::Add(const Commit& commit) {
  commits_.push_back(&commit);
  operations_ += commit.preconditions.size() + commit.mutations.size();
  bytes_ += CommitBytes(commit);
  locks_.Add(commit);
}

Call Group::Commits(std::optional<uint64_t> now, int modes) const {
  Params params;
  params.OptionalInt8(now);
  params.Text(SynchronousCommit(commits_.front()->durability));
  params.Int4(locks_.modes | modes);
  locks_.AddTo(&params);
  params.Int4(static_cast<int32_t>(commits_.size()));
  const std::shared_ptr<const KnownFollowed::Known> followed = followed_.Get();
  params.Int8(followed->epoch);
  Arrays arrays(snapshots_, *followed);
  for (size_t i = 0; i < commits_.size(); ++i) {
    const auto number = static_cast<int32_t>(i + 1);
    for (const Precondition& precondition : commits_[i]->preconditions) arrays.Add(number, precondition);
    for (const Mutation& mutation : commits_[i]->mutations) arrays.Add(number, mutation);
  }
  arrays.AddTo(&params);
  return {&kCommit, std::move(params), true};
}

std::optional<Group::LastPuts> Group::PutsAlone(const KnownFollowed::Known& followed) const {
  if (locks_.modes != 0) return {};
  LastPuts last;
  for (const Commit* commit : commits_) {
    if (commit->mutations.empty()) return {};
    for (const Mutation& mutation : commit->mutations) {
      const bool stamped = mutation.key_stamp != Mutation::kNoStamp || mutation.value_stamp != Mutation::kNoStamp;
      if (mutation.op != Mutation::Op::kPut || stamped) return {};
      if (KnownFollowed::Known::Concerns(mutation, followed.told)) return {};
      last[mutation.key] = &mutation;
    }
  }
  for (const Commit* commit : commits_) {
    for (const Precondition& precondition : commit->preconditions) {
      if (precondition.kind == Precondition::Kind::kRangeUnchanged || last.contains(precondition.key)) return {};
    }
  }
  return last;
}

std::optional<Call> Group::Puts(std::optional<uint64_t> now) const {
  const std::shared_ptr<const KnownFollowed::Known> followed = followed_.Get();
  const std::optional<LastPuts> last = PutsAlone(*followed);
  if (!last) return {};
  // Of the puts of a key only the last is ever seen.
  PutArrays puts;
  for (size_t i = 0; i < commits_.size(); ++i) {
    for (const Mutation& mutation : commits_[i]->mutations) {
      if (last->at(mutation.key) != &mutation) continue;
      puts.Add(static_cast<int32_t>(i + 1), mutation, KnownFollowed::Known::Concerns(mutation, followed->touched));
    }
  }
  Params params;
  params.OptionalInt8(now);
  params.Text(SynchronousCommit(commits_.front()->durability));
  locks_.AddTo(&params);
  params.Int4(static_cast<int32_t>(commits_.size()));
  params.Int8(followed->epoch);
  puts.AddTouchesTo(&params);
  AddConditions(&params);
  puts.AddTo(&params);
  return Call{&kPutAll, std::move(params), true};
}

void Group::AddConditions(Params* params) const {
  // What many rest on is asked once.
  std::vector<const Precondition*> asked;
  for (const Commit* commit : commits_) {
    for (const Precondition& precondition : commit->preconditions) asked.push_back(&precondition);
  }
  const auto question = [](const Precondition* asks) {
    return std::tuple(asks->kind, asks->version.stamp, asks->expired_too, asks->lapses.micros, BytesView(asks->key));
  };
  std::ranges::sort(asked, {}, question);
  asked.erase(std::ranges::unique(asked, {}, question).begin(), asked.end());
  using Of = ArrayParam::Of;
  ArrayParam op(Of::kInt2), bits(Of::kInt2), key(Of::kBytea), digest(Of::kBytea), number(Of::kInt8), expire(Of::kInt8);
  for (const Precondition* precondition : asked) {
    const KeyColumns columns(precondition->key);
    op.Int2(OpOf(precondition->kind));
    bits.Int2(BitsOf(*precondition));
    key.Bytes(columns.key);
    digest.Bytes(columns.digest);
    number.Int8(static_cast<int64_t>(precondition->version.stamp));
    expire.Int8(StoredExpiry(precondition->lapses));
  }
  for (ArrayParam* array : {&op, &bits, &key, &digest, &number, &expire}) array->AddTo(params);
}

Mutation::Op MutationOf(int16_t op) {
  switch (op) {
    case kErase:
      return Mutation::Op::kErase;
    case kEraseRange:
      return Mutation::Op::kEraseRange;
    case kAdd:
      return Mutation::Op::kAdd;
    default:
      return Mutation::Op::kPut;
  }
}

Verdict VerdictOf(const Rows& rows, int row) {
  enum Column { kPlace, kOutcome, kOperation, kNumber };
  return {static_cast<Verdict::Kind>(rows.Int4(row, kOutcome)),
          static_cast<size_t>(rows.Int4(row, kOperation)),
          {static_cast<uint64_t>(rows.Int8(row, kNumber))}};
}

std::optional<Version> FirstVersionOf(const Rows& rows) {
  if (rows.IsNull(0, 0)) return {};
  return Version{static_cast<uint64_t>(rows.Int8(0, 0))};
}

Error FailedPrecondition(const Precondition& precondition, Version met) {
  const auto code = precondition.from_read ? ErrorCode::kConflict : ErrorCode::kPreconditionFailed;
  if (precondition.kind == Precondition::Kind::kRangeUnchanged) {
    return Error(code, "the range has changed", {{"range", KeyRange{precondition.key, precondition.end}.ToString()}});
  }
  return Error(code, "the key is not as it was expected to be",
               {{"key", Escaped(precondition.key)}, {"version", met == kNoVersion ? "absent" : met.ToString()}});
}

std::string_view SynchronousCommit(Durability durability) {
  switch (durability) {
    case Durability::kNone:
    case Durability::kInterval:
      return "off";
    case Durability::kSync:
      return "local";
    case Durability::kQuorum:
      return "on";
    case Durability::kApplied:
      return "remote_apply";
  }
  return "remote_apply";
}

}  // namespace kvarts::postgres
