#include "model/catalog/catalog_jobs.h"

#include <algorithm>

#include "base/log.h"
#include "core/fields.h"
#include "core/keyspace.h"
#include "model/catalog/catalog.h"
#include "model/catalog/refusals.h"

namespace kvarts {
namespace {

constexpr const char* kEraseKind = "namespace_erase";
constexpr const char* kMoveKind = "namespace_move";
constexpr const char* kDamaged = "the parameters of a job are damaged";
constexpr size_t kChunkKeys = 500;
constexpr size_t kMoveChunkKeys = 200;
constexpr int kRetentionSeeks = 200;
constexpr size_t kMaxWhyBytes = 1024;

Result<EraseKeys> DecodeEraseKeys(BytesView parameters) {
  FieldReader fields(parameters);
  EraseKeys erase;
  erase.name = fields.Sized();
  erase.range.start = fields.Sized();
  erase.range.end = fields.Sized();
  erase.drop = fields.Byte(1) != 0;
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  return erase;
}

Result<MoveKeys> DecodeMoveKeys(BytesView parameters) {
  FieldReader fields(parameters);
  MoveKeys move;
  move.source = fields.Sized();
  move.target = fields.Sized();
  move.target_prefix = fields.Sized();
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  return move;
}

Bytes EncodeReport(const MoveReport& report) {
  Bytes bytes;
  AppendSized(&bytes, report.next);
  AppendVarint(&bytes, report.moved);
  AppendVarint(&bytes, report.unfit);
  AppendVarint(&bytes, report.taken);
  AppendSized(&bytes, report.first_left);
  AppendSized(&bytes, BytesView(report.why).substr(0, kMaxWhyBytes));
  return bytes;
}

Result<JobStep> EraseStep(Catalog& catalog, Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const EraseKeys erase, DecodeEraseKeys(job.parameters));
  KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));
  KVARTS_TRY(const NamespaceTable* table, guard.Table());
  const Namespace* space = table->ByName(erase.name);
  JobStep step;
  step.finished = true;
  if (space == nullptr) return step;
  ScanRequest request;
  request.range = UserRange({job.cursor.empty() ? erase.range.start : job.cursor, erase.range.end});
  request.keys_only = true;
  request.max_entries = kChunkKeys;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  KeyFields fields;
  KeyMismatch why;
  for (size_t i = 0; i < page.size(); ++i) {
    const BytesView user_key = *UserKeyOf(page[i].key);
    if (space->spec.grammar.Match(user_key, &fields, &why)) {
      txn.Erase(page[i].key);
      step.cursor = KeyAfter(user_key);
    } else {
      step.cursor = Grammar::SkipBeyond(user_key, why);
    }
  }
  step.done = page.size();
  step.finished = !page.rest() || step.cursor.empty();
  if (step.finished && erase.drop && space->state == Namespace::State::kDropping) EraseNamespace(txn, erase.name);
  return step;
}

// Walks a namespace from one leading part to the next, and erases what is too old in each.
class RetentionWalk {
 public:
  RetentionWalk(Txn& txn, const NamespaceTable& table, const Namespace& space)
      : txn_(txn), space_(space), alone_(OwnsBuckets(table, space)), oldest_(space.OldestKept(txn.Now())) {}

  // Once it is done for sure, says what went; nothing if that is nothing.
  void LogWhatGoes() const {
    if (erasures_ == 0) return;
    txn_.AfterCommit([name = space_.spec.name, before = oldest_, erasures = erasures_](Version) {
      Log(LogLevel::kInfo, "retention has erased what is too old",
          {{"namespace", name}, {"before", before}, {"erasures", erasures}});
    });
  }

