#include "core/feed_codec.h"

#include "core/fields.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr uint8_t kFormat = 1;
constexpr std::string_view kSettingsName = "feed";
constexpr std::string_view kStampName = "feeds";
// A version that takes as many bytes in a key as every version after 1972 does.
constexpr Version kUnstamped{UINT64_MAX};

// Of an entry.
constexpr uint8_t kHasBefore = 1;
constexpr uint8_t kHasAfter = 2;
constexpr uint8_t kHasContext = 4;
constexpr uint8_t kKeyStamped = 8;
constexpr uint8_t kEntryFlags = 15;
// Of a record.
constexpr uint8_t kOwned = 1;
constexpr uint8_t kExpires = 2;
constexpr uint8_t kSaturated = 4;
constexpr uint8_t kMisapplied = 8;
constexpr uint8_t kOfThisCommit = 16;
constexpr uint8_t kStamped = 32;
constexpr uint8_t kRecordFlags = 63;

void AppendRecord(Bytes* to, const FeedDraft::State& state) {
  const ValueHeader& header = state.record->header;
  const bool of_this_commit = header.version == kNoVersion;
  const bool stamped = state.stamp != Mutation::kNoStamp;
  uint8_t flags = 0;
  if (header.owned) flags |= kOwned;
  if (header.expiry != kNever) flags |= kExpires;
  if (header.marks.saturated) flags |= kSaturated;
  if (header.marks.misapplied) flags |= kMisapplied;
  if (of_this_commit) flags |= kOfThisCommit;
  if (stamped) flags |= kStamped;
  to->push_back(static_cast<char>(flags));
  to->push_back(static_cast<char>(header.kind));
  AppendVarint(to, header.schema);
  if (!of_this_commit) AppendBig(to, header.version.stamp);
  if (header.expiry != kNever) AppendBig(to, header.expiry.micros);
  if (stamped) AppendVarint(to, state.stamp);
  AppendSized(to, state.record->value);
}

// A place for a version in `bytes`.
void WriteStamp(FieldReader* fields, uint64_t stamp, Version version, Bytes* bytes) {
  fields->Require(bytes->size() >= sizeof(uint64_t) && stamp <= bytes->size() - sizeof(uint64_t),
                  "a version stamp outside of its bytes");
  if (fields->ok()) StoreBig(bytes->data() + stamp, version.stamp);
}

Record TakeRecord(FieldReader* fields, Version commit) {
  Record record;
  ValueHeader& header = record.header;
  const uint8_t flags = fields->Byte(kRecordFlags);
  header.owned = (flags & kOwned) != 0;
  header.marks.saturated = (flags & kSaturated) != 0;
  header.marks.misapplied = (flags & kMisapplied) != 0;
  header.kind = static_cast<ValueKind>(fields->Byte());
  header.schema = static_cast<uint32_t>(fields->Varint(UINT32_MAX));
  header.version = (flags & kOfThisCommit) != 0 ? commit : fields->TakeVersion();
  if ((flags & kExpires) != 0) header.expiry = fields->TakeTime();
  const uint64_t stamp = (flags & kStamped) != 0 ? fields->Varint(UINT32_MAX) : 0;
  record.value = fields->Sized();
  if ((flags & kStamped) != 0) WriteStamp(fields, stamp, commit, &record.value);
  return record;
}

Result<FeedPosition> PositionOf(BytesView key) {
  TupleReader reader(key);
  KVARTS_TRY(const int64_t space, reader.TakeInt());
  if (space != static_cast<int64_t>(Space::kFeed)) {
    return Error(ErrorCode::kCorruption, "not the key of a feed entry", {{"key", Escaped(key)}});
  }
  KVARTS_TRY([[maybe_unused]] const uint64_t feed, reader.TakeUint());
  FeedPosition position;
  KVARTS_TRY(position.version.stamp, reader.TakeUint());
  KVARTS_TRY(position.index, reader.TakeUint());
  KVARTS_CHECK_OK(reader.Finish());
  return position;
}

}  // namespace

Bytes FeedDeclaration::Encode() const {
  Bytes bytes(1, static_cast<char>(kFormat));
  AppendSized(&bytes, range.start);
  AppendSized(&bytes, range.end);
  AppendBig(&bytes, floor.stamp);
  return bytes;
}

