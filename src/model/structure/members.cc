#include "model/structure/members.h"

#include <algorithm>
#include <unordered_set>

#include "core/fields.h"
#include "model/structure/member_hash.h"
#include "model/structure/secret_hash.h"

namespace kvarts::structure {
namespace {

constexpr uint8_t kInline = 0;
constexpr uint8_t kSpread = 1;
// The same where members have expiries.
constexpr uint8_t kInlineTimed = 2;
constexpr uint8_t kSpreadTimed = 3;
constexpr const char* kDamaged = "a collection is damaged";

// Among how many, which lie beside each other, one is chosen.
constexpr size_t kChosenFrom = 64;
constexpr size_t kPage = 1000;

}  // namespace

Result<Members> Members::DecodeInline(Members members, FieldReader& fields, bool timed) {
  const Timestamp now = timed ? members.txn_->Now() : Timestamp{};
  const uint64_t count = fields.Varint(kMaxInline);
  members.entries_.reserve(count + 1);
  for (uint64_t i = 0; i < count && fields.ok(); ++i) {
    const BytesView name = fields.Sized();
    const BytesView value = fields.Sized();
    if (timed) {
      const uint64_t when = fields.Varint();
      const Timestamp expiry = when == 0 ? kNever : Timestamp{when};
      members.stored_earliest_ = std::min(members.stored_earliest_, expiry);
      if (expiry <= now) continue;
      members.expiries_.push_back(expiry);
    }
    members.entries_.emplace_back(name, value);
    members.bytes_ += name.size() + value.size();
  }
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  return members;
}

Result<Members> Members::Decode(Txn& txn, CollectionIds& ids, BytesView stored) {
  Members members(txn, ids);
  FieldReader fields(stored);
  const uint8_t layout = fields.Byte(kSpreadTimed);
  members.spread_ = layout == kSpread || layout == kSpreadTimed;
  if (!members.spread_) return DecodeInline(std::move(members), fields, layout == kInlineTimed);
  members.id_.value = fields.Varint();
  members.count_ = fields.Varint();
  if (layout == kSpreadTimed) {
    members.index_.value = fields.Varint();
    members.timed_ = fields.Varint(members.count_);
    members.earliest_ = {fields.Varint()};
    members.stored_earliest_ = members.earliest_;
  }
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  KVARTS_CHECK_OK(members.NoteIfAllAreDue());
  return members;
}

Bytes Members::Encode() const {
  Bytes stored;
  if (spread_) {
    stored.push_back(static_cast<char>(timed_ > 0 ? kSpreadTimed : kSpread));
    AppendVarint(&stored, id_.value);
    AppendVarint(&stored, count_);
    if (timed_ > 0) {
      AppendVarint(&stored, index_.value);
      AppendVarint(&stored, timed_);
      AppendVarint(&stored, earliest_.micros);
    }
    return stored;
  }
  const bool timed = Earliest() != kNever;
  stored.reserve(bytes_ + 2 * entries_.size() + 4);
  stored.push_back(static_cast<char>(timed ? kInlineTimed : kInline));
  AppendVarint(&stored, entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    AppendSized(&stored, entries_[i].first);
    AppendSized(&stored, entries_[i].second);
    if (timed) AppendVarint(&stored, expiries_[i] == kNever ? 0 : expiries_[i].micros);
  }
  return stored;
}

KeyBuffer Members::PlaceOf(BytesView name) const { return MemberPlace(id_, MemberHash(id_, name), name); }

std::vector<Members::Entry>::iterator Members::FindInline(BytesView name) {
  return std::ranges::find(entries_, name, &Entry::first);
}

Result<std::optional<Bytes>> Members::Find(BytesView name) {
  std::optional<Bytes> value;
  if (!spread_) {
    const auto found = FindInline(name);
    if (found != entries_.end()) value = found->second;
    return value;
  }
  KVARTS_TRY(std::optional<Record> record, FindRecord(name));
  if (record) value = std::move(record->value);
  return value;
}

Status Members::FindMany(std::span<const BytesView> names, std::vector<std::optional<Bytes>>* values) {
  values->assign(names.size(), std::nullopt);
  if (!spread_) {
    for (size_t i = 0; i < names.size(); ++i) {
      const auto found = FindInline(names[i]);
      if (found != entries_.end()) (*values)[i] = found->second;
    }
    return {};
  }
  std::vector<KeyBuffer> places;
  places.reserve(names.size());
  for (const BytesView name : names) places.push_back(PlaceOf(name));
  const std::vector<BytesView> keys(places.begin(), places.end());
  std::vector<std::optional<Record>> records(keys.size());
  // The commit rests on the record of the key, which every change of a member changes.
  KVARTS_CHECK_OK(txn_->PeekMany(keys, records));
  for (size_t i = 0; i < names.size(); ++i) {
    if (records[i]) (*values)[i] = std::move(records[i]->value);
  }
  return {};
}

Result<std::optional<Record>> Members::FindRecord(BytesView name) {
  const KeyBuffer place = PlaceOf(name);
  const BytesView key = place;
  std::optional<Record> record;
  KVARTS_CHECK_OK(txn_->PeekMany({&key, 1}, {&record, 1}));
  return record;
}

// Adds it to the index, too; what it replaces is off it.
void Members::PutSpread(BytesView name, BytesView value, Timestamp expiry) {
  txn_->Put(PlaceOf(name), value, {.expiry = expiry});
  if (expiry == kNever) return;
  txn_->Put(MemberPlace(index_, expiry.micros, name), {});
  ++timed_;
  earliest_ = std::min(earliest_, expiry);
}

Result<bool> Members::Put(BytesView name, BytesView value, bool keep_expiry) {
  if (!spread_) {
    const auto found = FindInline(name);
    const bool is_new = found == entries_.end();
    if (is_new) {
      entries_.emplace_back(name, value);
      if (!expiries_.empty()) expiries_.push_back(kNever);
      bytes_ += name.size() + value.size();
    } else {
      bytes_ += value.size() - found->second.size();
      found->second = value;
      if (!expiries_.empty() && !keep_expiry) expiries_[static_cast<size_t>(found - entries_.begin())] = kNever;
    }
    if (entries_.size() > kMaxInline || bytes_ > kMaxInlineBytes) KVARTS_CHECK_OK(SpreadOut());
    return is_new;
  }
  KVARTS_TRY(const std::optional<Record> before, FindRecord(name));
  const Timestamp expiry = before ? before->header.expiry : kNever;
  if (expiry != kNever) {
    txn_->Erase(MemberPlace(index_, expiry.micros, name));
    --timed_;
  }
  PutSpread(name, value, keep_expiry ? expiry : kNever);
  count_ += before ? 0 : 1;
  return !before;
}

Result<bool> Members::Erase(BytesView name) {
  if (!spread_) {
    const auto found = FindInline(name);
    if (found == entries_.end()) return false;
    bytes_ -= found->first.size() + found->second.size();
    if (!expiries_.empty()) expiries_.erase(expiries_.begin() + (found - entries_.begin()));
    entries_.erase(found);
    return true;
  }
  KVARTS_TRY(const std::optional<Record> before, FindRecord(name));
  if (!before) return false;
  txn_->Erase(PlaceOf(name));
  if (before->header.expiry != kNever) {
    txn_->Erase(MemberPlace(index_, before->header.expiry.micros, name));
    --timed_;
  }
  --count_;
  KVARTS_CHECK_OK(NoteIfAllAreDue());
  return true;
}

Status Members::SpreadOut() {
  KVARTS_TRY(id_, ids_->Take(*txn_));
  if (Earliest() != kNever) {
    KVARTS_TRY(index_, ids_->Take(*txn_));
  }
  spread_ = true;
  count_ = entries_.size();
  for (size_t i = 0; i < entries_.size(); ++i) {
    PutSpread(entries_[i].first, entries_[i].second, expiries_.empty() ? kNever : expiries_[i]);
  }
  entries_.clear();
  expiries_.clear();
  bytes_ = 0;
  return {};
}

Result<ScanPage> Members::Page(const KeyRange& range, size_t count) {
  ScanRequest request;
  request.range = range;
  request.max_entries = count;
  return txn_->PeekScan(request);
}

Status Members::ForEach(const Visit& visit) {
  return ForEachTimed([&visit](BytesView name, BytesView value, Timestamp) { visit(name, value); });
}

Status Members::ForEachTimed(const VisitTimed& visit) {
  if (!spread_) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      visit(entries_[i].first, entries_[i].second, expiries_.empty() ? kNever : expiries_[i]);
    }
    return {};
  }
  uint64_t visited = 0;
  std::optional<KeyRange> rest = MembersFrom(id_, 0);
  while (rest) {
    KVARTS_TRY(const ScanPage page, Page(*rest, kPage));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const PlacedMember member, MemberAt(id_, page[i].key));
      visit(member.name, page[i].value, page[i].header.expiry);
    }
    visited += page.size();
    rest = page.rest();
  }
  // Whoever has said how many are coming must not be left with others. Those that may expire may have.
  if (visited > count_ || visited + timed_ < count_) return Error(ErrorCode::kCorruption, kDamaged);
  return {};
}

