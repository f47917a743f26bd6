#include "engine/rocksdb/group.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "engine/rocksdb/key_hash.h"
#include "engine/rocksdb/meta.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

// The database as it is: only the commit thread writes, so nothing changes while it reads.
class LatestView final : public View {
 public:
  LatestView(RocksStore& store, Timestamp time) : store_(store), time_(time) {}
  Version version() const override { return store_.visible(); }
  Timestamp time() const override { return time_; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    return store_.Read(store_.Latest(), time_, keys, out, options);
  }
  Result<ScanPage> Scan(const ScanRequest& request) override { return store_.Scan(store_.Latest(), time_, request); }

 private:
  RocksStore& store_;
  Timestamp time_;
};

// Keeps a second run from stalling everybody else.
class BudgetedView final : public View {
 public:
  BudgetedView(View& view, const RocksStore& store)
      : view_(view), store_(store), keys_left_(store.options.limits.max_second_run_keys) {}

  Version version() const override { return view_.version(); }
  Timestamp time() const override { return view_.time(); }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    KVARTS_CHECK_OK(Charge(keys.size()));
    return view_.Get(keys, out, options);
  }
  Result<ScanPage> Scan(const ScanRequest& request) override {
    KVARTS_CHECK_OK(Charge(0));
    ReadCost cost;
    ScanRequest counted = request;
    counted.options.cost = &cost;
    counted.options.max_skipped = std::min<uint64_t>(request.options.max_skipped, keys_left_);
    Result<ScanPage> page = view_.Scan(counted);
    if (!page.has_value()) {
      const bool ours = keys_left_ < request.options.max_skipped && page.error().field("limit") == "max_skipped";
      return ours ? Charge(keys_left_ + 1).error() : std::move(page).error();
    }
    KVARTS_CHECK_OK(Charge(cost.keys + cost.skipped));
    if (request.options.cost != nullptr) *request.options.cost += cost;
    return page;
  }

 private:
  Status Charge(uint64_t keys) {
    const Limits& limits = store_.options.limits;
    if (keys > keys_left_ || running_.Elapsed() > limits.max_second_run_time) {
      return Error(ErrorCode::kOverloaded, "the transaction lost a race and is too large to be run first",
                   {{"limit", keys > keys_left_ ? "max_second_run_keys" : "max_second_run_time"}});
    }
    keys_left_ -= keys;
    return {};
  }

  View& view_;
  const RocksStore& store_;
  uint64_t keys_left_;
  Stopwatch running_;
};

Error PreconditionError(const Precondition& precondition, const std::string& found) {
  if (precondition.from_read) {
    return Error(ErrorCode::kConflict, "what the transaction read has changed", {{"key", Escaped(precondition.key)}});
  }
  return Error(ErrorCode::kPreconditionFailed, "a precondition does not hold",
               {{"key", Escaped(precondition.key)}, {"version", found}});
}

}  // namespace

Group::Group(RocksStore& store, Version last)
    : store_(store), recent_(last), last_(last), adds_(kAddSlots), noted_(kNotedBits) {}

void Group::Clear() {
  if (batch_.GetDataSize() > kMaxBytes) {
    batch_ = rocksdb::WriteBatch();
  } else {
    batch_.Clear();
  }
  decisions_.clear();
  for (const Note& note : notes_) noted_[NotedAt(note.hash)] = false;
  notes_.clear();
  sums_.clear();
  overlay_.Clear();
  overlay_ready_ = false;
  writes_ = needs_sync_ = first_expiring_blob_ = erases_range_ = false;
  operations_ = bytes_ = 0;
}

void Group::Decide(std::unique_ptr<Submission> submission, std::vector<std::unique_ptr<Submission>>* next) {
  if (!submission->Claim()) return;
  const Version version = Version::After(last_, now_);
  Status status;
  if (submission->run_first) {
    status = RunAgain(*submission, version);
  } else {
    status = CheckPreconditions(submission->commit, version, true);
    const bool lost_race = !status.has_value() && status.error().code() == ErrorCode::kConflict;
    if (lost_race && submission->CanRun()) status = RunAgain(*submission, version);
  }
  // What is stated comes second: a caller who read something old may be stating something old.
  if (status.has_value()) status = CheckPreconditions(submission->commit, version, false);
  Decision& decision = decisions_.emplace_back();
  decision.submission = std::move(submission);
  if (!status.has_value()) {
    decision.error = std::move(status).error();
  } else {
    Accept(decision, version, next);
  }
}

