#include "verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "support/reads.h"

namespace kvarts::test {
namespace {

using What = Finding::What;
using Said = AckRecord::Kind;

constexpr std::array<std::string_view, 11> kFindingNames = {"lost sync commit",     "lost acknowledged commit",
                                                            "torn commit",          "hole in commit order",
                                                            "version issued twice", "version shrank",
                                                            "wrong version",        "wrong state",
                                                            "wrong shared key",     "wrong outcome",
                                                            "wrong expiry"};

// Keys that are always written together.
const std::vector<std::vector<std::string>> kTogether = {{"m/", "n/", "w/m/"}, {"h/", "i/", "j/"}};

bool IsOwnKey(BytesView key) { return key.size() > 4 && key[0] == 't' && key[3] == '/'; }

int64_t NumberOf(const std::map<Bytes, Record>& records, const std::string& key) {
  const auto found = records.find(key);
  if (found == records.end()) return 0;
  const Record& record = found->second;
  if (record.header.kind == ValueKind::kCounter) return CounterNumber(record.header, record.value);
  int64_t number = 0;
  std::from_chars(record.value.data(), record.value.data() + record.value.size(), number);
  return number;
}

std::string FirstDifference(const OwnKeys& expected, const OwnKeys& actual) {
  const auto shown = [](const OwnKeys& keys, const std::string& key) {
    const auto found = keys.find(key);
    return found == keys.end() ? "absent" : found->second.substr(0, 40);
  };
  OwnKeys all = expected;
  all.insert(actual.begin(), actual.end());
  for (const auto& [key, text] : all) {
    if (shown(expected, key) == shown(actual, key)) continue;
    return fmt::format("{} is {} instead of {}", key, shown(actual, key), shown(expected, key));
  }
  return "none";
}

}  // namespace

Result<StoredState> StoredState::Read(Engine& engine) {
  StoredState state;
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  ScanRequest request;
  KVARTS_TRY(const std::vector<Found> shown, ScanAll(*view, request));
  request.options.expired_too = true;
  KVARTS_TRY(std::vector<Found> stored, ScanAll(*view, request));
  for (const Found& entry : shown) state.shown.insert(entry.key);
  for (Found& entry : stored) state.stored[entry.key] = {entry.header, std::move(entry.value)};
  state.time = view->time();
  state.last = engine.LastVersion();
  return state;
}

std::string_view FindingName(What what) { return kFindingNames.at(static_cast<size_t>(what)); }

std::ostream& operator<<(std::ostream& out, const Finding& finding) {
  return out << FindingName(finding.what) << ": " << finding.text;
}

std::vector<Finding> CrashVerifier::Verify(CrashKind crash, const std::vector<AckRecord>& records,
                                           const StoredState& state) {
  crash_ = crash;
  courses_.assign(kWriters, {});
  findings_.clear();
  lost_ = 0;
  Collect(records);
  ReadOwnKeys(state);
  CheckVersions();
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    Match(writer);
    CheckLost(writer);
  }
  CheckHoles();
  CheckSharedPuts(state);
  CheckSharedSums(state);
  CheckExpiry(state, &findings_);
  size_t most = 0;
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    most = std::max(most, courses_[writer].fates.size());
    own_[writer] = std::move(courses_[writer].actual);
  }
  next_number_ += most;
  shared_.clear();
  for (const auto& [key, record] : state.stored) {
    if (!IsOwnKey(key)) shared_[key] = record;
  }
  if (!issued_.empty()) floor_ = std::max(floor_, issued_.rbegin()->first);
  return std::move(findings_);
}

CrashVerifier::Fate* CrashVerifier::FateOf(uint32_t writer, uint64_t number) {
  std::vector<Fate>& fates = courses_.at(writer).fates;
  if (number < next_number_ || number - next_number_ >= fates.size()) return nullptr;
  return &fates[number - next_number_];
}

