#include "engine/postgres/following.h"

#include <algorithm>

#include "engine/postgres/entry_codec.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kInterval{50};
// How long a range stands in the table, how often that is prolonged, and how long it is kept when nobody follows it.
constexpr seconds kStands{60};
constexpr seconds kProlonged{20};
constexpr seconds kKept{10};
// At most so many rows for a process; beyond that, neighbours become one.
constexpr size_t kMaxRows = 64;
// More notes than this are read as: anything may have changed.
constexpr int64_t kMaxNotes = 10'000;
// Changes are read in pages of about so many bytes of values.
constexpr int64_t kPageBytes = 4 << 20;
// How long commits are waited for, and after what time it is looked for the first time whether they have ended.
constexpr milliseconds kSettling{100};
constexpr milliseconds kSettlingLook{1};

Deadline Now() { return std::chrono::steady_clock::now(); }

// The columns of kTouched.
enum TouchedColumn { kTouchedKind, kTouchedLow, kTouchedLowRest, kTouchedHigh, kTouchedHighRest, kSnapshot, kFirst };

// What a note says was touched.
KeyRange RangeOf(const Rows& rows, int row) {
  enum Kind : int16_t { kKey, kRange, kPrefix };
  const Bytes low = Bytes(rows.Bytea(row, kTouchedLow)).append(rows.Bytea(row, kTouchedLowRest));
  switch (rows.Int2(row, kTouchedKind)) {
    case kKey:
      return KeyRange::Single(low);
    case kPrefix:
      return KeyRange::Prefix(low);
    default:
      return {low, EndOf(rows.Bytea(row, kTouchedHigh), rows.Bytea(row, kTouchedHighRest))};
  }
}

std::vector<std::string> CommittingIn(const Rows& rows) {
  std::vector<std::string> committing;
  for (int row = 0; row < rows.size(); ++row) committing.emplace_back(rows.Text(row, 0));
  return committing;
}

void KeepThose(std::vector<std::string>* all, const std::vector<std::string>& kept) {
  std::erase_if(*all, [&](const std::string& one) { return std::ranges::find(kept, one) == kept.end(); });
}

// The columns of kChanged.
enum ChangedColumn {
  kLife,
  kForgotten,
  kVersion,
  kExpireAt,
  kSchemaOf,
  kBits,
  kValue,
  kPlace,
  kOp,
  kNumber,
  kChangedLow,
  kChangedLowRest,
  kChangedHigh,
  kChangedHighRest
};

Mutation ChangeIn(const Rows& rows, int row) {
  const ValueHeader header = HeaderOf(rows, row, kVersion);
  Mutation change;
  change.op = MutationOf(rows.Int2(row, kOp));
  change.owned = header.owned;
  change.kind = header.kind;
  change.schema = header.schema;
  change.delta = rows.Int8(row, kNumber);
  change.expiry = header.expiry;
  change.key = Bytes(rows.Bytea(row, kChangedLow)).append(rows.Bytea(row, kChangedLowRest));
  if (change.op == Mutation::Op::kEraseRange) {
    change.end = EndOf(rows.Bytea(row, kChangedHigh), rows.Bytea(row, kChangedHighRest));
  }
  change.value = ValueOf(header, rows.Bytea(row, kValue));
  return change;
}

}  // namespace

void Following::Ranges::Want(std::vector<KeyRange> wanted, Deadline now) {
  for (KeyRange& range : wanted) followed_[{std::move(range.start), std::move(range.end)}].until = now + kKept;
  std::erase_if(followed_, [&](const auto& entry) { return entry.second.until < now; });
}

std::vector<KeyRange> Following::Ranges::Rows() const {
  std::vector<KeyRange> rows;
  const size_t together = (followed_.size() + kMaxRows - 1) / kMaxRows;
  size_t count = 0;
  for (const auto& [bounds, followed] : followed_) {
    const auto& [start, end] = bounds;
    if (count++ % together == 0) {
      rows.push_back({start, end});
    } else if (end.empty() || (rows.back().HasEnd() && rows.back().end < end)) {
      rows.back().end = end;
    }
  }
  return rows;
}

bool Following::Ranges::Mark() {
  bool newcomers = false;
  for (auto& [bounds, followed] : followed_) {
    if (followed.state == Followed::State::kNoted) continue;
    followed.state = Followed::State::kMarked;
    newcomers = true;
  }
  return newcomers;
}

std::vector<KeyRange> Following::Ranges::Newcomers() const {
  std::vector<KeyRange> newcomers;
  for (const auto& [bounds, followed] : followed_) {
    if (followed.state != Followed::State::kNoted) newcomers.push_back({bounds.first, bounds.second});
  }
  return newcomers;
}

