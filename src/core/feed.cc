#include "core/feed.h"

#include <algorithm>
#include <functional>
#include <map>
#include <semaphore>

#include "core/keyspace.h"

namespace kvarts {
namespace {

// Whether a change may be one of the range. A key that gets the commit's version may become any with its beginning;
// what does not belong after all is left out when the feed is read.
bool Concerns(const KeyRange& range, const Mutation& mutation) {
  if (mutation.op == Mutation::Op::kEraseRange) return range.Intersects({mutation.key, mutation.end});
  if (mutation.key_stamp == Mutation::kNoStamp) return range.Contains(BytesView(mutation.key));
  return range.Intersects(KeyRange::Prefix(BytesView(mutation.key).substr(0, mutation.key_stamp)));
}

Error NoSuchFeed(FeedId feed) {
  return Error(ErrorCode::kNotFound, "there is no such feed", {{"feed", std::to_string(feed.number)}});
}

Version VersionOf(const std::optional<Record>& record) { return record ? record->header.version : kNoVersion; }

// That no feed has been declared since.
Precondition StampIs(Version version) {
  Precondition same;
  same.kind = version == kNoVersion ? Precondition::Kind::kAbsent : Precondition::Kind::kVersionIs;
  same.key = FeedsStampKey();
  same.version = version;
  same.from_read = true;
  return same;
}

Result<FeedDeclaration> ReadDeclaration(View& view, FeedId feed) {
  KVARTS_TRY(const std::optional<Record> record, view.GetOne(FeedDeclarationKey(feed)));
  if (!record) return NoSuchFeed(feed);
  return FeedDeclaration::Decode(record->value);
}

}  // namespace

// A body that is run only at its turn, where nothing can change until its commit is decided.
class FeedTable::Turn final : public Submission {
 public:
  using Body = std::function<Status(View&, Commit*)>;
  using Ended = std::function<void(const Result<Committed>&)>;

  // Submits and waits. `ended` is called on the commit thread, before any commit of a later group.
  static Status Take(Engine& engine, const Body& body, const Ended& ended) {
    std::binary_semaphore ready{0};
    Status outcome;
    std::unique_ptr<Submission> turn(new Turn(body, ended, &outcome, &ready));
    turn->caller_waits = true;
    engine.Submit({&turn, 1});
    ready.acquire();
    return outcome;
  }

  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    commit.mutations.clear();
    return body_(view, &commit);
  }
  void Done(Result<Committed> result) override {
    if (!result.has_value()) *outcome_ = result.error();
    ended_(result);
    ready_->release();
  }

 private:
  Turn(const Body& body, const Ended& ended, Status* outcome, std::binary_semaphore* ready)
      : body_(body), ended_(ended), outcome_(outcome), ready_(ready) {
    run_first = true;
  }

  const Body& body_;
  const Ended& ended_;
  Status* const outcome_;
  std::binary_semaphore* const ready_;
};

// Walks the changes of a transaction in order, with what each of them met.
class FeedTable::Recorder {
 public:
  Recorder(Txn& txn, const std::vector<Feed>& feeds) : txn_(txn), feeds_(feeds) {}

  Status Run() {
    for (const Mutation& mutation : txn_.mutations()) {
      const auto its = [&](const Feed& feed) { return Concerns(feed.range, mutation); };
      if (std::ranges::any_of(feeds_, its)) changes_.push_back(&mutation);
    }
    if (changes_.empty()) return {};
    KVARTS_CHECK_OK(ReadBefore());
    now_ = txn_.Now();
    for (const Mutation* change : changes_) Note(*change);
    for (Mutation& entry : entries_) txn_.Apply(std::move(entry));
    return {};
  }

