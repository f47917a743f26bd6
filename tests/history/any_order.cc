// The search for an order, one event after the other as they ended ("just-in-time linearization"): what has ended must
// have had its place by then, and whatever else is under way may have had it before. Since the commits of a key are in
// the order of their versions, a state is known by how many commits each key has had; reads change nothing, and take
// the first place that fits.
#include <algorithm>
#include <map>
#include <set>

#include "history/history.h"
#include "history/model.h"

namespace kvarts::test {
namespace {

// What a key became, commit after commit; nothing was there before the first.
struct KeyStory {
  std::vector<size_t> commits;
  std::vector<std::optional<Record>> states = {std::nullopt};
};

// Things that must hold at the place of an event, and what it does to keys.
struct Event {
  Interval when;
  const CommitEvent* commit = nullptr;  // or
  const ReadEvent* read = nullptr;
  std::vector<std::pair<size_t, size_t>> writes = {};  // key, and how many commits it had before
};

class Search {
 public:
  explicit Search(const History& history) {
    for (const CommitEvent& commit : history.commits) events_.push_back({.when = commit.when, .commit = &commit});
    for (const ReadEvent& read : history.reads) events_.push_back({.when = read.when, .read = &read});
    TellStories();
  }

  std::vector<std::string> Run() {
    if (!violations_.empty()) return violations_;
    std::vector<std::pair<int64_t, size_t>> begins;
    std::vector<std::pair<int64_t, size_t>> ends;
    for (size_t i = 0; i < events_.size(); ++i) {
      begins.emplace_back(events_[i].when.began, i);
      ends.emplace_back(events_[i].when.ended, i);
    }
    std::ranges::sort(begins);
    std::ranges::sort(ends);
    places_ = {{{}, std::vector<uint32_t>(stories_.size(), 0)}};
    auto begun = begins.begin();
    for (const auto& [ended, event] : ends) {
      for (; begun != begins.end() && begun->first <= ended; ++begun) under_way_.insert(begun->second);
      End(event);
      if (places_.empty()) return {Misfit(events_[event])};
    }
    return {};
  }

 private:
  // How far one order may have come: what is under way and has had its place, and the state.
  using Had = std::set<size_t>;
  using State = std::vector<uint32_t>;  // commits of each key

  size_t NumberOf(BytesView key) {
    const auto [found, isnew] = numbers_.try_emplace(Bytes(key), stories_.size());
    if (isnew) stories_.emplace_back();
    return found->second;
  }

