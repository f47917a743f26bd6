#include "model/structure/structure_erase.h"

#include "core/fields.h"
#include "model/structure/staged_text.h"
#include "model/structure/structures.h"

namespace kvarts::structure {
namespace {

constexpr const char* kStructureErase = "structure_erase";
constexpr size_t kChunkKeys = 500;
// From so many members on they go by range: fewer leave no trace that readers would have to step over.
constexpr uint64_t kByRange = 5000;
constexpr Duration kKeepEnded = Duration::Seconds(600);

Result<std::optional<Bytes>> FirstDropped(View& view) {
  ScanRequest request;
  request.range = DroppedRange();
  request.max_entries = 1;
  KVARTS_TRY(const ScanPage page, view.Scan(request));
  return page.empty() ? std::nullopt : std::optional(Bytes(page[0].key));
}

Result<ScanPage> Page(Txn& txn, const KeyRange& range, size_t count, bool keys_only) {
  ScanRequest request;
  request.range = range;
  request.max_entries = count;
  request.keys_only = keys_only;
  request.options.expired_too = true;
  return txn.PeekScan(request);
}

// Whether nothing is left of it.
Result<bool> EraseMembers(Txn& txn, CollectionId collection, uint64_t count, bool whole, uint64_t* done) {
  const KeyRange all = CollectionRange(collection);
  if (whole && count >= kByRange) {
    Mutation erase = Mutation::EraseRange(all.start, all.end);
    erase.reclaim = true;
    txn.Apply(std::move(erase));
    *done += count;
    return true;
  }
  KVARTS_TRY(const ScanPage page, Page(txn, all, kChunkKeys, true));
  for (size_t i = 0; i < page.size(); ++i) txn.Erase(page[i].key);
  *done += page.size();
  return !page.rest();
}

Result<bool> EraseKeys(Txn& txn, DatabaseId database, uint64_t* done) {
  KVARTS_TRY(const ScanPage page, Page(txn, DatabaseRange(database), kChunkKeys, false));
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_CHECK_OK(DropContents(txn, {page[i].header, Bytes(page[i].value)}));
    txn.Erase(page[i].key);
  }
  *done += page.size();
  if (page.rest()) return false;
  EraseDatabase(txn, database);
  return true;
}

Result<JobStep> EraseStep(Txn& txn, bool whole) {
  JobStep step;
  KVARTS_TRY(const ScanPage first, Page(txn, DroppedRange(), 1, false));
  if (first.empty()) {
    KVARTS_TRY(const bool more, DropOverdue(txn));
    step.finished = !more;
    return step;
  }
  KVARTS_TRY(const Dropped dropped, DroppedAt(first[0].key));
  bool all = false;
  if (dropped.database) {
    KVARTS_TRY(all, EraseKeys(txn, {dropped.number}, &step.done));
  } else {
    FieldReader fields(first[0].value);
    const uint64_t count = fields.Varint();
    KVARTS_CHECK_OK(fields.Finish("a dropped collection is damaged"));
    KVARTS_TRY(all, EraseMembers(txn, {dropped.number}, count, whole, &step.done));
  }
  if (all) txn.Erase(first[0].key);
  // What is overdue is looked for when nothing else is left.
  step.finished = false;
  return step;
}

}  // namespace

JobKind StructureEraseKind(bool whole) {
  return {kStructureErase, [whole](Txn& txn, const JobRecord&) { return EraseStep(txn, whole); }, kKeepEnded};
}

Result<std::optional<JobId>> StartStructureErase(Store& store) {
  KVARTS_TRY(const std::unique_ptr<View> view, store.engine().OpenView());
  KVARTS_TRY(const std::optional<Bytes> first, FirstDropped(*view));
  if (!first) {
    KVARTS_TRY(const bool overdue, IsOverdue(*view));
    if (!overdue) return std::optional<JobId>();
  }
  JobSpec spec;
  spec.kind = kStructureErase;
  return Jobs(store).StartUnlessQueued(spec);
}

}  // namespace kvarts::structure
