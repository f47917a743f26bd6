#include "model/structure/key_expiry.h"

#include "core/expiry.h"
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
  for (const DueOwned& due : page.due) {
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
  KVARTS_TRY(const bool due, MayBeDue(*view, SpaceRange(Space::kStructures)));
  if (!due) return std::optional<JobId>();
  JobSpec spec;
  spec.kind = kKeyExpiry;
  return Jobs(store).StartUnlessQueued(spec);
}

}  // namespace kvarts::structure