bool Following::Ranges::AnyToGreet() const {
  return std::ranges::any_of(followed_, [](const auto& entry) {
    return entry.second.state != Followed::State::kNoted && !entry.second.greeted;
  });
}

std::vector<KeyRange> Following::Ranges::Greet() {
  std::vector<KeyRange> strangers;
  for (auto& [bounds, followed] : followed_) {
    if (followed.state == Followed::State::kNoted || followed.greeted) continue;
    followed.greeted = true;
    strangers.push_back({bounds.first, bounds.second});
  }
  return strangers;
}

std::vector<KeyRange> Following::Ranges::MarkReached() {
  std::vector<KeyRange> noted;
  for (auto& [bounds, followed] : followed_) {
    if (followed.state != Followed::State::kMarked) continue;
    followed.state = Followed::State::kNoted;
    noted.push_back({bounds.first, bounds.second});
  }
  return noted;
}

bool Following::Ranges::AnyNoted() const {
  return std::ranges::any_of(followed_,
                             [](const auto& entry) { return entry.second.state == Followed::State::kNoted; });
}

bool Following::Ranges::IsNoted(const KeyRange& range) const {
  const auto found = followed_.find({range.start, range.end});
  return found != followed_.end() && found->second.state == Followed::State::kNoted;
}

void Following::Ranges::NoneIsNoted() {
  for (auto& [bounds, followed] : followed_) {
    followed.state = Followed::State::kNew;
    followed.greeted = false;
  }
}

Result<Version> Following::Settle() {
  if (settled_ >= shared_.version_seen) return settled();
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  KVARTS_TRY(Mark mark, TakeMark(*connection));
  const Deadline deadline = In(kSettling);
  for (milliseconds pause = kSettlingLook; !mark.reached(); pause *= 2) {
    if (Now() > deadline) return settled();
    std::this_thread::sleep_for(pause);
    const auto committing = connection->Fly(kCommitting, {}, shared_.request_deadline());
    if (!committing.has_value()) return committing.error().error;
    KeepThose(&mark.behind, CommittingIn(*committing));
  }
  Reached(mark.version);
  return settled();
}

void Following::Reached(uint64_t version) {
  uint64_t before = settled_.load();
  while (before < version && !settled_.compare_exchange_weak(before, version)) {
  }
}

void Following::LookNow() {
  {
    const std::lock_guard lock(mutex_);
    look_now_ = true;
  }
  asked_.notify_one();
}

void Following::Loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (looked_ != Deadline()) {
      // Others forget what was touched some time ago, and after more time the ranges.
      if (Now() > looked_ + kProlonged / 2) Interrupted();
      if (Now() > looked_ + kStands / 2) Missed();
    }
    if (!Look().has_value()) Interrupted();
    std::unique_lock lock(mutex_);
    asked_.wait_for(lock, stop, kInterval, [this] { return look_now_; });
    look_now_ = false;
  }
}

void Following::Interrupted() {
  rows_.clear();
  mark_.reset();
  unsettled_.clear();
  settling_.clear();
  everything_ = true;
}

void Following::Missed() {
  Interrupted();
  prolong_at_ = {};
  life_.clear();
  touched_.NoneIsNoted();
  told_.NoneIsNoted();
  lost_ = true;
  // Another server may give numbers again that the lost one gave.
  told_in_.clear();
  strangers_.clear();
  told_up_to_ = 0;
  forgotten_ = 0;
}

Status Following::CheckLife(const Rows& rows, int column) {
  const bool dead = rows.IsNull(0, column);
  if (!dead && life_.empty()) life_ = rows.Text(0, column);
  if (!dead && life_ == rows.Text(0, column)) return {};
  Missed();
  return Error(ErrorCode::kUnavailable, "the server has lost what was noted");
}

Status Following::Look() {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  KVARTS_CHECK_OK(Register(*connection));
  KVARTS_CHECK_OK(LearnFollowed(*connection));
  Params since;
  told_in_.empty() ? since.Null() : since.Text(told_in_);
  since.Int8(kMaxNotes);
  // One after the other: what was touched by then has a version up to that of the clock, and who has one up to that is
  // visible or committing.
  std::vector<Call> calls;
  calls.push_back({&kTouched, std::move(since)});
  calls.push_back({&kClock, {}});
  calls.push_back({&kCommitting, {}});
  const auto flown = connection->Fly(calls, shared_.request_deadline());
  if (!flown.has_value()) return flown.error().error;
  TellTouched((*flown)[0]);
  Mark now = MarkIn((*flown)[1], (*flown)[2]);
  const Committing committing = now.behind;
  if (mark_) {
    KeepThose(&mark_->behind, committing);
  } else if (IsNews(now.version)) {
    mark_ = std::move(now);
    settling_ = std::exchange(unsettled_, {});
  }
  TellNewcomers(committing);
  if (mark_ && mark_->reached()) KVARTS_CHECK_OK(TellNotes(*connection));
  TellBeginnings();
  looked_ = Now();
  return {};
}

