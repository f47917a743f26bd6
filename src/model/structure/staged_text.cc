#include "model/structure/staged_text.h"

#include <optional>

#include "core/fields.h"
#include "model/structure/large_text.h"

namespace kvarts::structure {
namespace {

// Looked at together; more of them are hardly ever on their way at once.
constexpr size_t kLooked = 1000;
constexpr const char* kTakenAway = "a large string was on its way for too long";

static_assert(StagedText::kPartBytes % LargeText::kChunkBytes == 0);

struct Staged {
  uint64_t chunks;
  Timestamp until;
};

Result<Staged> DecodeStaged(BytesView stored) {
  FieldReader fields(stored);
  Staged staged{};
  staged.chunks = fields.Varint();
  staged.until = fields.TakeTime();
  KVARTS_CHECK_OK(fields.Finish("a string on its way is damaged"));
  return staged;
}

Bytes EncodeStaged(uint64_t size, Timestamp until) {
  Bytes stored;
  AppendVarint(&stored, (size + LargeText::kChunkBytes - 1) / LargeText::kChunkBytes);
  AppendBig(&stored, until.micros);
  return stored;
}

ScanRequest Look() {
  ScanRequest request;
  request.range = StagedRange();
  request.max_entries = kLooked;
  return request;
}

// The first whose time has come.
Result<std::optional<size_t>> FirstOverdue(const ScanPage& page, Timestamp now) {
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_TRY(const Staged staged, DecodeStaged(page[i].value));
    if (staged.until <= now) return std::optional(i);
  }
  return std::optional<size_t>();
}

}  // namespace

Status StagePart(Txn& txn, CollectionIds& ids, BytesView part, bool first, StagedText* text) {
  if (first) {
    *text = {};
    KVARTS_TRY(text->id, ids.Take(txn));
  } else {
    KVARTS_TRY(const std::optional<Record> record, txn.Get(StagedPlace(text->id)));
    if (!record) return Error(ErrorCode::kConflict, kTakenAway);
  }
  // A body may be run again, and the text is what the parts before it have come to.
  LargeText chunks(txn, ids, text->id, text->size);
  KVARTS_CHECK_OK(chunks.Write(text->size, part));
  const Timestamp until{txn.Now().micros + StagedText::kKept.micros};
  txn.Put(StagedPlace(text->id), EncodeStaged(chunks.size(), until));
  return {};
}

Status ClaimStaged(Txn& txn, const StagedText& text) {
  KVARTS_TRY(const std::optional<Record> record, txn.Get(StagedPlace(text.id)));
  if (!record) return Error(ErrorCode::kConflict, kTakenAway);
  txn.Erase(StagedPlace(text.id));
  return {};
}

Status DiscardStaged(Txn& txn, const StagedText& text) {
  KVARTS_TRY(const std::optional<Record> record, txn.Get(StagedPlace(text.id)));
  if (!record) return {};
  KVARTS_TRY(const Staged staged, DecodeStaged(record->value));
  Bytes count;
  AppendVarint(&count, staged.chunks);
  txn.Put(DroppedPlace(text.id), count);
  txn.Erase(StagedPlace(text.id));
  return {};
}

Result<bool> DropOverdue(Txn& txn) {
  KVARTS_TRY(const ScanPage page, txn.PeekScan(Look()));
  KVARTS_TRY(const std::optional<size_t> first, FirstOverdue(page, txn.Now()));
  if (!first) return false;
  KVARTS_TRY(const Dropped staged, DroppedAt(page[*first].key));
  KVARTS_CHECK_OK(DiscardStaged(txn, {{staged.number}, 0}));
  return true;
}

Result<bool> IsOverdue(View& view) {
  KVARTS_TRY(const ScanPage page, view.Scan(Look()));
  KVARTS_TRY(const std::optional<size_t> first, FirstOverdue(page, view.time()));
  return first.has_value();
}

}  // namespace kvarts::structure
