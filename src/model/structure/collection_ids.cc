#include "model/structure/collection_ids.h"

#include "core/fields.h"

namespace kvarts::structure {

Result<CollectionId> CollectionIds::Take(Txn& txn) {
  {
    const std::lock_guard lock(pool_->mutex);
    if (pool_->next < pool_->end) return CollectionId{pool_->next++};
  }
  const KeyBuffer place = CollectionsPlace();
  KVARTS_TRY(const std::optional<Record> record, txn.Get(place));
  uint64_t next = 0;
  if (record) {
    FieldReader fields(record->value);
    next = fields.Varint();
    KVARTS_CHECK_OK(fields.Finish("the record of collections is damaged"));
  }
  Bytes taken;
  AppendVarint(&taken, next + kAtOnce);
  txn.Put(place, taken);
  txn.AfterCommit([pool = pool_, next](Version) {
    const std::lock_guard lock(pool->mutex);
    // Another may have taken some meanwhile: theirs are used first, and these are lost.
    if (pool->next < pool->end) return;
    pool->next = next + 1;
    pool->end = next + kAtOnce;
  });
  return CollectionId{next};
}

}  // namespace kvarts::structure
