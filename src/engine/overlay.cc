#include "engine/overlay.h"

#include <iterator>

namespace kvarts {
namespace {

bool EndsBefore(const Bytes& end, BytesView key) { return !end.empty() && end < key; }

const Bytes& LaterEnd(const Bytes& a, const Bytes& b) {
  if (a.empty() || b.empty()) return a.empty() ? a : b;
  return a < b ? b : a;
}

Record RecordOf(const Mutation& put, Version version) {
  Record record;
  record.header.version = version;
  record.header.expiry = put.expiry;
  record.header.kind = put.kind;
  record.header.owned = put.owned;
  record.header.schema = put.schema;
  record.value = put.value;
  return record;
}

}  // namespace

Record AddToRecord(std::optional<Record> beneath, int64_t delta, Version version) {
  if (!beneath || beneath->header.ExpiredAt(version.time())) {
    beneath.emplace();
    beneath->header.kind = ValueKind::kCounter;
    beneath->value = CounterValue(0);
  }
  Record record = *std::move(beneath);
  record.header.version = version;
  if (record.header.kind != ValueKind::kCounter) {
    record.header.marks.misapplied = true;
    return record;
  }
  const int64_t number = CounterNumber(record.header, record.value);
  record.value = CounterValue(SaturatingAdd(number, delta, &record.header.marks.saturated));
  return record;
}

void Overlay::Clear() {
  changes_.clear();
  erased_.clear();
}

void Overlay::Apply(const Mutation& mutation, Version version, Timestamp now) {
  if (mutation.op == Mutation::Op::kEraseRange) return EraseRange(mutation, version);
  auto found = changes_.find(mutation.key);
  const bool is_new = found == changes_.end();
  if (is_new) found = changes_.emplace(mutation.key, Change{}).first;
  Change& change = found->second;
  change.version = version;
  if (mutation.op != Mutation::Op::kAdd) {
    change.record.reset();
    if (mutation.op == Mutation::Op::kPut) change.record = RecordOf(mutation, version);
    change.deltas.clear();
    change.adds_to_base = false;
  } else if (change.adds_to_base || (is_new && !InErasedRange(mutation.key))) {
    change.adds_to_base = true;
    change.deltas.push_back(mutation.delta);
  } else {
    if (change.record && change.record->header.ExpiredAt(now)) change.record.reset();
    change.record = AddToRecord(std::move(change.record), mutation.delta, version);
  }
}

void Overlay::EraseRange(const Mutation& mutation, Version version) {
  const KeyRange range{mutation.key, mutation.end};
  for (auto it = changes_.lower_bound(range.start); it != changes_.end() && range.Contains(it->first); ++it) {
    it->second = Change{.record = {}, .deltas = {}, .version = version, .adds_to_base = false};
  }
  Bytes start = range.start;
  Bytes end = range.end;
  auto it = erased_.upper_bound(start);
  if (it != erased_.begin() && !EndsBefore(std::prev(it)->second, start)) --it;
  while (it != erased_.end() && !EndsBefore(end, it->first)) {
    start = std::min(start, it->first);
    end = LaterEnd(end, it->second);
    it = erased_.erase(it);
  }
  erased_.emplace(std::move(start), std::move(end));
}

const Overlay::Change* Overlay::Find(BytesView key) const {
  if (changes_.empty()) return nullptr;
  const auto found = changes_.find(key);
  return found == changes_.end() ? nullptr : &found->second;
}

bool Overlay::InErasedRange(BytesView key) const {
  if (erased_.empty()) return false;
  auto after = erased_.upper_bound(Bytes(key));
  if (after == erased_.begin()) return false;
  const Bytes& end = std::prev(after)->second;
  return end.empty() || key < end;
}

std::optional<Record> Overlay::Resolve(const Change& change, std::optional<Record> beneath, Timestamp now) {
  if (!change.adds_to_base) return change.record;
  if (beneath && beneath->header.ExpiredAt(now)) beneath.reset();
  for (const int64_t delta : change.deltas) {
    // The base was looked at already, at the reader's own time; the version is not the time of this add.
    Record record = AddToRecord(std::move(beneath), delta, kNoVersion);
    record.header.version = change.version;
    beneath = std::move(record);
  }
  return beneath;
}

Status OverlayView::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                        const ReadOptions& options) {
  if (overlay_.empty()) return base_.Get(keys, out, options);
  std::vector<BytesView> wanted;  // of the base
  std::vector<size_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Overlay::Change* change = overlay_.Find(keys[i]);
    const bool covered = change ? !change->adds_to_base : overlay_.InErasedRange(keys[i]);
    out[i] = covered && change ? change->record : std::nullopt;
    if (covered) continue;
    wanted.push_back(keys[i]);
    places.push_back(i);
  }
  std::vector<std::optional<Record>> found(wanted.size());
  if (!wanted.empty()) KVARTS_CHECK_OK(base_.Get(wanted, found, options));
  for (size_t i = 0; i < places.size(); ++i) {
    const Overlay::Change* change = overlay_.Find(wanted[i]);
    out[places[i]] = change ? Overlay::Resolve(*change, std::move(found[i]), time_) : std::move(found[i]);
  }
  for (auto& record : out) {
    if (record && !options.expired_too && record->header.ExpiredAt(time_)) record.reset();
  }
  return {};
}

