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

// Tells of keys by their places.
class Teller {
 public:
  Teller(Txn& txn, Databases& databases) : txn_(txn), databases_(databases), notes_(txn, databases.events()) {}

  Status Tell(EventClass of, std::string_view event, const PlacedKey& key) {
    if (!notes_.any()) return {};
    if (!map_) {
      KVARTS_TRY(map_, databases_.Use(txn_));
    }
    // Of a database that was flushed nobody hears any more.
    if (const auto number = map_->NumberOf(key.database)) notes_.Add(of, event, *number, key.name);
    return {};
  }
  Status TellOfFields(const Members::Expired& expired, BytesView place) {
    const std::optional<PlacedKey> key = KeyAt(place);
    if (!key || !expired.any) return {};
    KVARTS_CHECK_OK(Tell(kHashEvents, "hexpired", *key));
    return expired.key_gone ? Tell(kGenericEvents, "del", *key) : Status();
  }

 private:
  Txn& txn_;
  Databases& databases_;
  EventNotes notes_;
  std::optional<DatabaseMap> map_;
};

Result<JobStep> ExpiryStep(Databases& databases, Txn& txn, const JobRecord& job) {
  KVARTS_TRY(DuePage page, FindDueOwned(txn, kChunkKeys, job.cursor));
  JobStep step;
  step.finished = !page.next;
  if (page.next) step.cursor = *std::move(page.next);
  size_t members = kChunkKeys;
  Teller teller(txn, databases);
  for (const DueOwned& due : page.due) {
    if (const std::optional<Bytes> marked = MarkedPlace(due.key)) {
      // The rest of them is looked for from where it began this time.
      bool more = members == 0;
      if (!more) {
        KVARTS_TRY(const Members::Expired expired, ExpireFields(txn, due, *marked, members));
        members -= std::min<size_t>(members, expired.count);
        KVARTS_CHECK_OK(teller.TellOfFields(expired, *marked));
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
    KVARTS_CHECK_OK(teller.Tell(kExpiredEvents, "expired", *key));
    ++step.done;
  }
  return step;
}

}  // namespace

JobKind KeyExpiryKind(Databases& databases) {
  const auto step = [&databases](Txn& txn, const JobRecord& job) { return ExpiryStep(databases, txn, job); };
  return {kKeyExpiry, step, kKeepEnded};
}

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
