#include "model/catalog/namespace_table.h"

#include <algorithm>
#include <map>

namespace kvarts {

NamespaceTable::NamespaceTable(std::vector<Entry> entries, Version stamp, Version seen_at)
    : entries_(std::move(entries)), stamp_(stamp), seen_at_(seen_at) {
  std::map<Bytes, std::vector<const Namespace*>> by_prefix;
  for (const Entry& entry : entries_) by_prefix[entry->spec.grammar.literal_prefix()].push_back(entry.get());
  for (auto& [prefix, spaces] : by_prefix) {
    // Those around it stand before it, and the last of them around the one right before it.
    std::optional<size_t> around;
    if (!regions_.empty()) around = regions_.size() - 1;
    while (around && !prefix.starts_with(regions_[*around].prefix)) around = regions_[*around].around;
    regions_.push_back({prefix, around, std::move(spaces)});
  }
}

const Namespace* NamespaceTable::ByName(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(entries_, name, {}, [](const Entry& e) { return std::string_view(e->spec.name); });
  return found != entries_.end() && (*found)->spec.name == name ? found->get() : nullptr;
}

std::optional<size_t> NamespaceTable::RegionOf(BytesView user_key) const {
  if (regions_.empty()) return std::nullopt;
  const auto after =
      std::ranges::upper_bound(regions_, user_key, {}, [](const Region& r) { return BytesView(r.prefix); });
  if (after == regions_.begin()) return std::nullopt;
  std::optional<size_t> at = static_cast<size_t>(after - regions_.begin()) - 1;
  while (at && !user_key.starts_with(regions_[*at].prefix)) at = regions_[*at].around;
  return at;
}

void NamespaceTable::Read(BytesView user_key, Reading* reading) const {
  std::optional<size_t> at = RegionOf(user_key);
  reading->space = nullptr;
  reading->verdict = at ? Verdict::kRefused : Verdict::kFree;
  for (; at; at = regions_[*at].around) {
    for (const Namespace* space : regions_[*at].spaces) {
      KeyMismatch mismatch;
      if (space->spec.grammar.Match(user_key, &reading->fields, &mismatch)) {
        reading->space = space;
        reading->verdict = Verdict::kGoverned;
        return;
      }
      if (reading->space != nullptr && mismatch.position <= reading->mismatch.position) continue;
      reading->space = space;
      reading->mismatch = mismatch;
    }
  }
}

std::vector<const Namespace*> NamespaceTable::Around(BytesView user_key) const {
  std::vector<const Namespace*> around;
  for (std::optional<size_t> at = RegionOf(user_key); at; at = regions_[*at].around) {
    around.insert(around.end(), regions_[*at].spaces.begin(), regions_[*at].spaces.end());
  }
  return around;
}

Error NamespaceTable::Refusal(BytesView user_key, const Reading& reading) const {
  const Grammar& grammar = reading.space->spec.grammar;
  std::string names;
  for (const Namespace* space : Around(user_key)) names += (names.empty() ? "" : ", ") + space->spec.name;
  return Error(ErrorCode::kInvalidArgument, "the key does not follow the grammar of its namespace",
               {{"key", Escaped(user_key)},
                {"namespace", names},
                {"grammar", grammar.ToString()},
                {"position", std::to_string(reading.mismatch.position)},
                {"field", std::string(grammar.FieldAt(reading.mismatch))},
                {"expected", grammar.Expected(reading.mismatch)}});
}

Precondition NamespaceTable::Unchanged() const {
  Precondition unchanged;
  unchanged.kind = stamp_ == kNoVersion ? Precondition::Kind::kAbsent : Precondition::Kind::kVersionIs;
  unchanged.key = CatalogStampKey();
  unchanged.version = stamp_;
  unchanged.seen_at = seen_at_.get();
  return unchanged;
}

std::vector<const Namespace*> Neighbours(const NamespaceTable& table, const Namespace& space) {
  std::vector<const Namespace*> others;
  for (const NamespaceTable::Entry& other : table.entries()) {
    const bool meets = other->Region().Intersects(space.Region());
    if (meets && other->spec.name != space.spec.name) others.push_back(other.get());
  }
  return others;
}

std::vector<KeyRange> UngovernedParts(const Namespace& space, const std::vector<const Namespace*>& others) {
  const KeyRange region = space.Region();
  std::vector<KeyRange> within;
  for (const Namespace* other : others) {
    const KeyRange its = other->Region();
    if (its.Contains(region)) return {};
    if (region.Contains(its)) within.push_back(its);
  }
  std::ranges::sort(within, {}, &KeyRange::start);
  std::vector<KeyRange> parts;
  Bytes at = region.start;
  for (const KeyRange& its : within) {
    if (its.start < at) continue;  // in the one before it
    if (at < its.start) parts.push_back({at, its.start});
    if (!its.HasEnd()) return parts;
    at = its.end;
  }
  const KeyRange last{at, region.end};
  if (!last.IsEmpty()) parts.push_back(last);
  return parts;
}

}  // namespace kvarts
