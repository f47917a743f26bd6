#include "cli/keyspace_check.h"

#include <fmt/format.h>

#include "cli/error_text.h"
#include "cli/spaces.h"
#include "core/envelope.h"
#include "core/feed_codec.h"
#include "core/job_record.h"
#include "core/secret.h"
#include "model/access/token_record.h"
#include "model/access/user_record.h"
#include "model/catalog/namespace.h"
#include "model/structure/places.h"
#include "model/table/ids.h"
#include "model/table/row.h"

namespace kvarts::cli {
namespace {

constexpr size_t kPageEntries = 1000;

// What an entry of the index of owned values says.
struct ExpiryEntry {
  Timestamp expiry;
  Bytes owner;
};

Result<ExpiryEntry> DecodeExpiryEntry(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const Timestamp expiry, reader.TakeTime());
  KVARTS_TRY(const BytesView owner, reader.TakeTail());
  return ExpiryEntry{expiry, Bytes(owner)};
}

// Any tuple at all.
Status CheckTuple(BytesView key) {
  TupleReader reader(key);
  while (!reader.AtEnd()) KVARTS_CHECK_OK(reader.TakeElement());
  return reader.Finish();
}

}  // namespace

void KeyspaceCheck::Report(BytesView key, std::string text) {
  ++found_;
  if (findings_.size() < kMaxFindings) findings_.push_back({DescribeKey(key), std::move(text)});
}

Result<std::optional<Record>> KeyspaceCheck::Stored(BytesView key) {
  return view_.GetOne(key, {.expired_too = true, .cost = nullptr});
}

Status KeyspaceCheck::Run(const std::function<void(uint64_t entries)>& on_page) {
  std::optional<KeyRange> rest = KeyRange::All();
  while (rest) {
    ScanRequest request;
    request.range = *rest;
    request.max_entries = kPageEntries;
    request.options.expired_too = true;
    KVARTS_TRY(const ScanPage page, view_.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) KVARTS_CHECK_OK(CheckEntry(page[i]));
    rest = page.rest();
    on_page(entries_);
  }
  return {};
}

// Fails only when the store cannot be read; what is wrong with the entry is reported.
Status KeyspaceCheck::CheckEntry(const ScanPage::Entry& entry) {
  ++entries_;
  CheckHeader(entry);
  const std::optional<Space> space = SpaceOf(entry.key);
  if (!space) {
    Report(entry.key, "the key begins with no number of the keyspace's map");
    return {};
  }
  SpaceCount& count = counts_[*space];
  ++count.entries;
  count.bytes += entry.key.size() + entry.value.size();
  if (entry.header.ExpiredAt(view_.time())) ++count.expired;
  if (const Status tuple = CheckTuple(entry.key); !tuple.has_value()) {
    Report(entry.key, ErrorText(tuple.error()));
    return {};
  }
  if (entry.header.owned && entry.header.expiry != kNever) KVARTS_CHECK_OK(CheckOwned(entry));
  switch (*space) {
    case Space::kSettings:
      return CheckSetting(entry);
    case Space::kKeys:
      if (!UserKeyOf(entry.key)) Report(entry.key, "the key is not one that a user can have");
      return {};
    case Space::kFeed:
      return CheckFeedEntry(entry);
    case Space::kExpiry:
      return CheckExpiryEntry(entry);
    case Space::kJobs:
      return CheckJob(entry);
    case Space::kJobQueue:
      return CheckQueueEntry(entry);
    case Space::kTables:
      return CheckTableEntry(entry);
    case Space::kStructures:
      if (!structure::KeyAt(entry.key)) Report(entry.key, "the key is not one that a database can have");
      return {};
    case Space::kStructureCounts:
      if (entry.header.kind != ValueKind::kCounter) Report(entry.key, "a count that is no counter");
      return {};
    case Space::kStructureMembers:
    case Space::kStructuresDropped:
    case Space::kFieldExpiry:
      return {};
  }
  return {};
}

void KeyspaceCheck::CheckHeader(const ScanPage::Entry& entry) {
  const ValueHeader& header = entry.header;
  if (header.version == kNoVersion || header.version > last_version_) {
    Report(entry.key, fmt::format("its version {} was never issued; the last is {}", header.version.ToString(),
                                  last_version_.ToString()));
  }
  if (header.kind == ValueKind::kCounter && entry.value.size() != sizeof(int64_t)) {
    Report(entry.key, fmt::format("a counter of {} bytes instead of {}", entry.value.size(), sizeof(int64_t)));
  }
  if (header.kind == ValueKind::kEnvelope) {
    const auto envelope = OpenEnvelope(Record{header, Bytes(entry.value)});
    if (!envelope.has_value()) Report(entry.key, ErrorText(envelope.error()));
  }
  if (ValueKindName(header.kind) == "unknown") Report(entry.key, "its value is of a kind that is not known");
}

