#include "core/txn.h"

#include <algorithm>

#include "base/uuid.h"

namespace kvarts {

Txn::Txn(Engine& engine, const Context& context) : engine_(engine), context_(context) {}

Txn::Txn(Engine& engine, const Context& context, View& view) : engine_(engine), context_(context), view_(&view) {}

Result<View*> Txn::Base() {
  if (view_ == nullptr) {
    KVARTS_CHECK_OK(WillWait());
    KVARTS_TRY(own_view_, engine_.OpenView());
    view_ = own_view_.get();
  }
  return view_;
}

Status Txn::WillWait() {
  if (may_wait_) return {};
  waits_ = true;
  return Error(ErrorCode::kUnavailable, "the transaction would have to wait for what it reads");
}

bool Txn::MayLook() const {
  if (view_ == nullptr) return false;
  return own_view_ == nullptr || !engine_.capabilities().reads_may_wait;
}

const Overlay& Txn::Writes() {
  const Timestamp now = in_overlay_ < mutations_.size() ? Now() : Timestamp{};
  for (; in_overlay_ < mutations_.size(); ++in_overlay_) overlay_.Apply(mutations_[in_overlay_], kNoVersion, now);
  return overlay_;
}

bool Txn::Covered(BytesView key) {
  const Overlay& writes = Writes();
  const Overlay::Change* change = writes.Find(key);
  return change != nullptr ? !change->adds_to_base : writes.InErasedRange(key);
}

void Txn::NoteRead(BytesView key, const std::optional<Record>& record, Expired expired) {
  if (!remembers_) return;
  Precondition& read = preconditions_.emplace_back();
  read.kind = record ? Precondition::Kind::kVersionIs : Precondition::Kind::kAbsent;
  read.key = key;
  read.from_read = true;
  read.expired_too = expired != Expired::kHidden;
  read.seen_at = view_->version();
  if (!record) return;
  read.version = record->header.version;
  const bool lives = expired == Expired::kHidden || !record->header.ExpiredAt(view_->time());
  if (lives && expired != Expired::kShown) read.lapses = record->header.expiry;
}

Result<std::optional<Record>> Txn::Read(BytesView key, bool expired_too) {
  std::optional<Record> record;
  KVARTS_TRY(View * base, Base());
  const ReadOptions options{.expired_too = expired_too, .cost = &cost_.read};
  if (!Covered(key)) {
    KVARTS_CHECK_OK(base->Get({&key, 1}, {&record, 1}, options));
    NoteRead(key, record, expired_too ? Expired::kShown : Expired::kHidden);
  }
  if (const Overlay::Change* change = overlay_.Find(key)) {
    record = Overlay::Resolve(*change, std::move(record), base->time());
    if (record && !expired_too && record->header.ExpiredAt(base->time())) record.reset();
  }
  return record;
}

Result<std::optional<Record>> Txn::Get(BytesView key) { return Read(key, false); }

Result<std::optional<Record>> Txn::GetExpired(BytesView key) { return Read(key, true); }

Status Txn::PeekMany(std::span<const BytesView> keys, std::span<std::optional<Record>> out) {
  KVARTS_TRY(View * base, Base());
  OverlayView view(*base, Writes(), base->version(), base->time());
  return view.Get(keys, out, {.expired_too = false, .cost = &cost_.read});
}

Status Txn::GetMany(std::span<const BytesView> keys, std::span<std::optional<Record>> out) {
  return GetManyAs(keys, out, Expired::kHidden);
}

Status Txn::GetManyStored(std::span<const BytesView> keys, std::span<std::optional<Record>> out) {
  return GetManyAs(keys, out, Expired::kTold);
}

Status Txn::GetManyAs(std::span<const BytesView> keys, std::span<std::optional<Record>> out, Expired expired) {
  KVARTS_TRY(View * base, Base());
  const ReadOptions options{.expired_too = expired != Expired::kHidden, .cost = &cost_.read};
  OverlayView view(*base, Writes(), base->version(), base->time());
  KVARTS_CHECK_OK(view.Get(keys, out, options));
  if (!remembers_) return {};
  if (preconditions_.empty()) preconditions_.reserve(keys.size() + 1);
  for (size_t i = 0; i < keys.size(); ++i) {
    const Overlay::Change* change = overlay_.Find(keys[i]);
    if (change == nullptr && !overlay_.InErasedRange(keys[i])) {
      NoteRead(keys[i], out[i], expired);
    } else if (change != nullptr && change->adds_to_base) {
      // What lies beneath the adds is not in the answer; it is read again to be remembered.
      KVARTS_TRY(const std::optional<Record> beneath, view_->GetOne(keys[i], options));
      NoteRead(keys[i], beneath, expired);
    }
  }
  return {};
}

Status Txn::GetBeneath(std::span<const BytesView> keys, std::span<std::optional<Record>> out) {
  KVARTS_TRY(View * base, Base());
  KVARTS_CHECK_OK(base->Get(keys, out, {.expired_too = false, .cost = &cost_.read}));
  for (size_t i = 0; i < keys.size(); ++i) NoteRead(keys[i], out[i], Expired::kHidden);
  return {};
}

Result<ScanPage> Txn::PeekScan(ScanRequest request) {
  KVARTS_TRY(View * base, Base());
  request.options.cost = &cost_.read;
  OverlayView view(*base, Writes(), base->version(), base->time());
  return view.Scan(request);
}

Result<ScanPage> Txn::Scan(ScanRequest request) {
  KVARTS_TRY(ScanPage page, PeekScan(request));
  Precondition& read = preconditions_.emplace_back();
  read.kind = Precondition::Kind::kRangeUnchanged;
  read.from_read = true;
  read.key = request.range.start;
  read.end = request.range.end;
  if (page.rest() && request.reverse) read.key = page.rest()->end;
  if (page.rest() && !request.reverse) read.end = page.rest()->start;
  read.version = read.seen_at = view_->version();
  if (!request.options.expired_too) {
    for (size_t i = 0; i < page.size(); ++i) read.lapses = std::min(read.lapses, page[i].header.expiry);
  }
  if (request.range.IsEmpty()) preconditions_.pop_back();
  return page;
}

void Txn::Put(BytesView key, BytesView value, const PutOptions& options) {
  Mutation mutation = Mutation::Put(key, value, options.expiry);
  mutation.kind = options.kind;
  mutation.owned = options.owned;
  mutation.schema = options.schema;
  Apply(std::move(mutation));
}

void Txn::Erase(BytesView key) { Apply(Mutation::Erase(key)); }

void Txn::EraseRange(const KeyRange& range) {
  if (!range.IsEmpty()) Apply(Mutation::EraseRange(range.start, range.end));
}

void Txn::Add(BytesView key, int64_t delta) { Apply(Mutation::Add(key, delta)); }

void Txn::Apply(Mutation mutation) {
  cost_.keys_written += 1;
  cost_.bytes_written += mutation.key.size() + mutation.value.size();
  mutations_.push_back(std::move(mutation));
}

void Txn::RollBack(Savepoint savepoint) {
  mutations_.resize(savepoint.mutations);
  effects_.resize(savepoint.effects);
  overlay_.Clear();
  in_overlay_ = 0;
}

Timestamp Txn::Now() { return view_ != nullptr ? view_->time() : engine_.Now(); }

uint64_t Txn::Random() {
  if (!random_) random_.emplace(RandomBits());
  return (*random_)();
}

std::optional<Version> Txn::ViewVersion() const {
  return view_ != nullptr ? std::optional(view_->version()) : std::nullopt;
}

Commit Txn::TakeCommit(Durability durability) {
  Commit commit;
  commit.preconditions = std::move(preconditions_);
  commit.mutations = std::move(mutations_);
  commit.durability = std::max(durability, at_least_);
  own_view_.reset();
  return commit;
}

}  // namespace kvarts
