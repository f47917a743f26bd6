#include "core/expiry.h"

#include "core/keyspace.h"

namespace kvarts {
namespace {

// Entries looked through for one of a range.
constexpr size_t kMaxLook = 100;

KeyBuffer EntryKey(Timestamp expiry, BytesView key) {
  KeyBuffer entry;
  BeginKey(&entry, Space::kExpiry).Time(expiry).Tail(key);
  return entry;
}

// Entries of what has expired at this time.
KeyRange DueAt(Timestamp now) {
  KeyBuffer first_later;
  BeginKey(&first_later, Space::kExpiry).Time({now.micros + 1});
  return {SpaceRange(Space::kExpiry).start, Bytes(first_later.view())};
}

// What an entry says: when, and which value.
struct Entry {
  Timestamp expiry;
  BytesView key;
};
Result<Entry> ReadEntry(BytesView entry_key) {
  TupleReader reader(entry_key);
  Entry entry;
  KVARTS_TRY([[maybe_unused]] const int64_t space, reader.TakeInt());
  KVARTS_TRY(entry.expiry, reader.TakeTime());
  KVARTS_TRY(entry.key, reader.TakeTail());
  return entry;
}

}  // namespace

Result<bool> MayBeDue(View& view, const KeyRange& range) {
  ScanRequest request;
  request.range = DueAt(view.time());
  request.keys_only = true;
  request.max_entries = kMaxLook;
  KVARTS_TRY(const ScanPage page, view.Scan(request));
  for (size_t i = 0; i < page.size(); ++i) {
    const Result<Entry> entry = ReadEntry(page[i].key);
    if (!entry.has_value() || range.Contains(entry->key)) return true;
  }
  return page.rest().has_value();
}

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

void ForgetOwned(Txn& txn, BytesView key, Timestamp expiry) { txn.Erase(EntryKey(expiry, key)); }

Result<DuePage> FindDueOwned(Txn& txn, size_t limit, BytesView from) {
  ScanRequest request;
  request.range = DueAt(txn.Now());
  if (!from.empty()) request.range.start = from;
  request.max_entries = limit;
  DuePage found;
  if (request.range.IsEmpty()) return found;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  if (page.rest()) found.next = page.rest()->start;
  for (size_t i = 0; i < page.size(); ++i) {
    const Result<Entry> entry = ReadEntry(page[i].key);
    if (!entry.has_value()) {
      txn.Erase(page[i].key);
      continue;
    }
    Result<std::optional<Record>> record = txn.GetExpired(entry->key);
    if (!record.has_value()) {
      if (record.error().code() != ErrorCode::kCorruption) return record.error();
      txn.Erase(page[i].key);
      found.unreadable.emplace_back(entry->key);
      continue;
    }
    if (*record && (*record)->header.owned && (*record)->header.expiry == entry->expiry) {
      found.due.push_back({Bytes(entry->key), Bytes(page[i].key), **std::move(record)});
    } else {
      txn.Erase(page[i].key);
    }
  }
  return found;
}

}  // namespace kvarts