  // From `at` on; where to go on, or nothing when that was all. `seeks` is counted down.
  Result<std::optional<Bytes>> Run(Bytes at, int* seeks) {
    KeyRange range = space_.Region();
    range.start = std::max(range.start, at);
    while (!range.IsEmpty() && !oldest_.empty()) {
      if (*seeks == 0) return range.start;
      *seeks -= 1;
      ScanRequest request;
      request.range = UserRange(range);
      request.keys_only = true;
      request.max_entries = 1;
      KVARTS_TRY(const ScanPage page, txn_.Scan(request));
      if (page.empty()) return std::nullopt;
      range.start = Visit(*UserKeyOf(page[0].key));
      if (range.start.empty()) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Erases what this key shows to be too old; from where on to look for more.
  Bytes Visit(BytesView key) {
    KeyFields fields;
    KeyMismatch why;
    if (!space_.spec.grammar.Match(key, &fields, &why)) return Grammar::SkipBeyond(key, why);
    const BytesView value = fields[*space_.retained];
    const Bytes leading(key.substr(0, static_cast<size_t>(value.data() - key.data())));
    if (value < oldest_) ++erasures_;
    if (value < oldest_ && !alone_) {
      txn_.Erase(UserKey(key));
      return KeyAfter(key);
    }
    // A time begins with a digit.
    if (value < oldest_) EraseForGood(txn_, {leading + "0", leading + oldest_});
    return PrefixEnd(leading);
  }

  Txn& txn_;
  const Namespace& space_;
  const bool alone_;
  const Bytes oldest_;     // the first value that is kept; empty: all of them
  uint64_t erasures_ = 0;  // of keys, or of all that is too old behind one leading part
};

Result<JobStep> RetentionStep(Catalog& catalog, Txn& txn, const JobRecord& job) {
  FieldReader fields(job.cursor);
  const Bytes name(job.cursor.empty() ? BytesView() : fields.Sized());
  Bytes at(job.cursor.empty() ? BytesView() : fields.Sized());
  KVARTS_CHECK_OK(fields.Finish("the cursor of a job is damaged"));
  KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));
  KVARTS_TRY(const NamespaceTable* table, guard.Table());
  int seeks = kRetentionSeeks;
  JobStep step;
  for (const NamespaceTable::Entry& space : table->entries()) {
    if (space->spec.name < name || !space->retained) continue;
    if (space->spec.name != name) at.clear();
    RetentionWalk walk(txn, *table, *space);
    KVARTS_TRY(const std::optional<Bytes> rest, walk.Run(at, &seeks));
    walk.LogWhatGoes();
    if (!rest) continue;
    AppendSized(&step.cursor, space->spec.name);
    AppendSized(&step.cursor, *rest);
    step.done = static_cast<uint64_t>(kRetentionSeeks - seeks);
    return step;
  }
  step.done = static_cast<uint64_t>(kRetentionSeeks - seeks);
  step.finished = true;
  return step;
}

// One chunk of a move.
class MoveChunk {
 public:
  MoveChunk(Txn& txn, CatalogGuard& guard, const NamespaceTable& table, const MoveKeys& move, MoveReport* report)
      : txn_(txn), guard_(guard), table_(table), move_(move), report_(*report) {}

  Status Move(const ScanPage::Entry& entry) {
    const BytesView user_key = *UserKeyOf(entry.key);
    const Bytes target = move_.target_prefix + Bytes(user_key.substr(move_.source.size()));
    PutOptions options;
    options.kind = entry.header.kind;
    options.owned = entry.header.owned;
    options.schema = entry.header.schema;
    Status fits = CheckTarget(target);
    if (fits.has_value()) fits = guard_.CheckPut(target, entry.value, &options);
    options.expiry = entry.header.expiry;
    if (!fits.has_value()) {
      if (!IsRefusal(fits.error().code())) return fits;
      report_.unfit += 1;
      Leave(user_key, fits.error());
      return {};
    }
    const KeyBuffer physical = UserKey(target);
    KVARTS_TRY(const std::optional<Record> there, txn_.Get(physical));
    if (there) {
      report_.taken += 1;
      Leave(user_key, Error(ErrorCode::kAlreadyExists, "the key is there already", {{"key", Escaped(target)}}));
      return {};
    }
    txn_.Put(physical, entry.value, options);
    txn_.Erase(entry.key);
    report_.moved += 1;
    return {};
  }

 private:
  static bool IsRefusal(ErrorCode code) {
    return code == ErrorCode::kInvalidArgument || code == ErrorCode::kTooLarge ||
           code == ErrorCode::kPreconditionFailed;
  }