Status Group::CheckPreconditions(const Commit& commit, Version version, bool from_read) {
  std::string found;
  size_t checked = 0;
  std::optional<Stopwatch> checking;
  for (const Precondition& precondition : commit.preconditions) {
    if (precondition.from_read != from_read) continue;
    if (++checked % kCheckedAtOnce == 0) {
      if (!checking) checking.emplace();
      const Duration at_most = store_.options.limits.max_second_run_time;
      if (checking->Elapsed() > at_most) {
        return Error(ErrorCode::kOverloaded, "too much of what the commit rests on has to be looked up again",
                     {{"limit", "max_second_run_time"}, {"at_most_us", std::to_string(at_most.micros)}});
      }
    }
    KVARTS_TRY(const bool holds, Holds(precondition, version, &found));
    if (!holds) return PreconditionError(precondition, found);
  }
  return {};
}

Result<bool> Group::Holds(const Precondition& precondition, Version version, std::string* found) {
  using Kind = Precondition::Kind;
  *found = "changed";
  if (precondition.lapses <= version.time()) return false;
  if (precondition.kind == Kind::kRangeUnchanged) {
    return !recent_.RangeMayHaveChanged({precondition.key, precondition.end}, precondition.version);
  }
  const uint64_t hash = KeyHash(precondition.key);
  const bool seen = precondition.seen_at != kNoVersion;
  if (seen && !recent_.PointMayHaveChanged(hash, precondition.seen_at)) return true;
  KVARTS_TRY(const std::optional<Record> record,
             Current(precondition.key, hash, version.time(), precondition.expired_too));
  *found = record ? record->header.version.ToString() : "absent";
  switch (precondition.kind) {
    case Kind::kAbsent:
      return !record;
    case Kind::kPresent:
      return record.has_value();
    default:
      return record && record->header.version == precondition.version;
  }
}

Result<std::optional<Record>> Group::Current(BytesView key, uint64_t hash, Timestamp time, bool expired_too) {
  LatestView latest(store_, time);
  const ReadOptions options{.expired_too = expired_too, .cost = nullptr};
  if (!MayBePending(hash)) return latest.GetOne(key, options);
  return OverlayView(latest, Decided(), last_, time).GetOne(key, options);
}

bool Group::MayBePending(uint64_t hash) const {
  return recent_.PointMayHaveChanged(hash, store_.visible()) && (erases_range_ || noted_[NotedAt(hash)]);
}

const Overlay& Group::Decided() {
  if (!overlay_ready_) {
    for (const Decision& decision : decisions_) {
      if (decision.error || !decision.submission) continue;
      const std::span<const Mutation> mutations = decision.submission->commit.mutations;
      const bool accepting = &decision == accepting_;
      for (const Mutation& mutation : mutations.first(accepting ? accepted_ : mutations.size())) {
        overlay_.Apply(mutation, decision.version, decision.version.time());
      }
    }
    overlay_ready_ = true;
  }
  return overlay_;
}

Status Group::RunAgain(Submission& submission, Version version) {
  LatestView latest(store_, version.time());
  OverlayView current(latest, Decided(), last_, version.time());
  BudgetedView budgeted(current, store_);
  KVARTS_CHECK_OK(submission.Run(budgeted));
  // What was submitted has been checked; this is another commit.
  if (submission.commit.durability > Durability::kSync) {
    return Error(ErrorCode::kInvalidArgument, "this engine has no replicas",
                 {{"durability", std::string(DurabilityName(submission.commit.durability))},
                  {"strongest", std::string(DurabilityName(Durability::kSync))}});
  }
  return CheckCommit(submission.commit, store_.options.limits);
}

void Group::Accept(Decision& decision, Version version, std::vector<std::unique_ptr<Submission>>* next) {
  Commit& commit = decision.submission->commit;
  decision.writes = !commit.mutations.empty();
  decision.version = decision.writes ? version : last_;
  if (!decision.writes) return;
  needs_sync_ |= commit.durability >= Durability::kSync;
  last_ = version;
  writes_ = true;
  accepting_ = &decision;
  accepted_ = 0;
  for (Mutation& mutation : commit.mutations) {
    mutation.Stamp(version);
    Write(mutation, version);
    if (overlay_ready_) overlay_.Apply(mutation, version, version.time());
    ++accepted_;
  }
  accepting_ = nullptr;
  if (listener_ != nullptr) listener_->Decided(commit, version, next);
}

void Group::Write(const Mutation& mutation, Version version) {
  ++operations_;
  bytes_ += mutation.key.size() + mutation.value.size();
  if (mutation.op == Mutation::Op::kEraseRange) return WriteEraseRange(mutation, version);
  const uint64_t hash = KeyHash(mutation.key);
  if (mutation.op == Mutation::Op::kAdd) {
    WriteAdd(mutation, hash, version);
  } else if (mutation.op == Mutation::Op::kPut) {
    WritePut(mutation, hash, version);
  } else {
    batch_.Delete(store_.FamilyOf(*store_.routing, mutation.key), ToSlice(mutation.key));
    notes_.push_back({hash, &mutation, version, nullptr});
  }
  recent_.NotePoint(hash, mutation.key, version);
  noted_[NotedAt(hash)] = true;
}

