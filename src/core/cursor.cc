#include "core/cursor.h"

#include "base/base64.h"
#include "base/digest.h"
#include "core/fields.h"

namespace kvarts {
namespace {

// The bytes, which the text is in base64url, are in FORMAT.md.
constexpr uint8_t kFormat = 1;
constexpr uint8_t kReverse = 1;

// The first bytes of the HMAC. Guessing them right once in 2^128 is as good as never.
constexpr size_t kSealBytes = 16;

// FNV-1a over sizes and bytes. It tells queries apart that are mixed up by mistake; against malice there is the seal,
// which covers the query itself.
class Fingerprint {
 public:
  Fingerprint& Add(BytesView part) {
    Bytes size;
    AppendVarint(&size, part.size());
    for (const BytesView bytes : {BytesView(size), part}) {
      for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

uint64_t FingerprintOf(const CursorQuery& query) {
  return Fingerprint().Add(query.range.start).Add(query.range.end).Add(query.other).value();
}

// `bytes` are those of the cursor before the seal. All that is sealed has its size in it or before it, so no two
// cursors, and no two queries, are sealed alike by accident of where their parts end.
Bytes SealOf(BytesView key, BytesView bytes, const CursorQuery& query) {
  Bytes own;
  own.reserve(query.range.start.size() + query.range.end.size() + query.other.size() + 3 * sizeof(uint64_t));
  AppendSized(&own, query.range.start);
  AppendSized(&own, query.range.end);
  AppendSized(&own, query.other);
  return Bytes(HmacSha256(key, {bytes, own}).view().substr(0, kSealBytes));
}

struct Cursor {
  bool reverse = false;
  uint64_t query = 0;
  Version version;
  Timestamp issued;
  KeyRange rest;
  // What was sealed, and the seal: borrowed from the bytes.
  BytesView sealed;
  BytesView seal;
};

Result<Cursor> Decode(BytesView bytes) {
  const Error malformed(ErrorCode::kInvalidArgument, "the cursor is malformed");
  FieldReader fields(bytes);
  Cursor cursor;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  cursor.reverse = fields.Byte(kReverse) == kReverse;
  cursor.query = fields.Fixed();
  cursor.version = fields.TakeVersion();
  cursor.issued = fields.TakeTime();
  cursor.rest.start = fields.Sized();
  cursor.rest.end = fields.Sized();
  cursor.seal = fields.Sized(kSealBytes);
  fields.Require(cursor.seal.empty() || cursor.seal.size() == kSealBytes, "a seal that is cut off");
  if (!fields.Finish("the cursor is malformed").has_value()) return malformed;
  cursor.sealed = bytes.substr(0, bytes.size() - 1 - cursor.seal.size());
  return cursor;
}

}  // namespace

std::string MakeCursor(const CursorQuery& query, const KeyRange& rest, Version version, Timestamp now,
                       std::optional<BytesView> key) {
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(query.reverse ? kReverse : 0));
  AppendBig(&bytes, FingerprintOf(query));
  AppendBig(&bytes, version.stamp);
  AppendBig(&bytes, now.micros);
  AppendSized(&bytes, rest.start);
  AppendSized(&bytes, rest.end);
  AppendSized(&bytes, key ? SealOf(*key, bytes, query) : Bytes());
  return ToBase64Url(bytes);
}

Result<KeyRange> OpenCursor(std::string_view text, const CursorQuery& query, Timestamp now, Duration max_age,
                            std::optional<BytesView> key) {
  const Error malformed(ErrorCode::kInvalidArgument, "the cursor is malformed");
  if (text.size() > kMaxCursorChars) return malformed;
  const Result<Bytes> bytes = FromBase64Url(text);
  if (!bytes.has_value()) return malformed;
  KVARTS_TRY(Cursor cursor, Decode(*bytes));
  if (cursor.query != FingerprintOf(query) || cursor.reverse != query.reverse || !query.range.Contains(cursor.rest)) {
    return Error(ErrorCode::kInvalidArgument, "the cursor belongs to another query");
  }
  const Bytes seal = key ? SealOf(*key, cursor.sealed, query) : Bytes();
  if (!EqualSecret(cursor.seal, seal) || cursor.issued > now || cursor.version.time() > cursor.issued) {
    return Error(ErrorCode::kInvalidArgument, "the cursor was not issued by this store");
  }
  const uint64_t age = now.micros - cursor.issued.micros;
  if (age > static_cast<uint64_t>(max_age.micros)) {
    return Error(
        ErrorCode::kInvalidArgument, "the cursor has expired",
        {{"limit", "max_cursor_age"}, {"at_most_us", std::to_string(max_age.micros)}, {"is_us", std::to_string(age)}});
  }
  return std::move(cursor.rest);
}

}  // namespace kvarts