  Status CheckTarget(BytesView target) const {
    if (target.size() > txn_.limits().max_key_bytes) return Error(ErrorCode::kTooLarge, "the key would be too long");
    NamespaceTable::Reading reading;
    table_.Read(target, &reading);
    const bool its = reading.verdict == NamespaceTable::Verdict::kGoverned && reading.space->spec.name == move_.target;
    if (its || reading.verdict == NamespaceTable::Verdict::kRefused) return {};  // CheckPut says why
    return Error(ErrorCode::kInvalidArgument, "the key would not be the namespace's", {{"key", Escaped(target)}});
  }

  void Leave(BytesView user_key, const Error& why) {
    if (!report_.why.empty()) return;
    report_.first_left = user_key;
    report_.why = why.ToString();
  }

  Txn& txn_;
  CatalogGuard& guard_;
  const NamespaceTable& table_;
  const MoveKeys& move_;
  MoveReport& report_;
};

Result<JobStep> MoveStep(Catalog& catalog, Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const MoveKeys move, DecodeMoveKeys(job.parameters));
  KVARTS_TRY(MoveReport report, ReadMoveReport(job));
  KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));
  KVARTS_TRY(const NamespaceTable* table, guard.Table());
  if (table->ByName(move.target) == nullptr) return NoSuchNamespace(move.target);
  const KeyRange source = KeyRange::Prefix(move.source);
  ScanRequest request;
  request.range = UserRange({std::max(source.start, report.next), source.end});
  request.max_entries = kMoveChunkKeys;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  MoveChunk chunk(txn, guard, *table, move, &report);
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_CHECK_OK(chunk.Move(page[i]));
    report.next = KeyAfter(*UserKeyOf(page[i].key));
  }
  JobStep step;
  step.done = page.size();
  step.finished = !page.rest();
  step.cursor = EncodeReport(report);
  return step;
}

}  // namespace

JobSpec EraseKeysJob(const EraseKeys& erase) {
  JobSpec spec;
  spec.kind = kEraseKind;
  AppendSized(&spec.parameters, erase.name);
  AppendSized(&spec.parameters, erase.range.start);
  AppendSized(&spec.parameters, erase.range.end);
  spec.parameters.push_back(erase.drop ? 1 : 0);
  return spec;
}

JobSpec RetentionJob() { return {.kind = kRetentionKind}; }

JobSpec MoveKeysJob(const MoveKeys& move) {
  JobSpec spec;
  spec.kind = kMoveKind;
  AppendSized(&spec.parameters, move.source);
  AppendSized(&spec.parameters, move.target);
  AppendSized(&spec.parameters, move.target_prefix);
  return spec;
}

Result<MoveReport> ReadMoveReport(const JobRecord& job) {
  MoveReport report;
  if (job.kind != kMoveKind) return Error(ErrorCode::kInvalidArgument, "the job moves nothing", {{"kind", job.kind}});
  if (job.cursor.empty()) return report;
  FieldReader fields(job.cursor);
  report.next = fields.Sized();
  report.moved = fields.Varint();
  report.unfit = fields.Varint();
  report.taken = fields.Varint();
  report.first_left = fields.Sized();
  report.why = fields.Sized(kMaxWhyBytes);
  KVARTS_CHECK_OK(fields.Finish("the cursor of a job is damaged"));
  return report;
}

void EraseForGood(Txn& txn, const KeyRange& user_range) {
  const KeyRange range = UserRange(user_range);
  Mutation erase = Mutation::EraseRange(range.start, range.end);
  erase.reclaim = true;
  txn.Apply(std::move(erase));
}

bool OwnsBuckets(const NamespaceTable& table, const Namespace& space) {
  return std::ranges::none_of(Neighbours(table, space), [&](const Namespace* other) {
    return space.spec.grammar.SharesLeading(*space.retained, other->spec.grammar);
  });
}

std::vector<JobKind> Catalog::JobKinds() {
  using Step = Result<JobStep> (*)(Catalog&, Txn&, const JobRecord&);
  const auto kind = [this](const char* name, Step step) {
    return JobKind{name, [this, step](Txn& txn, const JobRecord& job) { return step(*this, txn, job); }};
  };
  return {kind(kEraseKind, EraseStep), kind(kRetentionKind, RetentionStep), kind(kMoveKind, MoveStep)};
}

}  // namespace kvarts
