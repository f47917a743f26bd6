#include "engine/memory/versioned_map.h"

#include <algorithm>
#include <cassert>

namespace kvarts {
namespace {

Record PutRecord(const Mutation& put, Version version) {
  Record record;
  record.header.version = version;
  record.header.expiry = put.expiry;
  record.header.kind = put.kind;
  record.header.owned = put.owned;
  record.header.schema = put.schema;
  record.value = put.value;
  return record;
}

// What an add leaves behind. `base` is the live record before it, or null.
Record AddedRecord(const Record* base, int64_t delta, Version version) {
  Record record;
  if (base != nullptr) record = *base;
  record.header.version = version;
  if (base == nullptr) {
    record.header.kind = ValueKind::kCounter;
    record.value = CounterValue(delta);
  } else if (record.header.kind != ValueKind::kCounter) {
    record.header.marks.misapplied = true;
  } else {
    const int64_t number = CounterNumber(record.header, record.value);
    record.value = CounterValue(SaturatingAdd(number, delta, &record.header.marks.saturated));
  }
  return record;
}

}  // namespace

const VersionedMap::Entry* VersionedMap::EntryAt(const Entries& entries, Version version) {
  const auto newest =
      std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& entry) { return entry.version <= version; });
  return newest == entries.rend() ? nullptr : &*newest;
}

const Record* VersionedMap::Find(BytesView key, const ReadPoint& at, bool expired_too) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const Entry* entry = EntryAt(found->second, at.version);
  if (entry == nullptr || !entry->record) return nullptr;
  if (!expired_too && entry->record->header.ExpiredAt(at.time)) return nullptr;
  return &*entry->record;
}

void VersionedMap::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadPoint& at,
                       const ReadOptions& options) const {
  assert(keys.size() == out.size());
  ReadCost cost;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Record* record = Find(keys[i], at, options.expired_too);
    out[i] = record == nullptr ? std::nullopt : std::optional(*record);
    cost.keys += 1;
    if (record != nullptr) cost.bytes += keys[i].size() + record->value.size();
  }
  if (options.cost != nullptr) *options.cost += cost;
}

std::pair<VersionedMap::Keys::const_iterator, VersionedMap::Keys::const_iterator> VersionedMap::Slice(
    const KeyRange& range) const {
  if (range.IsEmpty()) return {keys_.end(), keys_.end()};
  return {keys_.lower_bound(range.start), range.HasEnd() ? keys_.lower_bound(range.end) : keys_.end()};
}

void VersionedMap::CountRange(const KeyRange& range, uint64_t* records, uint64_t* bytes) const {
  const auto [first, last] = Slice(range);
  for (auto it = first; it != last; ++it) {
    const Entry& newest = it->second.back();
    if (!newest.record) continue;
    ++*records;
    *bytes += it->first.size() + newest.record->value.size();
  }
}

Result<ScanPage> VersionedMap::Scan(const ScanRequest& request, const ReadPoint& at) const {
  ScanPage page;
  ReadCost cost;
  std::optional<Error> given_up;
  // False when the page is over.
  const auto visit = [&](const Keys::value_type& pair) {
    const auto& [key, entries] = pair;
    const Entry* entry = EntryAt(entries, at.version);
    if (entry == nullptr) return true;  // written later
    if (!entry->record || (!request.options.expired_too && entry->record->header.ExpiredAt(at.time))) {
      if (++cost.skipped <= request.options.max_skipped) return true;
      if (page.empty()) given_up = TooManySkipped(request.options, cost.skipped, key);
      page.StopAt(key, request.range, request.reverse);
      return false;
    }
    const BytesView value = request.keys_only ? BytesView() : entry->record->value;
    const bool fits =
        page.size() < request.max_entries && page.bytes() + key.size() + value.size() <= request.max_bytes;
    if (!fits && !page.empty()) {
      page.StopAfterLast(request.range, request.reverse);
      return false;
    }
    page.Append(key, value, entry->record->header);
    return true;
  };
  const auto [first, last] = Slice(request.range);
  if (request.reverse) {
    for (auto it = last; it != first && visit(*std::prev(it)); --it) {
    }
  } else {
    for (auto it = first; it != last && visit(*it); ++it) {
    }
  }
  cost.keys = page.size();
  cost.bytes = page.bytes();
  if (request.options.cost != nullptr) *request.options.cost += cost;
  if (given_up) return *std::move(given_up);
  return page;
}