// Walks a page of the base and the overlay's changes side by side.
class OverlayView::Merge {
 public:
  Merge(const OverlayView& view, const ScanRequest& request) : view_(view), request_(request) {}

  // Takes over everything in `span`, of which `base` is all that lies beneath. False when the page is full.
  bool Take(const KeyRange& span, const ScanPage& base) {
    const auto& changes = view_.overlay_.changes();
    auto low = changes.lower_bound(span.start);
    auto high = span.HasEnd() ? changes.lower_bound(span.end) : changes.end();
    size_t i = 0;
    while (i < base.size() || low != high) {
      const auto change = low == high ? changes.end() : (request_.reverse ? std::prev(high) : low);
      const bool from_change = change != changes.end() && (i == base.size() || !Before(base[i].key, change->first));
      const bool from_base = i < base.size() && (!from_change || base[i].key == change->first);
      const bool room =
          from_change ? TakeChange(change->first, change->second, from_base ? &base : nullptr, i) : TakeBase(base[i]);
      if (!room) return false;
      if (from_base) ++i;
      if (from_change && request_.reverse) --high;
      if (from_change && !request_.reverse) ++low;
    }
    return true;
  }

  ScanPage page;

 private:
  bool Before(BytesView a, BytesView b) const { return request_.reverse ? a > b : a < b; }

  bool TakeBase(const ScanPage::Entry& entry) {
    if (view_.overlay_.InErasedRange(entry.key)) return true;
    return Emit(entry.key, entry.value, entry.header);
  }

  bool TakeChange(BytesView key, const Overlay::Change& change, const ScanPage* base, size_t i) {
    std::optional<Record> beneath;
    if (base != nullptr && change.adds_to_base) beneath = Record{(*base)[i].header, Bytes((*base)[i].value)};
    const auto record = Overlay::Resolve(change, std::move(beneath), view_.time_);
    if (!record || (!request_.options.expired_too && record->header.ExpiredAt(view_.time_))) return true;
    return Emit(key, record->value, record->header);
  }

  bool Emit(BytesView key, BytesView value, const ValueHeader& header) {
    if (request_.keys_only) value = {};
    const bool full = page.size() >= request_.max_entries ||
                      (!page.empty() && page.bytes() + key.size() + value.size() > request_.max_bytes);
    if (full) return false;
    page.Append(key, value, header);
    return true;
  }

  const OverlayView& view_;
  const ScanRequest& request_;
};

Result<ScanPage> OverlayView::Scan(const ScanRequest& request) {
  if (overlay_.empty() || request.range.IsEmpty()) return base_.Scan(request);
  Merge merge(*this, request);
  ScanRequest below = request;
  below.keys_only = false;  // an add needs the number beneath it
  while (true) {
    KVARTS_TRY(ScanPage base, base_.Scan(below));
    KeyRange span = below.range;
    if (base.rest() && request.reverse) span.start = base.rest()->end;
    if (base.rest() && !request.reverse) span.end = base.rest()->start;
    if (!merge.Take(span, base)) {
      merge.page.StopAfterLast(request.range, request.reverse);
      return std::move(merge.page);
    }
    if (!base.rest()) return std::move(merge.page);
    below.range = *base.rest();
  }
}

}  // namespace kvarts
