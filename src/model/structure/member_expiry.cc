// Of members: when they expire.
#include <algorithm>

#include "model/structure/members.h"

namespace kvarts::structure {
namespace {

constexpr size_t kPage = 1000;

}  // namespace

Result<ScanPage> Members::DuePage(size_t count) {
  ScanRequest request;
  request.range = {MembersFrom(index_, 0).start, Bytes(MemberPlace(index_, txn_->Now().micros + 1, {}).view())};
  request.max_entries = count;
  request.keys_only = true;
  return txn_->PeekScan(request);
}

Status Members::Settle() {
  if (!spread_ || settled_ || size() == 0 || !MayBeDue()) return {};
  settled_ = true;
  KVARTS_TRY(ScanPage page, DuePage(kPage));
  due_ = page.size();
  while (std::optional<KeyRange> rest = page.rest()) {
    ScanRequest request;
    request.range = *std::move(rest);
    request.max_entries = kPage;
    request.keys_only = true;
    KVARTS_TRY(page, txn_->PeekScan(request));
    due_ += page.size();
  }
  if (due_ > count_) return Error(ErrorCode::kCorruption, "a collection is damaged");
  return {};
}

// One that has no expiry is there, and so is one that expires after all others unless that has.
Status Members::NoteIfAllAreDue() {
  if (timed_ < count_ || timed_ == 0 || !MayBeDue()) return {};
  ScanRequest request;
  request.range = MembersFrom(index_, 0);
  request.max_entries = 1;
  request.reverse = true;
  request.keys_only = true;
  KVARTS_TRY(const ScanPage page, txn_->PeekScan(request));
  if (page.empty()) return {};
  KVARTS_TRY(const PlacedMember last, MemberAt(index_, page[0].key));
  if (Timestamp{last.hash} <= txn_->Now()) due_ = count_;
  return {};
}

Result<std::optional<Timestamp>> Members::ExpiryOf(BytesView name) {
  if (!spread_) {
    const auto found = FindInline(name);
    if (found == entries_.end()) return std::optional<Timestamp>();
    return std::optional(expiries_.empty() ? kNever : expiries_[static_cast<size_t>(found - entries_.begin())]);
  }
  KVARTS_TRY(const std::optional<Record> record, FindRecord(name));
  return record ? std::optional(record->header.expiry) : std::nullopt;
}

Status Members::SetExpiry(BytesView name, Timestamp expiry) {
  if (!spread_) {
    expiries_.resize(entries_.size(), kNever);
    expiries_[static_cast<size_t>(FindInline(name) - entries_.begin())] = expiry;
    return {};
  }
  KVARTS_TRY(const std::optional<Record> record, FindRecord(name));
  if (!record) return {};
  if (expiry != kNever && timed_ == 0) {
    KVARTS_TRY(index_, ids_->Take(*txn_));
    earliest_ = kNever;
  }
  if (record->header.expiry != kNever) {
    txn_->Erase(MemberPlace(index_, record->header.expiry.micros, name));
    --timed_;
  }
  PutSpread(name, record->value, expiry);
  return {};
}

Timestamp Members::Earliest() const {
  if (spread_) return timed_ == 0 ? kNever : earliest_;
  return expiries_.empty() ? kNever : *std::ranges::min_element(expiries_);
}

Result<Members::Expired> Members::TakeExpired(size_t at_most) {
  Expired expired;
  // Inline ones were left out when they were read.
  if (!spread_ || timed_ == 0) return expired;
  KVARTS_TRY(const ScanPage page, DuePage(at_most));
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_TRY(const PlacedMember member, MemberAt(index_, page[i].key));
    const KeyBuffer place = PlaceOf(member.name);
    KVARTS_TRY(const std::optional<Record> record, txn_->GetExpired(place));
    // It may have been put again since.
    if (record && record->header.expiry == Timestamp{member.hash}) txn_->Erase(place);
    txn_->Erase(page[i].key);
  }
  expired.count = page.size();
  expired.more = page.rest().has_value();
  timed_ -= std::min(timed_, expired.count);
  count_ -= std::min(count_, expired.count);
  due_ = 0;
  settled_ = false;
  ScanRequest first;
  first.range = MembersFrom(index_, 0);
  first.max_entries = 1;
  first.keys_only = true;
  KVARTS_TRY(const ScanPage left, txn_->PeekScan(first));
  earliest_ = kNever;
  if (!left.empty()) {
    KVARTS_TRY(const PlacedMember next, MemberAt(index_, left[0].key));
    earliest_ = {next.hash};
  }
  KVARTS_CHECK_OK(NoteIfAllAreDue());
  return expired;
}

}  // namespace kvarts::structure