 private:
  // One read for all keys. A key that gets the commit's version is new.
  Status ReadBefore() {
    for (const Mutation* change : changes_) {
      if (change->op == Mutation::Op::kEraseRange || change->key_stamp != Mutation::kNoStamp) continue;
      before_.emplace(change->key, std::nullopt);
    }
    std::vector<BytesView> keys;
    for (const auto& [key, record] : before_) keys.push_back(key);
    if (keys.empty()) return {};
    std::vector<std::optional<kvarts::Record>> records(keys.size());
    KVARTS_CHECK_OK(txn_.GetBeneath(keys, records));
    for (size_t i = 0; i < keys.size(); ++i) before_.find(keys[i])->second = std::move(records[i]);
    return {};
  }

  // What is under the key after the changes so far.
  FeedDraft::State StateOf(const Bytes& key) const {
    FeedDraft::State state;
    const auto found = before_.find(key);
    const Overlay::Change* change = writes_.Find(key);
    if (found != before_.end() && !writes_.InErasedRange(key)) state.record = found->second;
    if (change != nullptr) state.record = Overlay::Resolve(*change, std::move(state.record), now_);
    if (const auto stamp = stamps_.find(key); stamp != stamps_.end()) state.stamp = stamp->second;
    return state;
  }

  void Note(const Mutation& change) {
    const bool is_range = change.op == Mutation::Op::kEraseRange;
    FeedDraft draft;
    draft.op = change.op;
    draft.key = change.key;
    draft.end = change.end;
    draft.key_stamp = change.key_stamp;
    if (!is_range) draft.before = StateOf(change.key);
    if (draft.before.record && draft.before.record->header.ExpiredAt(now_)) draft.before.record.reset();
    writes_.Apply(change, kNoVersion, now_);
    if (change.op == Mutation::Op::kPut) stamps_.insert_or_assign(change.key, change.value_stamp);
    if (!is_range) draft.after = StateOf(change.key);
    for (size_t i = 0; i < feeds_.size(); ++i) {
      const Feed& feed = feeds_[i];
      if (!Concerns(feed.range, change)) continue;
      const KeyRange erased = feed.range.Intersect({change.key, change.end});
      if (is_range) draft.key = erased.start;
      if (is_range) draft.end = erased.end;
      entries_.push_back(MakeFeedEntry(feed.id, written_[feed.id]++, draft, txn_.context()));
    }
  }

  Txn& txn_;
  const std::vector<Feed>& feeds_;
  std::vector<const Mutation*> changes_;  // those in the range of a feed
  std::map<Bytes, std::optional<kvarts::Record>, std::less<>> before_;
  Timestamp now_;
  Overlay writes_;                      // the changes so far
  std::map<Bytes, uint32_t> stamps_;    // by key, of the puts so far
  std::map<FeedId, uint64_t> written_;  // entries so far
  std::vector<Mutation> entries_;
};

Result<std::vector<FeedTable::Feed>> FeedTable::ReadDeclarations(const Scan& scan) const {
  std::vector<Feed> feeds;
  ScanRequest request;
  request.range = FeedDeclarations();
  request.max_entries = engine_.limits().max_page_entries;
  while (true) {
    KVARTS_TRY(const ScanPage page, scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const FeedId id, FeedOfDeclaration(page[i].key));
      KVARTS_TRY(FeedDeclaration declaration, FeedDeclaration::Decode(page[i].value));
      feeds.push_back({id, std::move(declaration.range)});
    }
    if (!page.rest()) return feeds;
    request.range = *page.rest();
  }
}

const FeedTable::Feeds* FeedTable::Publish(Feeds feeds) {
  const std::lock_guard lock(publishing_);
  const Feeds* const known = feeds_.load(std::memory_order_acquire);
  // Others may have declared one since these were read.
  if (known != nullptr && shared_ && known->stamp >= feeds.stamp) return known;
  all_.push_back(std::make_unique<Feeds>(std::move(feeds)));
  feeds_.store(all_.back().get(), std::memory_order_release);
  return all_.back().get();
}