void CrashVerifier::Collect(const std::vector<AckRecord>& records) {
  for (const AckRecord& record : records) {
    if (record.kind == Said::kIntent) {
      courses_.at(record.op.writer).fates.emplace_back().op = record.op;
      continue;
    }
    if (record.kind == Said::kTorn) {
      Find(What::kTorn, "a reader saw a part of " + record.op.ToString());
      continue;
    }
    Fate* fate = FateOf(record.op.writer, record.op.number);
    // A reader may see what an earlier round wrote; that is in own_ already.
    if (fate == nullptr && record.kind == Said::kSeen) continue;
    if (fate == nullptr) {
      Find(What::kWrongOutcome, "an outcome without an intent: " + record.op.ToString());
      continue;
    }
    if (record.kind == Said::kSeen) {
      fate->seen = true;
    } else {
      fate->said = record.kind;
    }
    if (record.version != kNoVersion) NoteVersion(fate->op, record.version);
    fate->version = std::max(fate->version, record.version);
  }
  for (const Course& course : courses_) {
    for (const Fate& fate : course.fates) CheckOutcome(fate);
  }
}

void CrashVerifier::CheckOutcome(const Fate& fate) {
  const bool may_commit = fate.op.kind() != OpKind::kRefused;
  const bool fails_with_the_power = crash_ == CrashKind::kPowerLoss && fate.said != Said::kAcked;
  const bool fits = fate.said == Said::kIntent || (fate.said == Said::kAcked && may_commit) ||
                    (fate.said == Said::kRefused && !may_commit) || fails_with_the_power;
  if (!fits) Find(What::kWrongOutcome, fate.op.ToString() + (may_commit ? " was refused" : " was committed"));
}

void CrashVerifier::NoteVersion(const Op& op, Version version) {
  const auto [found, fresh] = issued_.emplace(version, op);
  if (!fresh && (found->second.writer != op.writer || found->second.number != op.number)) {
    Find(What::kVersionTwice, version.ToString() + " for " + found->second.ToString() + " and " + op.ToString());
  }
  if (version <= floor_) {
    Find(What::kVersionShrank, version.ToString() + " of " + op.ToString() + " is not after " + floor_.ToString());
  }
}

void CrashVerifier::CheckVersions() {
  for (const Course& course : courses_) {
    Version last = floor_;
    for (const Fate& fate : course.fates) {
      if (fate.version == kNoVersion) continue;
      if (fate.version <= last) Find(What::kVersionShrank, "within a writer, at " + fate.op.ToString());
      last = fate.version;
    }
  }
}

void CrashVerifier::ReadOwnKeys(const StoredState& state) {
  for (const auto& [key, record] : state.stored) {
    if (!IsOwnKey(key)) continue;
    uint32_t writer = kWriters;
    std::from_chars(key.data() + 1, key.data() + 3, writer);
    if (writer >= kWriters || !AddRecord(&courses_[writer].actual, BytesView(key).substr(4), record)) {
      Find(What::kWrongState, "a record contradicts itself: " + Escaped(key));
      continue;
    }
    const uint64_t number = NumberIn(record.value);
    Fate* fate = number == 0 ? nullptr : FateOf(writer, number);
    if (fate == nullptr) continue;
    if (fate->version == kNoVersion) {
      NoteVersion(fate->op, record.header.version);
      fate->version = record.header.version;
    }
    if (fate->version != record.header.version) {
      Find(What::kWrongVersion,
           fmt::format("{} has {}, {} was committed at {}", Escaped(key), record.header.version.ToString(),
                       fate->op.ToString(), fate->version.ToString()));
    }
  }
}

void CrashVerifier::Match(uint32_t writer) {
  Course& course = courses_[writer];
  OwnKeys expected = own_[writer];
  const auto compare = [&](size_t count) {
    if (expected != course.actual) return;
    if (!course.matched) course.at_least = count;
    course.at_most = count;
    course.matched = true;
  };
  compare(0);
  for (size_t i = 0; i < course.fates.size(); ++i) {
    const Fate& fate = course.fates[i];
    if (fate.said != Said::kRefused) ApplyTo(&expected, fate.op);
    compare(i + 1);
  }
  if (!course.matched) ExplainMismatch(writer);
}

void CrashVerifier::ExplainMismatch(uint32_t writer) {
  const Course& course = courses_[writer];
  bool torn = false;
  for (const std::vector<std::string>& together : kTogether) {
    for (int slot = 0; slot < 8; ++slot) {
      std::set<std::string> texts;
      for (const std::string& prefix : together) {
        const auto found = course.actual.find(prefix + std::to_string(slot));
        texts.insert(found == course.actual.end() ? "absent" : found->second);
      }
      if (texts.size() == 1) continue;
      torn = true;
      Find(What::kTorn, fmt::format("writer {}, {}{}: {}", writer, together[0], slot, texts.begin()->substr(0, 40)));
    }
  }
  if (torn) return;
  // Held against the state in which all that was acknowledged is there: where it differs helps to find out why.
  OwnKeys expected = own_[writer];
  uint64_t last = 0;
  for (const Fate& fate : course.fates) {
    if (fate.said != Said::kAcked) continue;
    ApplyTo(&expected, fate.op);
    last = fate.op.number;
  }
  Find(What::kWrongState,
       fmt::format("writer {}, after its operation {}: {}", writer, last, FirstDifference(expected, course.actual)));
}