bool VersionedMap::ChangedSince(const KeyRange& range, Version version) const {
  if (version < forgotten_to_) return true;
  for (const auto& [erased_at, erased] : erased_ranges_) {
    if (erased_at > version && erased.Intersects(range)) return true;
  }
  const auto [first, last] = Slice(range);
  return std::any_of(first, last, [&](const Keys::value_type& pair) { return pair.second.back().version > version; });
}

void VersionedMap::Apply(const Mutation& mutation, Version version, const ReadPoint& oldest) {
  switch (mutation.op) {
    case Mutation::Op::kPut:
      return Write(mutation.key, PutRecord(mutation, version), version, oldest);
    case Mutation::Op::kErase:
      return Write(mutation.key, std::nullopt, version, oldest);
    case Mutation::Op::kEraseRange:
      return EraseRange({mutation.key, mutation.end}, version, oldest);
    case Mutation::Op::kAdd: {
      const Record* base = Find(mutation.key, {version, version.time()}, /*expired_too=*/false);
      return Write(mutation.key, AddedRecord(base, mutation.delta, version), version, oldest);
    }
  }
}

void VersionedMap::Write(BytesView key, std::optional<Record> record, Version version, const ReadPoint& oldest) {
  if (!record) ++erasures_;
  Entries& entries = keys_.try_emplace(Bytes(key)).first->second;
  if (!entries.empty() && entries.back().version == version) {
    entries.back().record = std::move(record);  // the same commit wrote it before
  } else {
    entries.push_back({version, std::move(record)});
  }
  DropUnreachable(&entries, oldest);
  if (erasures_ > max_erasures_) ForgetErasures(oldest);
}

void VersionedMap::EraseRange(const KeyRange& range, Version version, const ReadPoint& oldest) {
  std::vector<Bytes> victims;
  const auto [first, last] = Slice(range);
  for (auto it = first; it != last; ++it) {
    if (it->second.back().record) victims.push_back(it->first);
  }
  for (const Bytes& key : victims) Write(key, std::nullopt, version, oldest);
  ++erasures_;
  erased_ranges_.emplace_back(version, range);
}

// Keeps the newest entry that `oldest` sees, and everything after it.
void VersionedMap::DropUnreachable(Entries* entries, const ReadPoint& oldest) {
  const auto keep = std::find_if(entries->rbegin(), entries->rend(),
                                 [&](const Entry& entry) { return entry.version <= oldest.version; });
  if (keep == entries->rend()) return;
  entries->erase(entries->begin(), keep.base() - 1);
}

void VersionedMap::Sweep(const KeyRange& range, const ReadPoint& oldest) {
  const auto [first, last] = Slice(range);
  for (auto it = first; it != last; ++it) {
    Entries& entries = keys_.find(it->first)->second;
    DropUnreachable(&entries, oldest);
    Entry& entry = entries.front();
    if (entries.size() == 1 && entry.version <= oldest.version && entry.record && !entry.record->header.owned &&
        entry.record->header.ExpiredAt(oldest.time)) {
      entry.record.reset();  // its version stays, for ChangedSince
      ++erasures_;
    }
  }
}

void VersionedMap::ForgetErasures(const ReadPoint& oldest) {
  for (auto it = keys_.begin(); it != keys_.end();) {
    DropUnreachable(&it->second, oldest);
    const Entry& entry = it->second.front();
    const bool gone = it->second.size() == 1 && !entry.record && entry.version <= oldest.version;
    if (gone) forgotten_to_ = std::max(forgotten_to_, entry.version);
    it = gone ? keys_.erase(it) : std::next(it);
  }
  if (!erased_ranges_.empty()) {
    forgotten_to_ = std::max(forgotten_to_, erased_ranges_.back().first);
  }
  erased_ranges_.clear();
  erasures_ = 0;
}

size_t VersionedMap::entries() const {
  size_t count = 0;
  for (const auto& [key, entries] : keys_) count += entries.size();
  return count;
}

size_t VersionedMap::LiveBytes() const {
  size_t bytes = 0;
  for (const auto& [key, entries] : keys_) {
    if (entries.back().record) bytes += key.size() + entries.back().record->value.size();
  }
  return bytes;
}

}  // namespace kvarts
