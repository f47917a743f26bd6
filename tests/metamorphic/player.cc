#include "metamorphic/player.h"

#include <algorithm>

#include "support/reads.h"

namespace kvarts::test {
namespace {

// How a transaction saw a record: what it showed holds until its version changes or it expires.
Precondition Seen(BytesView key, const std::optional<Record>& record, const View& view) {
  Precondition seen = FromRead(record ? VersionIs(key, record->header.version) : Absent(key));
  seen.seen_at = view.version();
  if (record) seen.lapses = record->header.expiry;
  return seen;
}

bool LooksStamped(BytesView bytes, char first, size_t at) {
  return bytes.size() >= at + sizeof(uint64_t) && bytes[0] == first;
}

}  // namespace

Player::Player(const EngineKind& kind) : test_(kind.Make({})) {}

std::string Player::Play(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kAdvance:
      test_->clock().Advance(step.by);
      return "";
    case Step::Kind::kOpenView:
      return OpenView(step.slot);
    case Step::Kind::kCloseView:
      views_[step.slot].reset();
      return "";
    case Step::Kind::kGet:
      return Get(step);
    case Step::Kind::kScan:
      return Scan(step);
    case Step::Kind::kSubmit:
      return Submit(step);
    case Step::Kind::kCompact:
      return CodeOf(engine().Compact(RangeOf(step.range)));
    case Step::Kind::kReopen:
      return Reopen();
    case Step::Kind::kAssign:
      return Assign(step);
  }
  return "";
}

std::string Player::OpenView(int slot) {
  auto view = engine().OpenView();
  if (!view) return Show(view.error());
  views_[slot] = *std::move(view);
  return "view at " + NumberOf(views_[slot]->version()) + ", " + views_[slot]->time().ToString();
}

std::string Player::Get(const Step& step) {
  View* view = step.slot == kNoSlot ? nullptr : views_[step.slot].get();
  std::vector<Bytes> names;
  for (const KeyName& key : step.keys) names.push_back(KeyOf(key));
  const std::vector<BytesView> keys(names.begin(), names.end());
  std::vector<std::optional<Record>> records(keys.size());
  ReadOptions options;
  options.expired_too = step.expired_too;
  const Timestamp time = view != nullptr ? view->time() : engine().Now();
  const Status got = view != nullptr ? view->Get(keys, records, options) : engine().Get(keys, records, options);
  if (!got) return Show(got.error());
  std::string text;
  for (const auto& record : records) {
    const bool shown = record && (record->header.owned || !record->header.ExpiredAt(time));
    text += shown ? Show(record->header, record->value) + "; " : "absent; ";
  }
  return text;
}

std::string Player::Scan(const Step& step) {
  View* view = step.slot == kNoSlot ? nullptr : views_[step.slot].get();
  std::unique_ptr<View> opened;
  if (view == nullptr) {
    auto fresh = engine().OpenView();
    if (!fresh) return Show(fresh.error());
    opened = *std::move(fresh);
    view = opened.get();
  }
  ReadCost cost;
  ScanRequest request = step.request;
  request.range = RangeOf(step.range);
  request.options.expired_too = step.expired_too;
  request.options.cost = &cost;
  const auto entries = ScanAll(*view, request);
  if (!entries) return Show(entries.error());
  std::string text;
  for (const Found& entry : *entries) {
    if (!entry.header.owned && entry.header.ExpiredAt(view->time())) continue;
    text += ShowKey(entry.key) + "=" + Show(entry.header, entry.value) + "; ";
  }
  if (step.expired_too) return text;
  return text + std::to_string(cost.keys) + " keys, " + std::to_string(cost.bytes) + " bytes";
}