Result<FeedDeclaration> FeedDeclaration::Decode(BytesView bytes) {
  FieldReader fields(bytes);
  FeedDeclaration declaration;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  declaration.range.start = fields.Sized();
  declaration.range.end = fields.Sized();
  declaration.floor = fields.TakeVersion();
  fields.Require(!declaration.range.IsEmpty(), "a range that holds nothing");
  KVARTS_CHECK_OK(fields.Finish("the declaration of a feed is damaged"));
  return declaration;
}

KeyBuffer FeedDeclarationKey(FeedId feed) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName).Uint(feed.number);
  return key;
}

KeyRange FeedDeclarations() {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName);
  return TupleExtensionRange(key);
}

const Bytes& FeedsStampKey() {
  static const Bytes kKey = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kStampName);
    return Bytes(key.view());
  }();
  return kKey;
}

Result<FeedId> FeedOfDeclaration(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const uint64_t number, reader.TakeUint());
  KVARTS_CHECK_OK(reader.Finish());
  return FeedId{number};
}

KeyBuffer FeedEntryKey(FeedId feed, FeedPosition position) {
  KeyBuffer key;
  BeginKey(&key, Space::kFeed).Uint(feed.number).Uint(position.version.stamp).Uint(position.index);
  return key;
}

KeyRange FeedEntries(FeedId feed) {
  KeyBuffer key;
  BeginKey(&key, Space::kFeed).Uint(feed.number);
  return TupleExtensionRange(key);
}

Mutation MakeFeedEntry(FeedId feed, uint64_t index, const FeedDraft& draft, const Context& context) {
  KeyBuffer up_to_version;
  BeginKey(&up_to_version, Space::kFeed).Uint(feed.number).Uint(kUnstamped.stamp);
  Mutation put = Mutation::Put(FeedEntryKey(feed, {kUnstamped, index}), EncodeFeedDraft(draft, context));
  put.key_stamp = static_cast<uint32_t>(up_to_version.size() - sizeof(uint64_t));
  return put;
}

Bytes EncodeFeedDraft(const FeedDraft& draft, const Context& context) {
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(draft.op));
  uint8_t flags = 0;
  if (draft.before.record) flags |= kHasBefore;
  if (draft.after.record) flags |= kHasAfter;
  if (!context.empty()) flags |= kHasContext;
  if (draft.key_stamp != Mutation::kNoStamp) flags |= kKeyStamped;
  bytes.push_back(static_cast<char>(flags));
  AppendSized(&bytes, draft.key);
  if (draft.key_stamp != Mutation::kNoStamp) AppendVarint(&bytes, draft.key_stamp);
  if (draft.op == Mutation::Op::kEraseRange) AppendSized(&bytes, draft.end);
  if (draft.before.record) AppendRecord(&bytes, draft.before);
  if (draft.after.record) AppendRecord(&bytes, draft.after);
  if (context.empty()) return bytes;
  AppendSized(&bytes, context.actor);
  AppendSized(&bytes, context.trace);
  AppendSized(&bytes, context.command);
  return bytes;
}

Result<FeedEntry> DecodeFeedEntry(BytesView key, BytesView value) {
  FeedEntry entry;
  KVARTS_TRY(entry.position, PositionOf(key));
  const Version version = entry.position.version;
  FieldReader fields(value);
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  entry.op = static_cast<Mutation::Op>(fields.Byte(static_cast<uint8_t>(Mutation::Op::kAdd)));
  const uint8_t flags = fields.Byte(kEntryFlags);
  entry.key = fields.Sized();
  if ((flags & kKeyStamped) != 0) WriteStamp(&fields, fields.Varint(UINT32_MAX), version, &entry.key);
  if (entry.op == Mutation::Op::kEraseRange) entry.end = fields.Sized();
  if ((flags & kHasBefore) != 0) entry.before = TakeRecord(&fields, version);
  if ((flags & kHasAfter) != 0) entry.after = TakeRecord(&fields, version);
  if ((flags & kHasContext) != 0) {
    entry.context.actor = fields.Sized();
    entry.context.trace = fields.Sized();
    entry.context.command = fields.Sized();
    fields.Require(!entry.context.empty(), "a context that says nothing");
  }
  KVARTS_CHECK_OK(fields.Finish("a feed entry is damaged"));
  return entry;
}

}  // namespace kvarts