Status FeedTable::Load() {
  KVARTS_TRY(const std::unique_ptr<View> view, engine_.OpenView());
  Feeds feeds;
  KVARTS_TRY(feeds.all, ReadDeclarations([&](const ScanRequest& request) { return view->Scan(request); }));
  KVARTS_TRY(const std::optional<kvarts::Record> stamp, view->GetOne(FeedsStampKey()));
  feeds.stamp = VersionOf(stamp);
  if (shared_ || !feeds.all.empty()) Publish(std::move(feeds));
  return {};
}

Result<FeedId> FeedTable::DeclareAt(View& view, const KeyRange& range, Commit* commit, std::vector<Feed>* feeds) const {
  KVARTS_TRY(*feeds, ReadDeclarations([&](const ScanRequest& request) { return view.Scan(request); }));
  for (const Feed& feed : *feeds) {
    if (feed.range == range) return feed.id;
  }
  if (feeds->size() >= kMaxFeeds) {
    return Error(ErrorCode::kTooLarge, "there are too many feeds",
                 {{"limit", "max_feeds"}, {"at_most", std::to_string(kMaxFeeds)}});
  }
  const FeedId id{feeds->empty() ? 1 : feeds->back().id.number + 1};
  commit->mutations = {Mutation::Put(FeedDeclarationKey(id), FeedDeclaration{range, kNoVersion}.Encode()),
                       Mutation::Put(FeedsStampKey(), {})};
  KVARTS_CHECK_OK(CheckCommit(*commit, engine_.limits()));
  feeds->push_back({id, range});
  return id;
}

Result<FeedId> FeedTable::Declare(const KeyRange& range) {
  if (range.IsEmpty()) return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  const size_t at_most = engine_.limits().max_key_bytes + Limits::kKeyAllowance;
  if (std::max(range.start.size(), range.end.size()) > at_most) {
    return Error(ErrorCode::kTooLarge, "the key is too long",
                 {{"limit", "max_key_bytes"}, {"at_most", std::to_string(at_most)}});
  }
  std::lock_guard lock(declaring_);
  // Entries are written in order and dropped by range. If there are some already it is too late to say so.
  const Status assigned = engine_.AssignProfile(SpaceRange(Space::kFeed), Profile::kWindow);
  if (!assigned.has_value() && assigned.error().code() != ErrorCode::kPreconditionFailed) return assigned.error();
  return shared_ ? DeclareShared(range) : DeclareInTurn(range);
}

Result<FeedId> FeedTable::DeclareInTurn(const KeyRange& range) {
  const Feeds* const before = feeds_.load();
  FeedId id;
  const Turn::Body declare = [&](View& view, Commit* commit) -> Status {
    Feeds feeds;
    KVARTS_TRY(id, DeclareAt(view, range, commit, &feeds.all));
    // Nothing can keep this commit from being decided any more. If it cannot be written, neither can those of its group
    // that already go by it, and the table is put back before the next group.
    if (!commit->mutations.empty()) Publish(std::move(feeds));
    return {};
  };
  const Turn::Ended undo = [&](const Result<Committed>& outcome) {
    if (outcome.has_value() || outcome.error().code() == ErrorCode::kUnknownOutcome) return;
    feeds_.store(before, std::memory_order_release);
  };
  KVARTS_CHECK_OK(Turn::Take(engine_, declare, undo));
  return id;
}

Result<FeedId> FeedTable::DeclareShared(const KeyRange& range) {
  FeedId id;
  bool changes = false;
  Feeds feeds;
  const Turn::Body declare = [&](View& view, Commit* commit) -> Status {
    KVARTS_TRY(id, DeclareAt(view, range, commit, &feeds.all));
    changes = !commit->mutations.empty();
    // Another process may be at it, too.
    KVARTS_TRY(const std::optional<kvarts::Record> stamp, view.GetOne(FeedsStampKey()));
    commit->preconditions = {StampIs(VersionOf(stamp))};
    return {};
  };
  const Turn::Ended publish = [&](const Result<Committed>& outcome) {
    if (!outcome.has_value() || !changes) return;
    feeds.stamp = outcome->version;
    Publish(std::move(feeds));
  };
  KVARTS_CHECK_OK(Turn::Take(engine_, declare, publish));
  return id;
}

