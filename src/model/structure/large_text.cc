#include "model/structure/large_text.h"

#include <algorithm>
#include <array>

#include "core/fields.h"

namespace kvarts::structure {
namespace {

constexpr uint64_t kChunk = LargeText::kChunkBytes;
constexpr const char* kDamaged = "a string in chunks is damaged";
constexpr std::array<char, kChunk> kZeros{};
// Read together.
constexpr size_t kPageBytes = 4 << 20;

// Before the memory for it is taken; the engine looks at the whole commit.
Status CheckFits(const Txn& txn, uint64_t bytes) {
  const uint64_t at_most = txn.limits().max_commit_bytes;
  if (bytes <= at_most) return {};
  return Error(ErrorCode::kTooLarge, "a part of a string is too large to be written at once",
               {{"limit", "max_commit_bytes"}, {"at_most", std::to_string(at_most)}, {"bytes", std::to_string(bytes)}});
}

uint64_t ChunksOf(uint64_t size) { return (size + kChunk - 1) / kChunk; }

}  // namespace

Result<LargeText> LargeText::Decode(Txn& txn, CollectionIds& ids, BytesView stored) {
  FieldReader fields(stored);
  const CollectionId id{fields.Varint()};
  const uint64_t size = fields.Varint();
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  return LargeText(txn, ids, id, size);
}

Bytes LargeText::Encode() const {
  Bytes stored;
  AppendVarint(&stored, id_ ? id_->value : 0);
  AppendVarint(&stored, size_);
  return stored;
}

Status LargeText::ForEachPiece(uint64_t at, uint64_t size, const Visit& visit) const {
  const uint64_t end = std::min(size_, size > size_ ? size_ : at + size);
  const auto visit_zeros = [&](uint64_t until) {
    for (uint64_t piece = 0; at < until; at += piece) {
      piece = std::min(kChunk, until - at);
      if (!visit({kZeros.data(), piece})) return false;
    }
    return true;
  };
  std::optional<KeyRange> rest;
  if (at < end && id_) {
    rest = KeyRange{Bytes(ChunkPlace(*id_, at / kChunk).view()), Bytes(ChunkPlace(*id_, ChunksOf(end)).view())};
  }
  while (rest) {
    ScanRequest request;
    request.range = *std::move(rest);
    request.max_bytes = std::min(kPageBytes, txn_->limits().max_page_bytes);
    KVARTS_TRY(const ScanPage page, txn_->PeekScan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const PlacedMember chunk, MemberAt(*id_, page[i].key));
      const BytesView text = page[i].value;
      const uint64_t begin = chunk.hash * kChunk;
      if (text.size() > kChunk || begin >= end) return Error(ErrorCode::kCorruption, kDamaged);
      if (!visit_zeros(begin)) return {};
      if (at - begin >= text.size()) continue;
      const BytesView piece = text.substr(at - begin, end - at);
      at += piece.size();
      if (!visit(piece)) return {};
    }
    rest = page.rest();
  }
  visit_zeros(end);
  return {};
}

Status LargeText::Write(uint64_t at, BytesView text) {
  KVARTS_CHECK_OK(CheckFits(*txn_, text.size()));
  if (!id_) {
    KVARTS_TRY(id_, ids_->Take(*txn_));
  }
  const uint64_t before = size_;
  size_ = std::max(size_, at + text.size());
  while (!text.empty()) {
    const KeyBuffer place = ChunkPlace(*id_, at / kChunk);
    const uint64_t within = at % kChunk;
    const BytesView part = text.substr(0, kChunk - within);
    const bool whole = within == 0 && (part.size() == kChunk || at + part.size() >= before);
    if (whole) {
      txn_->Put(place, part);
    } else {
      const BytesView key = place;
      std::optional<Record> record;
      // The commit rests on the record of the key, which every change of a chunk changes.
      KVARTS_CHECK_OK(txn_->PeekMany({&key, 1}, {&record, 1}));
      Bytes chunk = record ? std::move(record->value) : Bytes();
      chunk.resize(std::max<uint64_t>(chunk.size(), within + part.size()));
      part.copy(chunk.data() + within, part.size());
      txn_->Put(place, chunk);
    }
    at += part.size();
    text.remove_prefix(part.size());
  }
  return {};
}

void LargeText::Drop() {
  if (!id_) return;
  Bytes count;
  AppendVarint(&count, ChunksOf(size_));
  txn_->Put(DroppedPlace(*id_), count);
}

Result<LargeText> LargeText::Copy() {
  KVARTS_CHECK_OK(CheckFits(*txn_, size_));
  LargeText copy(*txn_, *ids_);
  Status written;
  uint64_t at = 0;
  KVARTS_CHECK_OK(ForEachPiece(0, size_, [&](BytesView piece) {
    written = copy.Write(at, piece);
    at += piece.size();
    return written.has_value();
  }));
  KVARTS_CHECK_OK(written);
  return copy;
}

}  // namespace kvarts::structure
