#include "model/structure/key_expiry.h"

#include <algorithm>

#include "model/structure/field_expiry.h"
#include "model/structure/structures.h"

namespace kvarts::structure {
namespace {

constexpr const char* kKeyExpiry = "key_expiry";
constexpr size_t kChunkKeys = 500;
// While keys expire there is one such job after the other: they are not kept for people to look at for long.
constexpr Duration kKeepEnded = Duration::Seconds(600);

Result<JobStep> ExpiryStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(DuePage page, FindDueOwned(txn, kChunkKeys, job.cursor));
  JobStep step;
  step.finished = !page.next;
  if (page.next) step.cursor = *std::move(page.next);
  size_t members = kChunkKeys;
  for (const DueOwned& due : page.due) {
    if (const std::optional<Bytes> marked = MarkedPlace(due.key)) {
      // The rest of them is looked for from where it began this time.
      bool more = members == 0;
      if (!more) {
        KVARTS_TRY(const Members::Expired expired, ExpireFields(txn, due, *marked, members));
        members -= std::min<size_t>(members, expired.count);
        step.done += expired.count;
        more = expired.more;
      }
      if (more) {
        step.finished = false;
        step.cursor = job.cursor;
      }
      continue;
    }
    const std::optional<PlacedKey> key = KeyAt(due.key);
    if (!key) continue;
    KVARTS_CHECK_OK(DropContents(txn, due.record));
    txn.Erase(due.key);
    txn.Erase(due.entry);
    txn.Add(CountPlace(key->database, CountPartOf(key->name)), -1);
    ++step.done;
  }
  return step;
}

}  // namespace

JobKind KeyExpiryKind() { return {kKeyExpiry, ExpiryStep, kKeepEnded}; }

Result<std::optional<JobId>> StartKeyExpiry(Store& store) {
  KVARTS_TRY(const std::unique_ptr<View> view, store.engine().OpenView());
  KVARTS_TRY(const bool keys, MayBeDue(*view, SpaceRange(Space::kStructures)));
  KVARTS_TRY(const bool fields, MayBeDue(*view, SpaceRange(Space::kFieldExpiry)));
  if (!keys && !fields) return std::optional<JobId>();
  JobSpec spec;
  spec.kind = kKeyExpiry;
  return Jobs(store).StartUnlessQueued(spec);
}

}  // namespace kvarts::structure