  // Every key by itself, in the order of versions. A range that is erased is all the keys in it that anybody writes.
  void TellStories() {
    std::vector<size_t> order;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].commit == nullptr) continue;
      order.push_back(i);
      for (const Mutation& mutation : events_[i].commit->mutations) {
        if (mutation.op != Mutation::Op::kEraseRange) NumberOf(mutation.key);
      }
    }
    const auto version = [&](size_t event) { return events_[event].commit->version; };
    std::ranges::sort(order, {}, version);
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && version(order[i]) == version(order[i - 1])) {
        violations_ = {"two commits have version " + version(order[i]).ToString()};
      }
      model_.Apply(*events_[order[i]].commit);
      for (const size_t key : Written(*events_[order[i]].commit)) {
        events_[order[i]].writes.emplace_back(key, stories_[key].commits.size());
        stories_[key].commits.push_back(order[i]);
      }
    }
    for (const auto& [key, number] : numbers_) {
      for (const size_t event : stories_[number].commits) {
        const Record* const record = model_.At(key, version(event));
        stories_[number].states.push_back(record == nullptr ? std::nullopt : std::optional(*record));
      }
    }
  }

  std::set<size_t> Written(const CommitEvent& commit) const {
    std::set<size_t> keys;
    for (const Mutation& mutation : commit.mutations) {
      if (mutation.op != Mutation::Op::kEraseRange) {
        keys.insert(numbers_.find(mutation.key)->second);
        continue;
      }
      const KeyRange range{mutation.key, mutation.end};
      for (const auto& [key, number] : numbers_) {
        if (range.Contains(key)) keys.insert(number);
      }
    }
    return keys;
  }

  const Record* At(const State& state, BytesView key) const {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return nullptr;
    const std::optional<Record>& record = stories_[found->second].states[state[found->second]];
    return record ? &*record : nullptr;
  }

  bool Shows(const State& state, const ScanResult& scan) const {
    size_t there = 0;
    for (const auto& [key, number] : numbers_) {
      if (scan.range.Contains(key) && stories_[number].states[state[number]]) ++there;
    }
    return there == scan.found.size() && std::ranges::all_of(scan.found, [&](const auto& entry) {
             const Record* const record = At(state, entry.first);
             return record != nullptr && *record == entry.second;
           });
  }

  bool Holds(const State& state, const Precondition& precondition) const {
    const Record* const record = At(state, precondition.key);
    switch (precondition.kind) {
      case Precondition::Kind::kAbsent:
        return record == nullptr;
      case Precondition::Kind::kPresent:
        return record != nullptr;
      case Precondition::Kind::kVersionIs:
        return record != nullptr && record->header.version == precondition.version;
      case Precondition::Kind::kRangeUnchanged:
        return true;  // by what was found in it
    }
    return false;
  }

  bool Fits(const State& state, const Event& event) const {
    const auto shows = [&](const ScanResult& scan) { return Shows(state, scan); };
    if (event.read != nullptr) {
      return std::ranges::all_of(event.read->found,
                                 [&](const auto& entry) {
                                   const Record* const record = At(state, entry.first);
                                   return record == nullptr ? !entry.second : entry.second == *record;
                                 }) &&
             std::ranges::all_of(event.read->scans, shows);
    }
    const auto holds = [&](const Precondition& precondition) { return Holds(state, precondition); };
    const auto is_next = [&](const auto& write) { return state[write.first] == write.second; };
    return std::ranges::all_of(event.writes, is_next) && std::ranges::all_of(event.commit->preconditions, holds) &&
           std::ranges::all_of(event.commit->scans, shows);
  }

  // All orders so far, each gone on with until the event has its place.
  void End(size_t event) {
    std::map<Had, State> with;
    std::map<Had, State> without = std::move(places_);
    while (!without.empty()) {
      std::map<Had, State> further;
      for (auto& [before, state] : without) {
        Had had = before;
        for (const size_t other : under_way_) {
          if (events_[other].read != nullptr && !had.contains(other) && Fits(state, events_[other])) had.insert(other);
        }
        if (had.contains(event)) {
          had.erase(event);
          with.try_emplace(std::move(had), state);
          continue;
        }
        for (const size_t other : under_way_) {
          if (events_[other].commit == nullptr || had.contains(other) || !Fits(state, events_[other])) continue;
          Had next = had;
          next.insert(other);
          State after = state;
          for (const auto& [key, count] : events_[other].writes) after[key] = static_cast<uint32_t>(count + 1);
          further.try_emplace(std::move(next), std::move(after));
        }
      }
      without = std::move(further);
    }
    under_way_.erase(event);
    places_ = std::move(with);
  }

  static std::string Misfit(const Event& event) {
    if (event.read != nullptr) return "a read showed no state there was: " + Describe(*event.read);
    std::string text = "commit " + event.commit->version.ToString() + " has no place in any order:";
    for (const Precondition& precondition : event.commit->preconditions) text += " if " + Escaped(precondition.key);
    for (const Mutation& mutation : event.commit->mutations) text += " " + Escaped(mutation.key);
    return text;
  }

  std::vector<Event> events_;
  std::map<Bytes, size_t, std::less<>> numbers_;
  std::vector<KeyStory> stories_;
  Model model_;
  std::set<size_t> under_way_;
  std::map<Had, State> places_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> CheckInAnyOrder(const History& history) { return Search(history).Run(); }

}  // namespace kvarts::test
