#include "model/structure/field_expiry.h"

namespace kvarts::structure {
namespace {

KeyBuffer MarkPlace(BytesView place) {
  KeyBuffer mark;
  BeginKey(&mark, Space::kFieldExpiry).Tail(place);
  return mark;
}

}  // namespace

void MarkFields(Txn& txn, BytesView place, Timestamp earliest) {
  if (earliest == kNever) {
    txn.Erase(MarkPlace(place));
  } else {
    txn.Put(MarkPlace(place), {}, {.expiry = earliest, .owned = true});
  }
}

std::optional<Bytes> MarkedPlace(BytesView mark) {
  TupleReader reader(mark);
  const Result<int64_t> space = reader.TakeInt();
  if (!space.has_value() || *space != static_cast<int64_t>(Space::kFieldExpiry)) return std::nullopt;
  const Result<BytesView> place = reader.TakeTail();
  return place.has_value() ? std::optional(Bytes(*place)) : std::nullopt;
}

Result<Members::Expired> ExpireFields(Txn& txn, const DueOwned& mark, BytesView place, size_t at_most) {
  txn.Erase(mark.entry);
  txn.Erase(mark.key);
  const std::optional<PlacedKey> key = KeyAt(place);
  // A key that has expired is taken away with all that it holds.
  KVARTS_TRY(const std::optional<Record> record, txn.Get(place));
  if (!key || !record || TypeOf(record->header) != Type::kHash) return Members::Expired();
  CollectionIds none;
  KVARTS_TRY(Members members, Members::Decode(txn, none, record->value));
  if (members.stored_earliest() > txn.Now()) {
    // It has been written since, and the mark with it, in a commit that this one does not know yet.
    MarkFields(txn, place, members.stored_earliest());
    return Members::Expired();
  }
  KVARTS_TRY(Members::Expired expired, members.TakeExpired(at_most));
  // Inline ones were left out when they were read.
  expired.any = expired.count > 0 || !members.spread();
  if (members.size() == 0 && !expired.more) {
    members.Drop();
    txn.Erase(place);
    txn.Add(CountPlace(key->database, CountPartOf(key->name)), -1);
    expired.key_gone = true;
    return expired;
  }
  txn.Put(place, members.Encode(),
          {.expiry = record->header.expiry,
           .kind = ValueKind::kStructure,
           .owned = record->header.expiry != kNever,
           .schema = static_cast<uint32_t>(Type::kHash)});
  if (members.Earliest() != kNever) MarkFields(txn, place, members.Earliest());
  return expired;
}

}  // namespace kvarts::structure