bool Following::IsNews(uint64_t version) {
  const bool new_touched = touched_.Mark();
  const bool new_told = told_.Mark();
  return new_touched || new_told || lost_ || !unsettled_.empty() || version != told_place_.version;
}

Status Following::Register(Connection& connection) {
  const Deadline now = Now();
  std::vector<Row> rows = RowsAt(now);
  const auto stands = [&](const Row& row) { return std::ranges::find(rows_, row) != rows_.end(); };
  if (now < prolong_at_ && std::ranges::all_of(rows, stands)) return {};
  ArrayParam low(ArrayParam::Of::kBytea), low_rest(ArrayParam::Of::kBytea);
  ArrayParam high(ArrayParam::Of::kBytea), high_rest(ArrayParam::Of::kBytea);
  ArrayParam told(ArrayParam::Of::kInt2);
  for (const Row& row : rows) {
    const Bound lower(row.range.start);
    const Bound upper = Bound::Upper(row.range);
    low.Bytes(lower.key);
    low_rest.Bytes(lower.rest);
    high.Bytes(upper.key);
    high_rest.Bytes(upper.rest);
    told.Int2(row.told ? 1 : 0);
  }
  Params follow;
  for (ArrayParam* array : {&low, &low_rest, &high, &high_rest, &told}) array->AddTo(&follow);
  follow.Int8(std::chrono::microseconds(kStands).count());
  Params forget;
  forget.Int8(static_cast<int64_t>(forgotten_));
  forget.Int8(static_cast<int64_t>(forgotten_version_));
  std::vector<Call> calls;
  calls.push_back({&kFollow, std::move(follow)});
  if (now >= prolong_at_) calls.push_back({&kForget, std::move(forget)});
  if (const auto flown = connection.Fly(calls, shared_.request_deadline()); !flown.has_value())
    return flown.error().error;
  if (now >= prolong_at_) {
    prolong_at_ = now + kProlonged;
    forgotten_ = told_up_to_;
    forgotten_version_ = told_place_.version;
  }
  rows_ = std::move(rows);
  return {};
}

Status Following::LearnFollowed(Connection& connection) {
  const auto epoch = connection.Fly(kEpoch, {}, shared_.request_deadline());
  if (!epoch.has_value()) return epoch.error().error;
  KVARTS_CHECK_OK(CheckLife(*epoch, 1));
  if (epoch->Int8(0, 0) == shared_.followed.Get()->epoch) return {};
  const auto rows = connection.Fly(kFollowed, {}, shared_.request_deadline());
  if (!rows.has_value()) return rows.error().error;
  enum Column { kEpochOf, kLow, kLowRest, kHigh, kHighRest, kTold };
  KnownFollowed::Known known{.epoch = rows->Int8(0, kEpochOf), .touched = {}, .told = {}};
  for (int row = 0; row < rows->size() && !rows->IsNull(row, kLow); ++row) {
    std::vector<KeyRange>& ranges = rows->Bool(row, kTold) ? known.told : known.touched;
    ranges.push_back({Bytes(rows->Bytea(row, kLow)).append(rows->Bytea(row, kLowRest)),
                      EndOf(rows->Bytea(row, kHigh), rows->Bytea(row, kHighRest))});
  }
  shared_.followed.Set(std::move(known));
  return {};
}

std::vector<Following::Row> Following::RowsAt(Deadline now) {
  FollowedRanges wanted;
  if (CommitListener* const listener = shared_.listener) listener->Followed(&wanted);
  touched_.Want(std::move(wanted.touched), now);
  told_.Want(std::move(wanted.told), now);
  beginning_ = std::move(wanted.beginning);
  std::vector<Row> rows;
  for (KeyRange& range : touched_.Rows()) rows.push_back({std::move(range), false});
  for (KeyRange& range : told_.Rows()) rows.push_back({std::move(range), true});
  return rows;
}

Following::Mark Following::MarkIn(const Rows& clock, const Rows& committing) {
  return {.version = static_cast<uint64_t>(clock.Int8(0, 0)), .behind = CommittingIn(committing)};
}