std::string Player::Submit(const Step& step) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  std::vector<bool> writes;
  std::string text;
  for (const CommitStep& commit : step.commits) {
    auto submission = Make(commit);
    if (submission == nullptr) {
      text += "view expired; ";
      continue;
    }
    writes.push_back(!commit.mutations.empty() || !commit.summary.text.empty());
    batch.push_back(std::move(submission));
  }
  std::vector<Result<Committed>> outcomes;
  if (engine().capabilities().total_order) {
    for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) outcomes.push_back(ticket->Outcome());
  } else {
    // Of those that are under way at once one may overtake another.
    for (auto& submission : batch) outcomes.push_back(SubmitOne(engine(), std::move(submission))->Outcome());
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] && writes[i]) commits_.push_back(outcomes[i]->version);
  }
  for (const auto& outcome : outcomes) {
    text += outcome ? "committed " + NumberOf(outcome->version) : Show(outcome.error());
    text += "; ";
  }
  return text;
}

std::string Player::Reopen() {
  for (auto& view : views_) view.reset();
  if (engine().capabilities().persistent) test_->Reopen();
  commits_before_reopen_ = commits_.size();
  return "";
}

// Whether a range counts as empty may depend on what is still stored or viewed, so it is emptied first.
std::string Player::Assign(const Step& step) {
  for (auto& view : views_) view.reset();
  const KeyRange range = RangeOf(step.range);
  if (!range.IsEmpty()) {
    Commit erase = MakeCommit({Mutation::EraseRange(range.start, range.end)});
    erase.durability = Durability::kNone;
    const auto outcome = CommitAndWait(engine(), std::move(erase));
    if (!outcome) return Show(outcome.error());
    commits_.push_back(outcome->version);
  }
  return CodeOf(engine().AssignProfile(range, step.profile));
}

Bytes Player::KeyOf(const KeyName& name) const {
  Bytes key = name.text;
  if (name.stamped_by >= 0) AppendBig(&key, CommitBack(name.stamped_by, 0).stamp);
  return key;
}

KeyRange Player::RangeOf(const RangeStep& range) const { return {KeyOf(range.start), KeyOf(range.end)}; }

// The so-many-th last of the commits from `first` on.
Version Player::CommitBack(size_t back, size_t first) const {
  const size_t count = commits_.size() - first;
  return count == 0 ? kNoVersion : commits_[commits_.size() - 1 - back % count];
}

Version Player::VersionOf(const VersionName& name, const Bytes& key, bool is_range) {
  if (name.of == VersionName::Of::kView && views_[name.number] != nullptr) {
    const Version seen = views_[name.number]->version();
    if (is_range) return seen;
    // A key has the version of a commit: of the newest that the view shows.
    const auto after = std::upper_bound(commits_.begin(), commits_.end(), seen);
    return after == commits_.begin() ? kNoVersion : *std::prev(after);
  }
  if (name.of == VersionName::Of::kCurrent && !is_range) {
    const auto record = GetOne(engine(), key);
    return record && *record ? (*record)->header.version : kNoVersion;
  }
  const bool forgotten = commits_.size() == commits_before_reopen_;
  if (is_range && (forgotten || name.of == VersionName::Of::kCurrent)) return engine().LastVersion();
  return CommitBack(name.number, is_range ? commits_before_reopen_ : 0);
}

Timestamp Player::InstantIn(Duration ahead) {
  if (ahead.micros < 0) return kNever;
  return {test_->clock().Now().micros + static_cast<uint64_t>(ahead.micros)};
}

Precondition Player::Make(const PreconditionStep& step) {
  Precondition precondition;
  const bool is_range = step.kind == Precondition::Kind::kRangeUnchanged;
  precondition.kind = step.kind;
  precondition.key = KeyOf(step.key);
  precondition.end = KeyOf(step.end);
  precondition.version = VersionOf(step.version, precondition.key, is_range);
  precondition.from_read = step.from_read;
  precondition.expired_too = step.expired_too;
  precondition.lapses = InstantIn(step.lapses_in);
  return precondition;
}

Mutation Player::Make(const MutationStep& step) {
  Mutation mutation = step.what;
  mutation.key = KeyOf(step.key);
  mutation.end = KeyOf(step.end);
  mutation.expiry = InstantIn(step.expires_in);
  return mutation;
}

