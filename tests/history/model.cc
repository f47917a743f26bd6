#include "history/model.h"

#include <algorithm>

namespace kvarts::test {

void Model::Apply(const CommitEvent& commit) {
  const Version version = commit.version;
  versions_.push_back(version);
  for (const Mutation& mutation : commit.mutations) {
    switch (mutation.op) {
      case Mutation::Op::kPut: {
        Record record{.header = {.version = version, .kind = mutation.kind, .marks = {}}, .value = mutation.value};
        Set(mutation.key, version, std::move(record));
        break;
      }
      case Mutation::Op::kErase:
        Set(mutation.key, version, std::nullopt);
        break;
      case Mutation::Op::kEraseRange: {
        const KeyRange range{mutation.key, mutation.end};
        for (const Bytes& key : KeysAt(range, version)) Set(key, version, std::nullopt);
        erased_.emplace_back(version, range);
        break;
      }
      case Mutation::Op::kAdd: {
        const Record* base = Newest(mutation.key);
        const int64_t number = base == nullptr ? 0 : LoadLittle<int64_t>(base->value.data());
        Record sum{.header = {.version = version, .kind = ValueKind::kCounter, .marks = {}},
                   .value = CounterValue(number + mutation.delta)};
        Set(mutation.key, version, std::move(sum));
        break;
      }
    }
  }
}

void Model::Set(BytesView key, Version version, std::optional<Record> record) {
  std::vector<State>& states = keys_[Bytes(key)];
  if (!states.empty() && states.back().version == version) states.pop_back();
  states.push_back({version, std::move(record)});
}

const Record* Model::At(BytesView key, Version version) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const std::vector<State>& states = found->second;
  const auto after = std::upper_bound(states.begin(), states.end(), version,
                                      [](Version at, const State& state) { return at < state.version; });
  if (after == states.begin() || !std::prev(after)->record) return nullptr;
  return &*std::prev(after)->record;
}

const Record* Model::Newest(BytesView key) const { return versions_.empty() ? nullptr : At(key, versions_.back()); }

std::vector<Bytes> Model::KeysAt(const KeyRange& range, Version version) const {
  std::vector<Bytes> keys;
  for (const auto& [key, states] : keys_) {
    if (range.Contains(key) && At(key, version) != nullptr) keys.push_back(key);
  }
  return keys;
}

bool Model::Unchanged(const KeyRange& range, Version since) const {
  for (const auto& [version, erased] : erased_) {
    if (version > since && erased.Intersects(range)) return false;
  }
  return std::none_of(keys_.begin(), keys_.end(), [&](const auto& pair) {
    return range.Contains(pair.first) && pair.second.back().version > since;
  });
}

bool Model::Holds(const Precondition& precondition) const {
  const Record* record = Newest(precondition.key);
  switch (precondition.kind) {
    case Precondition::Kind::kAbsent:
      return record == nullptr;
    case Precondition::Kind::kPresent:
      return record != nullptr;
    case Precondition::Kind::kVersionIs:
      return record != nullptr && record->header.version == precondition.version;
    case Precondition::Kind::kRangeUnchanged:
      return Unchanged({precondition.key, precondition.end}, precondition.version);
  }
  return false;
}

}  // namespace kvarts::test
