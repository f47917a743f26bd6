#include "core/expiry.h"

#include "core/keyspace.h"

namespace kvarts {
namespace {

KeyBuffer EntryKey(Timestamp expiry, BytesView key) {
  KeyBuffer entry;
  BeginKey(&entry, Space::kExpiry).Time(expiry).Tail(key);
  return entry;
}

}  // namespace

void IndexOwned(Txn& txn) {
  const size_t count = txn.mutations().size();
  for (size_t i = 0; i < count; ++i) {
    const Mutation& mutation = txn.mutations()[i];
    if (mutation.op != Mutation::Op::kPut || !mutation.owned || mutation.expiry == kNever) continue;
    // The key of the entry is as long as that of the value, plus a little: both fit or neither does.
    Mutation entry = Mutation::Put(EntryKey(mutation.expiry, mutation.key), {});
    if (mutation.key_stamp != Mutation::kNoStamp) {
      entry.key_stamp = static_cast<uint32_t>(entry.key.size() - mutation.key.size()) + mutation.key_stamp;
    }
    txn.Apply(std::move(entry));
  }
}

Result<DuePage> FindDueOwned(Txn& txn, size_t limit) {
  KeyBuffer first_later;
  BeginKey(&first_later, Space::kExpiry).Time({txn.Now().micros + 1});
  ScanRequest request;
  request.range = {SpaceRange(Space::kExpiry).start, Bytes(first_later.view())};
  request.max_entries = limit;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  DuePage found;
  found.more = page.rest().has_value();
  for (size_t i = 0; i < page.size(); ++i) {
    TupleReader reader(page[i].key);
    KVARTS_TRY([[maybe_unused]] const int64_t space, reader.TakeInt());
    KVARTS_TRY(const Timestamp expiry, reader.TakeTime());
    KVARTS_TRY(const BytesView key, reader.TakeTail());
    KVARTS_TRY(std::optional<Record> record, txn.GetExpired(key));
    if (record && record->header.owned && record->header.expiry == expiry) {
      found.due.push_back({Bytes(key), Bytes(page[i].key), *std::move(record)});
    } else {
      txn.Erase(page[i].key);
    }
  }
  return found;
}

}  // namespace kvarts
