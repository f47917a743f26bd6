// What the catalog starts: buckets that are dropped, retention, moves.
#include <algorithm>
#include <array>

#include "model/catalog/catalog.h"
#include "model/catalog/catalog_jobs.h"
#include "model/catalog/refusals.h"

namespace kvarts {
namespace {

Result<const Namespace*> ActiveNamespace(const NamespaceTable& table, std::string_view name) {
  const Namespace* space = table.ByName(name);
  if (space == nullptr) return NoSuchNamespace(name);
  if (space->state == Namespace::State::kActive) return space;
  return NamespaceIsDropped(space->spec.name);
}

// Whether a text is a time as the field has it, whole or cut off behind its year, month, day, hour or minute. What is
// cut off elsewhere ("2026-7") looks like a bucket and is none.
bool IsBucket(const FieldType& type, std::string_view bucket) {
  constexpr std::array<size_t, 5> kCuts = {4, 7, 10, 13, 16};
  const bool whole = bucket.size() == type.width();
  if (!whole && (bucket.size() > type.width() || std::ranges::find(kCuts, bucket.size()) == kCuts.end())) return false;
  // The rest as it is on the first day of the first month.
  Bytes rest(type.Pattern().substr(bucket.size()));
  std::ranges::replace(rest, 'd', '0');
  Bytes filled = Bytes(bucket) + rest;
  for (const size_t last_digit : {kCuts[1] - 1, kCuts[2] - 1}) {
    if (bucket.size() <= last_digit) filled[last_digit] = '1';
  }
  return type.Check(filled).good == type.width();
}

Status CheckBucket(const Namespace& space, BytesView leading, std::string_view bucket) {
  if (!space.retained) {
    return Error(ErrorCode::kInvalidArgument, "the namespace has no retention", {{"namespace", space.spec.name}});
  }
  if (!space.spec.grammar.IsLeading(*space.retained, leading)) {
    return Error(ErrorCode::kInvalidArgument, "this is not what stands before the field of the retention",
                 {{"leading", Escaped(leading)}, {"grammar", space.spec.grammar.ToString()}});
  }
  const FieldType& type = space.spec.grammar.fields()[*space.retained].type;
  if (IsBucket(type, bucket)) return {};
  return Error(ErrorCode::kInvalidArgument,
               "a bucket is a value of the field, whole or up to its year, month, day, hour or minute",
               {{"bucket", Escaped(bucket)}, {"expected", type.Expected()}});
}

}  // namespace

Result<Catalog::Dropped> Catalog::DropBucket(std::string_view name, BytesView leading, std::string_view bucket) {
  return store_.Run([&](Txn& txn) -> Result<Dropped> {
    KVARTS_TRY(CatalogGuard guard, Guard(txn));
    KVARTS_TRY(const NamespaceTable* table, guard.Table());
    KVARTS_TRY(const Namespace* space, ActiveNamespace(*table, name));
    KVARTS_CHECK_OK(CheckBucket(*space, leading, bucket));
    const KeyRange range = KeyRange::Prefix(Bytes(leading) + Bytes(bucket));
    if (OwnsBuckets(*table, *space)) {
      EraseForGood(txn, range);
      return Dropped{};
    }
    KVARTS_TRY(const JobId job, StartJob(txn, EraseKeysJob({space->spec.name, range, false})));
    return Dropped{job};
  });
}

Result<std::optional<JobId>> Catalog::StartRetention() {
  return store_.Run([&](Txn& txn) -> Result<std::optional<JobId>> {
    KVARTS_TRY(CatalogGuard guard, Guard(txn));
    KVARTS_TRY(const NamespaceTable* table, guard.Table());
    const auto wants = [](const NamespaceTable::Entry& space) { return space->retained.has_value(); };
    if (std::ranges::none_of(table->entries(), wants)) return std::optional<JobId>();
    KVARTS_TRY(const bool queued, IsJobQueued(txn, kRetentionKind));
    if (queued) return std::optional<JobId>();
    KVARTS_TRY(const JobId job, StartJob(txn, RetentionJob()));
    return std::optional<JobId>(job);
  });
}

Result<JobId> Catalog::StartMove(const MoveSpec& spec) {
  return store_.Run([&](Txn& txn) -> Result<JobId> {
    KVARTS_TRY(CatalogGuard guard, Guard(txn));
    KVARTS_TRY(const NamespaceTable* table, guard.Table());
    KVARTS_TRY(const Namespace* space, ActiveNamespace(*table, spec.target));
    const Bytes& literal = space->spec.grammar.literal_prefix();
    const Bytes target = spec.target_prefix.value_or(literal);
    if (!target.starts_with(literal)) {
      return Error(ErrorCode::kInvalidArgument, "the keys would not be the namespace's",
                   {{"target_prefix", Escaped(target)}, {"grammar", space->spec.grammar.ToString()}});
    }
    // What has been moved must not be found again.
    if (KeyRange::Prefix(spec.source).Intersects(KeyRange::Prefix(target))) {
      return Error(ErrorCode::kInvalidArgument, "keys cannot be moved to where they come from",
                   {{"source", Escaped(spec.source)}, {"target_prefix", Escaped(target)}});
    }
    JobSpec job = MoveKeysJob({spec.source, space->spec.name, target});
    job.throttle = spec.throttle;
    return StartJob(txn, job);
  });
}

}  // namespace kvarts