Status KeyspaceCheck::CheckOwned(const ScanPage::Entry& entry) {
  KeyBuffer index;
  BeginKey(&index, Space::kExpiry).Time(entry.header.expiry).Tail(entry.key);
  KVARTS_TRY(const std::optional<Record> found, Stored(index));
  if (!found) Report(entry.key, "an owned value that expires has no entry in the index by expiry");
  return {};
}

Status KeyspaceCheck::CheckSetting(const ScanPage::Entry& entry) {
  if (IsSecret(entry.key) && entry.value.size() != kSecretBytes) {
    Report(entry.key, fmt::format("a secret of {} bytes instead of {}", entry.value.size(), kSecretBytes));
  }
  if (TokenKeys().Contains(entry.key)) {
    const auto token = TokenRecord::FromStored(entry.key, entry.value, entry.header.expiry);
    if (!token.has_value()) Report(entry.key, ErrorText(token.error()));
  } else if (UserKeys().Contains(entry.key)) {
    const auto user = UserRecord::FromStored(entry.key, entry.value);
    if (!user.has_value()) Report(entry.key, ErrorText(user.error()));
  }
  if (NamespaceKeys().Contains(entry.key)) {
    const Result<std::string> name = NameOfNamespaceKey(entry.key);
    const Result<Namespace> space = name.has_value() ? Namespace::Decode(*name, entry.value) : name.error();
    if (!space.has_value()) Report(entry.key, ErrorText(space.error()));
  }
  if (!FeedDeclarations().Contains(entry.key)) return {};
  const Result<FeedId> feed = FeedOfDeclaration(entry.key);
  const Result<FeedDeclaration> declaration = FeedDeclaration::Decode(entry.value);
  if (!feed.has_value()) Report(entry.key, ErrorText(feed.error()));
  if (!declaration.has_value()) Report(entry.key, ErrorText(declaration.error()));
  return {};
}

Status KeyspaceCheck::CheckFeedEntry(const ScanPage::Entry& entry) {
  const Result<FeedEntry> decoded = DecodeFeedEntry(entry.key, entry.value);
  if (!decoded.has_value()) {
    Report(entry.key, ErrorText(decoded.error()));
    return {};
  }
  if (decoded->position.version != entry.header.version) {
    Report(entry.key, "the version in its key is not that of the commit that wrote it");
  }
  TupleReader reader(entry.key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const uint64_t feed, reader.TakeUint());
  if (!declared_feeds_.contains(feed)) {
    KVARTS_TRY(const std::optional<Record> declaration, Stored(FeedDeclarationKey({feed})));
    declared_feeds_[feed] = declaration.has_value();
  }
  if (!declared_feeds_[feed]) Report(entry.key, "an entry of a feed that was never declared");
  return {};
}

Status KeyspaceCheck::CheckTableEntry(const ScanPage::Entry& entry) {
  TupleReader reader(entry.key);
  KVARTS_CHECK_OK(reader.Skip());
  const Result<uint64_t> table = reader.TakeUint();
  const Result<uint64_t> index = table.has_value() ? reader.TakeUint() : table;
  if (!index.has_value()) {
    Report(entry.key, "the key is neither a row's nor an index entry's");
    return {};
  }
  if (IndexNumber{*index} != kRowsNumber) return {};
  const Result<RowView> row = OpenRow(entry.value);
  if (!row.has_value()) Report(entry.key, ErrorText(row.error()));
  return {};
}

Status KeyspaceCheck::CheckJob(const ScanPage::Entry& entry) {
  const Result<JobRecord> job = JobRecord::FromStored(entry.key, entry.value, entry.header.version);
  if (!job.has_value()) {
    Report(entry.key, ErrorText(job.error()));
    return {};
  }
  KVARTS_TRY(const std::optional<Record> queued, Stored(JobQueueKey(job->id)));
  if (IsActive(job->state) && !queued) Report(entry.key, "a job with something to do is not in the queue");
  if (!IsActive(job->state) && queued) Report(entry.key, "a job with nothing to do is in the queue");
  return {};
}

Status KeyspaceCheck::CheckQueueEntry(const ScanPage::Entry& entry) {
  const Result<JobId> id = JobOfKey(entry.key);
  if (!id.has_value()) {
    Report(entry.key, ErrorText(id.error()));
    return {};
  }
  KVARTS_TRY(const std::optional<Record> job, Stored(JobKey(*id)));
  if (!job) Report(entry.key, "the queue names a job that is not there");
  return {};
}

Status KeyspaceCheck::CheckExpiryEntry(const ScanPage::Entry& entry) {
  const Result<ExpiryEntry> decoded = DecodeExpiryEntry(entry.key);
  if (!decoded.has_value()) {
    Report(entry.key, ErrorText(decoded.error()));
    return {};
  }
  KVARTS_TRY(const std::optional<Record> owner, Stored(decoded->owner));
  if (!owner || !owner->header.owned || owner->header.expiry != decoded->expiry) ++counts_[Space::kExpiry].stale;
  return {};
}

}  // namespace kvarts::cli