void Group::WritePut(const Mutation& put, uint64_t hash, Version version) {
  ValueHeader header;
  header.version = version;
  header.expiry = put.expiry;
  header.kind = put.kind;
  header.owned = put.owned;
  header.schema = put.schema;
  const EncodedHeader encoded(header);
  const rocksdb::Slice key = ToSlice(put.key);
  const rocksdb::Slice parts[] = {ToSlice(encoded.bytes()), ToSlice(put.value)};
  batch_.Put(store_.FamilyOf(*store_.routing, put.key), rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(parts, 2));
  notes_.push_back({hash, &put, version, nullptr});
  const bool large = encoded.bytes().size() + put.value.size() >= store_.options.blob_min_bytes;
  if (large && put.expiry != kNever && !first_expiring_blob_ && !store_.expiring_blobs.load()) {
    batch_.Put(store_.meta, kMetaExpiringBlobs, "1");
    first_expiring_blob_ = true;
  }
}

// The sum, if it can be had cheaply, or if it is time to write it out.
const Record* Group::TrySum(const Mutation& add, uint64_t hash, Version version) {
  uint8_t& chain = adds_[hash & (kAddSlots - 1)];
  std::optional<Record> base(std::in_place);
  if (MayBePending(hash) || !store_.cache.Find(hash, add.key, store_.visible(), &*base)) {
    if (++chain < kMaxAdds) return nullptr;
    Result<std::optional<Record>> current = Current(add.key, hash, version.time(), true);
    if (!current.has_value()) return nullptr;
    base = *std::move(current);
  }
  chain = 0;
  return &sums_.emplace_back(AddToRecord(std::move(base), add.delta, version));
}

void Group::WriteAdd(const Mutation& add, uint64_t hash, Version version) {
  const Record* sum = TrySum(add, hash, version);
  if (sum == nullptr) store_.added.Note(hash, version);
  const rocksdb::Slice key = ToSlice(add.key);
  if (sum == nullptr) {
    batch_.Merge(store_.FamilyOf(*store_.routing, add.key), key, AddOperand{version, add.delta}.Encode());
  } else {
    const EncodedHeader encoded(sum->header);
    const rocksdb::Slice parts[] = {ToSlice(encoded.bytes()), ToSlice(sum->value)};
    batch_.Put(store_.FamilyOf(*store_.routing, add.key), rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(parts, 2));
  }
  notes_.push_back({hash, &add, version, sum});
}

void Group::WriteEraseRange(const Mutation& erase, Version version) {
  const KeyRange range{erase.key, erase.end};
  // RocksDB has no open ends: this is larger than every key can be.
  const Limits& limits = store_.options.limits;
  const Bytes last(limits.max_key_bytes + Limits::kKeyAllowance + 1, '\xff');
  for (const Routing::Segment& segment : store_.routing->Segments(range)) {
    const BytesView end = segment.range.HasEnd() ? BytesView(segment.range.end) : BytesView(last);
    batch_.DeleteRange(store_.families[static_cast<size_t>(segment.profile)], ToSlice(segment.range.start),
                       ToSlice(end));
  }
  if (erase.reclaim) batch_.Put(store_.meta, ReclaimKey(version, range), EncodeRange(range));
  recent_.NoteRange(range, version);
  erases_range_ = true;
  notes_.push_back({0, &erase, version, nullptr});
}

void Group::Written() {
  if (first_expiring_blob_) store_.expiring_blobs.store(true);
  size_t erased_ranges = 0;
  for (size_t i = 0; i < notes_.size(); ++i) {
    if (i + kLookAhead < notes_.size()) store_.cache.Prefetch(notes_[i + kLookAhead].hash);
    const Note& note = notes_[i];
    const Mutation& mutation = *note.mutation;
    if (mutation.op == Mutation::Op::kEraseRange) {
      // Many are cheaper to forget together: nothing of this group is visible yet.
      if (++erased_ranges <= HotCache::kMaxErasedRanges) {
        store_.cache.EraseRange({mutation.key, mutation.end}, note.version);
      }
    } else if (mutation.op == Mutation::Op::kPut) {
      ValueHeader header{.version = note.version,
                         .expiry = mutation.expiry,
                         .kind = mutation.kind,
                         .owned = mutation.owned,
                         .schema = mutation.schema,
                         .marks = {}};
      store_.cache.Write(note.hash, mutation.key, header, mutation.value);
    } else if (note.sum != nullptr) {
      store_.cache.Write(note.hash, mutation.key, note.sum->header, note.sum->value);
    } else {
      store_.cache.Erase(note.hash, mutation.key, note.version);
    }
  }
  if (erased_ranges > HotCache::kMaxErasedRanges) store_.cache.Wipe(last_);
  store_.cache.Sweep();
}

}  // namespace kvarts