Result<Following::Mark> Following::TakeMark(Connection& connection) {
  std::vector<Call> calls;
  calls.push_back({&kClock, {}});
  calls.push_back({&kCommitting, {}});
  const auto flown = connection.Fly(calls, shared_.request_deadline());
  if (!flown.has_value()) return flown.error().error;
  return MarkIn((*flown)[0], (*flown)[1]);
}

void Following::TellTouched(const Rows& notes) {
  std::vector<KeyRange> touched;
  const int count = notes.IsNull(0, kTouchedKind) ? 0 : notes.size();
  // Others forget what was touched some time ago, whoever has not been told of it yet.
  const bool late = !told_in_.empty() && Now() > told_at_ + kProlonged / 2;
  everything_ = everything_ || late || count == kMaxNotes;
  for (int row = 0; row < count && !everything_; ++row) touched.push_back(RangeOf(notes, row));
  if (std::exchange(everything_, false)) touched = {KeyRange::All()};
  told_at_ = Now();
  told_in_ = notes.Text(0, kSnapshot);
  told_up_to_ = static_cast<uint64_t>(notes.Int8(0, kFirst));
  TellAll(touched);
  Unsettled(touched);
}

void Following::TellNewcomers(const Committing& committing) {
  const size_t strangers = strangers_.size();
  KeepThose(&strangers_, committing);
  if (strangers_.size() < strangers) {
    // They may have versions behind that of the mark.
    const std::vector<KeyRange> newcomers = touched_.Newcomers();
    TellAll(newcomers);
    Unsettled(newcomers);
  }
  if (!touched_.AnyToGreet()) return;
  strangers_ = committing;
  const std::vector<KeyRange> greeted = touched_.Greet();
  // When the mark is reached they are told of anyway.
  if (!mark_ || !mark_->reached()) TellAll(greeted);
}

void Following::Unsettled(std::span<const KeyRange> touched) {
  unsettled_.insert(unsettled_.end(), touched.begin(), touched.end());
  if (unsettled_.size() > kMaxNotes) unsettled_ = {KeyRange::All()};
}

void Following::TellAll(std::span<const KeyRange> touched) {
  for (const KeyRange& range : touched) {
    tell_([&](CommitListener& listener, auto* next) { listener.Elsewhere(range, next); });
  }
}

Status Following::TellNotes(Connection& connection) {
  Reached(mark_->version);
  if (!lost_ && told_.AnyNoted()) KVARTS_CHECK_OK(TellChanges(connection));
  if (std::exchange(lost_, false)) tell_([](CommitListener& listener, auto*) { listener.Lost(); });
  told_place_ = {mark_->version};
  told_.MarkReached();
  mark_.reset();
  // Who did not know of them has ended, perhaps with a version behind that of the mark.
  const std::vector<KeyRange> newcomers = touched_.MarkReached();
  TellAll(newcomers);
  Unsettled(newcomers);
  for (const KeyRange& range : std::exchange(settling_, {})) {
    tell_([&](CommitListener& listener, auto*) { listener.Settled(range); });
  }
  return {};
}

Status Following::TellChanges(Connection& connection) {
  while (true) {
    Params params;
    params.Int8(static_cast<int64_t>(told_place_.version));
    params.Int4(told_place_.operation);
    params.Int8(static_cast<int64_t>(mark_->version));
    params.Int8(kPageBytes);
    const auto page = connection.Fly(kChanged, std::move(params), shared_.request_deadline());
    if (!page.has_value()) return page.error().error;
    KVARTS_CHECK_OK(CheckLife(*page, kLife));
    lost_ = static_cast<uint64_t>(page->Int8(0, kForgotten)) > told_place_.version;
    if (lost_ || page->IsNull(0, kVersion)) return {};
    tell_([&](CommitListener& listener, auto*) {
      for (int row = 0; row < page->size(); ++row) {
        listener.Changed(ChangeIn(*page, row), {static_cast<uint64_t>(page->Int8(row, kVersion))});
      }
    });
    // Told is told, also when the next page does not come.
    const int last = page->size() - 1;
    told_place_ = {static_cast<uint64_t>(page->Int8(last, kVersion)), page->Int4(last, kPlace)};
  }
}

void Following::TellBeginnings() {
  std::erase_if(beginning_, [this](const KeyRange& range) { return !told_.IsNoted(range); });
  if (beginning_.empty()) return;
  tell_([this](CommitListener& listener, auto*) { listener.Begin(beginning_); });
}

}  // namespace kvarts::postgres
