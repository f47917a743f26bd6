#include "history/history.h"

#include <algorithm>
#include <iterator>

#include "history/model.h"

namespace kvarts::test {
namespace {

constexpr size_t kMostViolations = 20;

// The largest version of what ended before an instant.
class Floor {
 public:
  void Add(int64_t ended, Version version) { ends_.emplace_back(ended, version); }
  void Sort() {
    std::sort(ends_.begin(), ends_.end());
    Version largest;
    for (auto& [ended, version] : ends_) version = largest = std::max(largest, version);
  }
  Version Before(int64_t instant) const {
    const auto after = std::lower_bound(ends_.begin(), ends_.end(), std::pair(instant, Version{}));
    return after == ends_.begin() ? kNoVersion : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<int64_t, Version>> ends_;
};

class Checker {
 public:
  explicit Checker(const History& history) : history_(history) {}

  std::vector<std::string> Run() {
    Replay();
    for (const CommitEvent& commit : history_.commits) {
      acknowledged_.Add(commit.when.ended, commit.version);
      begun_.emplace_back(commit.when.began, commit.version);
    }
    acknowledged_.Sort();
    std::sort(begun_.begin(), begun_.end());
    Version largest;
    for (auto& [began, version] : begun_) version = largest = std::max(largest, version);
    CheckReads();
    CheckCommitOrder();
    return std::move(violations_);
  }

 private:
  void Complain(std::string what) {
    if (violations_.size() < kMostViolations) violations_.push_back(std::move(what));
  }

  void Replay() {
    std::vector<const CommitEvent*> order;
    for (const CommitEvent& commit : history_.commits) order.push_back(&commit);
    std::stable_sort(order.begin(), order.end(),
                     [](const CommitEvent* a, const CommitEvent* b) { return a->version < b->version; });
    Version last;
    for (const CommitEvent* commit : order) {
      if (commit->version == last) Complain("two commits have version " + last.ToString());
      last = commit->version;
      for (const Precondition& precondition : commit->preconditions) {
        if (model_.Holds(precondition)) continue;
        Complain("commit " + last.ToString() + " was made although its precondition on " + Escaped(precondition.key) +
                 " did not hold");
      }
      model_.Apply(*commit);
    }
  }

  bool Matches(const ReadEvent& read, Version at) const {
    for (const auto& [key, record] : read.found) {
      const Record* expected = model_.At(key, at);
      if (record.has_value() != (expected != nullptr)) return false;
      if (record && !(*record == *expected)) return false;
    }
    return std::ranges::all_of(read.scans, [&](const ScanResult& scan) { return Matches(scan, at); });
  }

  bool Matches(const ScanResult& scan, Version at) const {
    const auto shows = [&](const auto& entry) {
      const Record* expected = model_.At(entry.first, at);
      return expected != nullptr && entry.second == *expected;
    };
    return model_.KeysAt(scan.range, at).size() == scan.found.size() && std::ranges::all_of(scan.found, shows);
  }

  // No commit that was submitted later can be seen.
  Version Ceiling(const ReadEvent& read) const {
    const auto after = std::lower_bound(begun_.begin(), begun_.end(), std::pair(read.when.ended, Version{}));
    return after == begun_.begin() ? kNoVersion : std::prev(after)->second;
  }

  // The earliest state within the bounds that shows what was read.
  std::optional<Version> Explain(const ReadEvent& read, Version floor, Version ceiling) const {
    if (Matches(read, floor)) return floor;
    const std::vector<Version>& versions = model_.versions();
    auto it = std::upper_bound(versions.begin(), versions.end(), floor);
    for (; it != versions.end() && *it <= ceiling; ++it) {
      if (Matches(read, *it)) return *it;
    }
    return std::nullopt;
  }

  void CheckReads() {
    std::vector<const ReadEvent*> order;
    for (const ReadEvent& read : history_.reads) order.push_back(&read);
    std::sort(order.begin(), order.end(),
              [](const ReadEvent* a, const ReadEvent* b) { return a->when.began < b->when.began; });
    // Reads that have ended, as they come to lie before the next one to begin.
    std::vector<std::pair<int64_t, Version>> ended;
    Version read_before;
    for (const ReadEvent* read : order) {
      std::erase_if(ended, [&](const auto& pair) {
        if (pair.first >= read->when.began) return false;
        read_before = std::max(read_before, pair.second);
        return true;
      });
      const Version floor = std::max(acknowledged_.Before(read->when.began), read_before);
      const auto seen = read->at ? CheckView(*read, floor) : CheckGet(*read, floor);
      if (!seen) continue;
      ended.emplace_back(read->when.ended, *seen);
      reads_.Add(read->when.ended, *seen);
    }
    reads_.Sort();
  }

  std::optional<Version> CheckView(const ReadEvent& read, Version floor) {
    const std::string at = read.at->ToString();
    if (!Matches(read, *read.at)) Complain("a view at " + at + " showed another state: " + Describe(read));
    if (*read.at < floor) Complain("a view at " + at + " was opened after " + floor.ToString() + " was known");
    if (*read.at > Ceiling(read)) Complain("a view at " + at + " showed what was submitted later");
    return read.at;
  }

  std::optional<Version> CheckGet(const ReadEvent& read, Version floor) {
    const auto seen = Explain(read, floor, Ceiling(read));
    if (!seen) Complain("a get after " + floor.ToString() + " showed no state there was: " + Describe(read));
    return seen;
  }

  void CheckCommitOrder() {
    for (const CommitEvent& commit : history_.commits) {
      const Version floor = std::max(acknowledged_.Before(commit.when.began), reads_.Before(commit.when.began));
      if (commit.version > floor) continue;
      Complain("commit " + commit.version.ToString() + " was submitted after " + floor.ToString() + " was known");
    }
  }

  const History& history_;
  Model model_;
  Floor acknowledged_;  // commits
  Floor reads_;
  std::vector<std::pair<int64_t, Version>> begun_;  // the largest version of what began up to then
  std::vector<std::string> violations_;
};

}  // namespace

std::string Describe(const ReadEvent& read) {
  std::string text;
  const auto add = [&text](BytesView key, const Record* record) {
    text += Escaped(key) + "=";
    text += record != nullptr ? Escaped(record->value) + "@" + record->header.version.ToString() : "absent";
    text += " ";
  };
  for (const auto& [key, record] : read.found) add(key, record ? &*record : nullptr);
  for (const ScanResult& scan : read.scans) {
    text += scan.range.ToString() + ": ";
    for (const auto& [key, record] : scan.found) add(key, &record);
  }
  return text;
}

void History::Append(History other) {
  std::ranges::move(other.commits, std::back_inserter(commits));
  std::ranges::move(other.reads, std::back_inserter(reads));
  std::ranges::move(other.unknown, std::back_inserter(unknown));
  std::ranges::move(other.refused, std::back_inserter(refused));
}

std::vector<std::string> Check(const History& history) { return Checker(history).Run(); }

}  // namespace kvarts::test