Result<const FeedTable::Feeds*> FeedTable::Certain(Txn& txn, const Feeds* known) {
  if (!txn.MayLook()) {
    txn.RestOn(StampIs(known->stamp));
    return known;
  }
  KVARTS_TRY(const std::optional<kvarts::Record> stamp, txn.Get(FeedsStampKey()));
  if (VersionOf(stamp) == known->stamp) return known;
  Feeds feeds{.all = {}, .stamp = VersionOf(stamp)};
  KVARTS_TRY(feeds.all, ReadDeclarations([&](const ScanRequest& request) { return txn.Scan(request); }));
  return Publish(std::move(feeds));
}

Status FeedTable::Record(Txn& txn) {
  const Feeds* feeds = feeds_.load(std::memory_order_acquire);
  if (feeds == nullptr) return {};
  if (shared_) {
    KVARTS_TRY(feeds, Certain(txn, feeds));
  }
  return Recorder(txn, feeds->all).Run();
}

Result<FeedPage> FeedTable::Read(FeedId feed, FeedPosition from, size_t limit, size_t max_bytes, ReadCost* cost,
                                 std::optional<Version> settled) {
  // Where versions follow the order of commits, whatever comes later comes behind the view.
  const bool ordered = engine_.capabilities().total_order;
  if (!settled) {
    KVARTS_TRY(settled, engine_.Settle());
  }
  KVARTS_TRY(const std::unique_ptr<View> view, engine_.OpenView());
  if (ordered) settled = view->version();
  KVARTS_TRY(const FeedDeclaration declaration, ReadDeclaration(*view, feed));
  if (from != FeedPosition{} && from.version < declaration.floor) {
    return Error(ErrorCode::kNotFound, "the feed has been trimmed beyond this position",
                 {{"since", from.version.ToString()}, {"oldest", declaration.floor.ToString()}});
  }
  ScanRequest request;
  const FeedPosition behind{settled->Next(), 0};
  request.range = {Bytes(FeedEntryKey(feed, from).view()), Bytes(FeedEntryKey(feed, behind).view())};
  request.max_entries = limit;
  request.max_bytes = std::min(max_bytes, engine_.limits().max_page_bytes);
  request.options.cost = cost;
  KVARTS_TRY(const ScanPage scanned, view->Scan(request));
  FeedPage page{.entries = {}, .next = from, .more = scanned.rest().has_value()};
  for (size_t i = 0; i < scanned.size(); ++i) {
    KVARTS_TRY(FeedEntry entry, DecodeFeedEntry(scanned[i].key, scanned[i].value));
    page.next = {entry.position.version, entry.position.index + 1};
    const bool is_range = entry.op == Mutation::Op::kEraseRange;
    if (is_range || declaration.range.Contains(BytesView(entry.key))) page.entries.push_back(std::move(entry));
  }
  if (!page.more) page.next = std::max(page.next, behind);
  return page;
}

Status FeedTable::Trim(FeedId feed, Version before) {
  // Nothing will be written before this any more, so what is erased stays empty.
  before = std::min(before, engine_.LastVersion().Next());
  const Turn::Body trim = [&](View& view, Commit* commit) -> Status {
    KVARTS_TRY(FeedDeclaration declaration, ReadDeclaration(view, feed));
    if (before <= declaration.floor) return {};
    declaration.floor = before;
    const Bytes start = FeedEntries(feed).start;
    const KeyBuffer end = FeedEntryKey(feed, {before, 0});
    commit->mutations = {Mutation::Put(FeedDeclarationKey(feed), declaration.Encode()),
                         Mutation::EraseRange(start, end)};
    commit->mutations.back().reclaim = true;
    return {};
  };
  return Turn::Take(engine_, trim, [](const Result<Committed>&) {});
}

}  // namespace kvarts