Result<uint64_t> Members::Scan(uint64_t place, size_t count, const Visit& visit) {
  if (!spread_) {
    KVARTS_CHECK_OK(ForEach(visit));
    return 0;
  }
  // Those of the last hash are given together, since a place cannot lie between them.
  std::optional<uint64_t> last;
  size_t visited = 0;
  std::optional<KeyRange> rest = MembersFrom(id_, place);
  while (rest) {
    KVARTS_TRY(const ScanPage page, Page(*rest, count));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const PlacedMember member, MemberAt(id_, page[i].key));
      if (visited >= count && member.hash != *last) return member.hash;
      visit(member.name, page[i].value);
      last = member.hash;
      ++visited;
    }
    rest = page.rest();
  }
  return 0;
}

Result<Members::Entry> Members::Any(uint64_t random) {
  KVARTS_CHECK_OK(Settle());
  if (!spread_) return entries_[random % entries_.size()];
  // One of those that lie behind a random place; behind the last one comes the first.
  KVARTS_TRY(ScanPage page, Page(MembersFrom(id_, random), kChosenFrom));
  const size_t wanted = std::min<uint64_t>(kChosenFrom, size());
  size_t which = (random >> 8) % wanted;
  if (which >= page.size()) {
    which -= page.size();
    KVARTS_TRY(page, Page(MembersFrom(id_, 0), kChosenFrom));
  }
  if (which >= page.size()) return Error(ErrorCode::kCorruption, kDamaged);
  KVARTS_TRY(const PlacedMember member, MemberAt(id_, page[which].key));
  return Entry(member.name, page[which].value);
}

