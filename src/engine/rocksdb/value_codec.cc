#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

enum Flag : uint8_t {
  kHasExpiry = 1 << 0,
  kOwned = 1 << 1,
  kHasSchema = 1 << 2,
  kSaturated = 1 << 3,
  kMisapplied = 1 << 4,
  kKnownFlags = (1 << 5) - 1,
};

}  // namespace

EncodedHeader::EncodedHeader(const ValueHeader& header) {
  uint8_t flags = 0;
  if (header.expiry != kNever) flags |= kHasExpiry;
  if (header.owned) flags |= kOwned;
  if (header.schema != 0) flags |= kHasSchema;
  if (header.marks.saturated) flags |= kSaturated;
  if (header.marks.misapplied) flags |= kMisapplied;
  char* at = buffer_;
  *at++ = static_cast<char>(flags);
  *at++ = static_cast<char>(header.kind);
  StoreLittle(at, header.version.stamp);
  at += 8;
  if (flags & kHasExpiry) {
    StoreLittle(at, header.expiry.micros);
    at += 8;
  }
  if (flags & kHasSchema) {
    uint32_t rest = header.schema;
    for (; rest >= 0x80; rest >>= 7) *at++ = static_cast<char>(rest | 0x80);
    *at++ = static_cast<char>(rest);
  }
  size_ = static_cast<size_t>(at - buffer_);
}

bool DecodeStored(BytesView stored, ValueHeader* header, BytesView* value) {
  constexpr size_t kFixed = 2 + 8;
  if (stored.size() < kFixed) return false;
  const auto flags = static_cast<uint8_t>(stored[0]);
  if ((flags & ~kKnownFlags) != 0) return false;
  header->kind = static_cast<ValueKind>(stored[1]);
  header->version = {LoadLittle<uint64_t>(stored.data() + 2)};
  header->owned = (flags & kOwned) != 0;
  header->marks = {(flags & kSaturated) != 0, (flags & kMisapplied) != 0};
  header->expiry = kNever;
  header->schema = 0;
  size_t at = kFixed;
  if (flags & kHasExpiry) {
    if (stored.size() < at + 8) return false;
    header->expiry = {LoadLittle<uint64_t>(stored.data() + at)};
    if (header->expiry == kNever) return false;  // what never expires is written without
    at += 8;
  }
  if (flags & kHasSchema) {
    BytesView rest = stored.substr(at);
    uint64_t schema = 0;
    if (!TakeVarint(&rest, &schema) || schema == 0 || schema > UINT32_MAX) return false;
    header->schema = static_cast<uint32_t>(schema);
    at = stored.size() - rest.size();
  }
  *value = stored.substr(at);
  return true;
}

Bytes AddOperand::Encode() const {
  Bytes bytes;
  AppendLittle(&bytes, version.stamp);
  AppendLittle(&bytes, delta);
  return bytes;
}

bool AddOperand::Decode(BytesView stored, AddOperand* operand) {
  if (stored.size() != kSize) return false;
  operand->version = {LoadLittle<uint64_t>(stored.data())};
  operand->delta = LoadLittle<int64_t>(stored.data() + 8);
  return true;
}

}  // namespace kvarts