void CrashVerifier::CheckLost(uint32_t writer) {
  const Course& course = courses_[writer];
  if (!course.matched) return;
  for (size_t i = course.at_most; i < course.fates.size(); ++i) {
    const Fate& fate = course.fates[i];
    const bool acked = fate.said == Said::kAcked;
    if (acked) ++lost_;
    if ((acked || fate.seen) && fate.op.durability() == Durability::kSync) {
      Find(What::kLostSync, fate.op.ToString());
    } else if ((acked || fate.seen) && crash_ == CrashKind::kKilled) {
      Find(What::kLostAcked, fate.op.ToString());
    }
  }
}

template <class Visit>
void CrashVerifier::ForEachThere(const Visit& visit) const {
  for (const Course& course : courses_) {
    if (!course.matched) continue;
    for (size_t i = 0; i < course.at_most; ++i) {
      if (course.fates[i].said != Said::kRefused) visit(course.fates[i]);
    }
  }
}

void CrashVerifier::CheckHoles() {
  const Fate* newest_there = nullptr;
  const Fate* oldest_lost = nullptr;
  for (const Course& course : courses_) {
    if (!course.matched) continue;
    for (size_t i = 0; i < course.fates.size(); ++i) {
      const Fate& fate = course.fates[i];
      if (fate.version == kNoVersion) continue;
      const bool there = i < course.at_least;
      const bool lost = i >= course.at_most;
      if (there && (newest_there == nullptr || fate.version > newest_there->version)) newest_there = &fate;
      if (lost && (oldest_lost == nullptr || fate.version < oldest_lost->version)) oldest_lost = &fate;
    }
  }
  if (newest_there == nullptr || oldest_lost == nullptr || newest_there->version < oldest_lost->version) return;
  Find(What::kHole, fmt::format("{} is lost, {} is there", oldest_lost->op.ToString(), newest_there->op.ToString()));
}

void CrashVerifier::CheckSharedPuts(const StoredState& state) {
  std::map<std::string, const Fate*> newest;
  ForEachThere([&](const Fate& fate) {
    const auto put = SharedPut(fate.op);
    if (!put) return;
    const Fate*& best = newest[put->first];
    if (best == nullptr || fate.version > best->version) best = &fate;
  });
  for (const auto& [key, fate] : newest) {
    const auto found = state.stored.find(key);
    const bool fits = found != state.stored.end() && found->second.value == SharedPut(fate->op)->second &&
                      found->second.header.version == fate->version;
    if (!fits) Find(What::kWrongShared, key + " was last written by " + fate->op.ToString());
  }
  for (const auto& [key, record] : shared_) {
    if (!key.starts_with("s/k/") || newest.contains(key)) continue;
    const auto found = state.stored.find(key);
    if (found == state.stored.end() || found->second != record) Find(What::kWrongShared, key + " changed by itself");
  }
}

void CrashVerifier::CheckSharedSums(const StoredState& state) {
  std::map<std::string, int64_t> sums;
  for (const auto& [key, record] : shared_) {
    if (!key.starts_with("s/k/")) sums[key] = NumberOf(shared_, key);
  }
  ForEachThere([&](const Fate& fate) {
    if (const auto add = SharedAdd(fate.op)) sums[add->first] += add->second;
    if (const auto key = SharedNumber(fate.op)) sums[*key] += 1;
  });
  for (const auto& [key, sum] : sums) {
    const int64_t actual = NumberOf(state.stored, key);
    if (actual != sum) Find(What::kWrongShared, fmt::format("{} is {} instead of {}", key, actual, sum));
  }
}

void CrashVerifier::CheckExpiry(const StoredState& state, std::vector<Finding>* findings) {
  for (const auto& [key, record] : state.stored) {
    if (state.shown.contains(key) != record.header.ExpiredAt(state.time)) continue;
    findings->push_back({What::kWrongExpiry, Escaped(key)});
  }
}

}  // namespace kvarts::test