Result<std::vector<Members::Entry>> Members::Choose(int64_t count, const std::function<uint64_t()>& random) {
  KVARTS_CHECK_OK(Settle());
  std::vector<Entry> chosen;
  if (size() == 0) return chosen;
  if (count < 0) {
    // Chosen one by one each costs a page.
    const bool from_all = spread_ && -count > static_cast<int64_t>(size() / kChosenFrom);
    std::vector<Entry> all;
    if (from_all) {
      KVARTS_CHECK_OK(ForEach([&](BytesView name, BytesView value) { all.emplace_back(name, value); }));
    }
    for (; count < 0; ++count) {
      if (from_all) {
        chosen.push_back(all[random() % all.size()]);
      } else {
        KVARTS_TRY(chosen.emplace_back(), Any(random()));
      }
    }
    return chosen;
  }
  const uint64_t wanted = std::min(static_cast<uint64_t>(count), size());
  // Of a small part, those that come up twice are few; of a larger one, to choose costs more than to read all.
  if (spread_ && wanted < size() / kChosenFrom) {
    std::unordered_set<Bytes, SecretHash> names;
    while (chosen.size() < wanted) {
      KVARTS_TRY(Entry any, Any(random()));
      if (names.insert(any.first).second) chosen.push_back(std::move(any));
    }
    return chosen;
  }
  KVARTS_CHECK_OK(ForEach([&](BytesView name, BytesView value) { chosen.emplace_back(name, value); }));
  for (size_t i = 0; i < wanted; ++i) std::swap(chosen[i], chosen[i + random() % (chosen.size() - i)]);
  chosen.resize(wanted);
  return chosen;
}

void Members::Drop() {
  if (!spread_) return;
  Bytes count;
  AppendVarint(&count, count_);
  txn_->Put(DroppedPlace(id_), count);
  if (timed_ == 0) return;
  Bytes timed;
  AppendVarint(&timed, timed_);
  txn_->Put(DroppedPlace(index_), timed);
}

Result<Members> Members::Copy() {
  Members copy(*txn_, *ids_);
  if (!spread_) {
    copy.entries_ = entries_;
    copy.expiries_ = expiries_;
    copy.bytes_ = bytes_;
    return copy;
  }
  if (count_ + timed_ > txn_->limits().max_commit_operations) {
    return Error(ErrorCode::kTooLarge, "the collection is too large to be copied at once",
                 {{"limit", "max_commit_operations"}, {"members", std::to_string(count_)}});
  }
  KVARTS_TRY(copy.id_, ids_->Take(*txn_));
  if (timed_ > 0) {
    KVARTS_TRY(copy.index_, ids_->Take(*txn_));
  }
  copy.spread_ = true;
  KVARTS_CHECK_OK(ForEachTimed([&copy](BytesView name, BytesView value, Timestamp expiry) {
    copy.PutSpread(name, value, expiry);
    ++copy.count_;
  }));
  return copy;
}

}  // namespace kvarts::structure