// Null when the view it was to read from has expired.
std::unique_ptr<TestSubmission> Player::Make(const CommitStep& step) {
  Commit stated;
  stated.durability = step.durability;
  for (const auto& precondition : step.preconditions) {
    stated.preconditions.push_back(Make(precondition));
  }
  for (const auto& mutation : step.mutations) stated.mutations.push_back(Make(mutation));
  const auto body = [this, step, stated](View& view, Commit* commit) {
    *commit = stated;
    return Transact(step, view, commit);
  };
  auto submission = std::make_unique<TestSubmission>();
  if (step.runs_again) submission->body = body;
  submission->run_first = step.run_first;
  if (step.run_first) return submission;
  View* view = step.slot == kNoSlot ? nullptr : views_[step.slot].get();
  std::unique_ptr<View> opened;
  if (view == nullptr) {
    auto fresh = engine().OpenView();
    if (!fresh) return nullptr;
    opened = *std::move(fresh);
    view = opened.get();
  }
  if (!body(*view, &submission->commit)) return nullptr;
  return submission;
}

// Reads, and writes down in short what it read.
Status Player::Transact(const CommitStep& step, View& view, Commit* commit) const {
  size_t found = 0;
  size_t bytes = 0;
  for (const KeyName& name : step.reads) {
    const Bytes key = KeyOf(name);
    KVARTS_TRY(const auto record, view.GetOne(key));
    commit->preconditions.push_back(Seen(key, record, view));
    found += record ? 1 : 0;
    bytes += record ? record->value.size() : 0;
  }
  for (const RangeStep& range : step.scans) {
    ScanRequest request;
    request.range = RangeOf(range);
    if (request.range.IsEmpty()) continue;
    KVARTS_TRY(const auto entries, ScanAll(view, request));
    Precondition seen = FromRead(RangeUnchanged(request.range.start, request.range.end, view.version()));
    for (const Found& entry : entries) {
      seen.lapses = std::min(seen.lapses, entry.header.expiry);
      bytes += entry.key.size() + entry.value.size();
    }
    found += entries.size();
    commit->preconditions.push_back(std::move(seen));
  }
  if (!step.summary.text.empty()) {
    const std::string seen = std::to_string(found) + " entries, " + std::to_string(bytes) + " bytes";
    Mutation put = Mutation::Put(KeyOf(step.summary), seen);
    put.owned = step.summary.text.starts_with("o");
    commit->mutations.push_back(std::move(put));
  }
  return {};
}

// Of the newest commit up to the version.
std::string Player::NumberOf(Version version) const {
  const auto after = std::upper_bound(commits_.begin(), commits_.end(), version);
  return "#" + std::to_string(after - commits_.begin());
}

std::string Player::ShowKey(BytesView key) const {
  if (!LooksStamped(key, 's', 2)) return Escaped(key);
  return "s/<" + NumberOf({LoadBig<uint64_t>(key.data() + 2)}) + ">" + Escaped(key.substr(10));
}

std::string Player::ShowValue(BytesView value) const {
  if (LooksStamped(value, 'V', 1)) {
    return "V<" + NumberOf({LoadBig<uint64_t>(value.data() + 1)}) + ">" + ShowValue(value.substr(9));
  }
  if (value.size() <= 32) return Escaped(value);
  return std::to_string(value.size()) + " bytes, " + std::to_string(std::hash<BytesView>()(value));
}

std::string Player::Show(const ValueHeader& header, BytesView value) const {
  std::string text = "\"" + ShowValue(value) + "\" " + NumberOf(header.version);
  const bool exact = std::binary_search(commits_.begin(), commits_.end(), header.version);
  if (!exact) text += " (no commit has version " + header.version.ToString() + ")";
  if (header.expiry != kNever) text += " until " + header.expiry.ToString();
  text += " kind " + std::to_string(static_cast<int>(header.kind));
  if (header.schema != 0) text += " schema " + std::to_string(header.schema);
  if (header.owned) text += " owned";
  if (header.marks.saturated) text += " saturated";
  if (header.marks.misapplied) text += " misapplied";
  return text;
}

std::string Player::Show(const Error& error) const { return std::string(ErrorCodeName(error.code())); }

}  // namespace kvarts::test
