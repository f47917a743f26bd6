#include "core/cursor.h"

#include "base/base64.h"
#include "core/fields.h"

namespace kvarts {
namespace {

// The bytes, which the text is in base64url:
//
//   1  format, 1
//   1  flags: 1 for a scan in reverse
//   8  the fingerprint of the query
//   8  the version at which it was issued
//   8  the time at which it was issued
//   …  start and end of what is left, each with its size before it
//   …  the seal, with its size before it: empty
constexpr uint8_t kFormat = 1;
constexpr uint8_t kReverse = 1;

// FNV-1a over sizes and bytes. It tells queries apart that are mixed up by mistake, not by malice.
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

struct Cursor {
  bool reverse = false;
  uint64_t query = 0;
  Version version;
  Timestamp issued;
  KeyRange rest;
};

Result<Cursor> Decode(std::string_view text) {
  const Error malformed(ErrorCode::kInvalidArgument, "the cursor is malformed");
  if (text.size() > kMaxCursorChars) return malformed;
  const Result<Bytes> bytes = FromBase64Url(text);
  if (!bytes.has_value()) return malformed;
  FieldReader fields(*bytes);
  Cursor cursor;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  cursor.reverse = fields.Byte(kReverse) == kReverse;
  cursor.query = fields.Fixed();
  cursor.version = fields.TakeVersion();
  cursor.issued = fields.TakeTime();
  cursor.rest.start = fields.Sized();
  cursor.rest.end = fields.Sized();
  fields.Sized(0);  // the seal
  if (!fields.Finish("the cursor is malformed").has_value()) return malformed;
  return cursor;
}

}  // namespace

std::string MakeCursor(const CursorQuery& query, const KeyRange& rest, Version version, Timestamp now) {
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(query.reverse ? kReverse : 0));
  AppendBig(&bytes, FingerprintOf(query));
  AppendBig(&bytes, version.stamp);
  AppendBig(&bytes, now.micros);
  AppendSized(&bytes, rest.start);
  AppendSized(&bytes, rest.end);
  AppendSized(&bytes, {});
  return ToBase64Url(bytes);
}

Result<KeyRange> OpenCursor(std::string_view text, const CursorQuery& query, Timestamp now, Duration max_age) {
  KVARTS_TRY(Cursor cursor, Decode(text));
  if (cursor.query != FingerprintOf(query) || cursor.reverse != query.reverse || !query.range.Contains(cursor.rest)) {
    return Error(ErrorCode::kInvalidArgument, "the cursor belongs to another query");
  }
  if (cursor.issued > now || cursor.version.time() > cursor.issued)
    return Error(ErrorCode::kInvalidArgument, "the cursor was not issued by this store");
  const uint64_t age = now.micros - cursor.issued.micros;
  if (age > static_cast<uint64_t>(max_age.micros)) {
    return Error(
        ErrorCode::kInvalidArgument, "the cursor has expired",
        {{"limit", "max_cursor_age"}, {"at_most_us", std::to_string(max_age.micros)}, {"is_us", std::to_string(age)}});
  }
  return std::move(cursor.rest);
}

}  // namespace kvarts
