#include "core/user_keys.h"

#include "core/fields.h"

namespace kvarts {
namespace {

Status CheckSize(BytesView key, const Limits& limits) {
  if (key.size() <= limits.max_key_bytes) return {};
  return Error(ErrorCode::kTooLarge, "the key is too long",
               {{"limit", "max_key_bytes"},
                {"at_most", std::to_string(limits.max_key_bytes)},
                {"is", std::to_string(key.size())}});
}

}  // namespace

Result<KeyBuffer> CheckedUserKey(BytesView key, const Limits& limits) {
  KVARTS_CHECK_OK(CheckSize(key, limits));
  return UserKey(key);
}

Result<KeyRange> CheckedUserRange(const KeyRange& range, const Limits& limits) {
  KVARTS_CHECK_OK(CheckSize(range.start, limits));
  KVARTS_CHECK_OK(CheckSize(range.end, limits));
  if (range.IsEmpty()) return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  return UserRange(range);
}

Result<Bytes> TypedValue::Encode() const {
  if (type.size() > kMaxTypeBytes) {
    return Error(
        ErrorCode::kTooLarge, "the media type is too long",
        {{"limit", "max_type_bytes"}, {"at_most", std::to_string(kMaxTypeBytes)}, {"is", std::to_string(type.size())}});
  }
  Bytes value;
  value.reserve(type.size() + bytes.size() + 1);
  AppendSized(&value, type);
  value.append(bytes);
  return value;
}

Result<TypedValue> TypedValue::Decode(BytesView value) {
  FieldReader fields(value);
  TypedValue typed;
  typed.type = fields.Sized(kMaxTypeBytes);
  typed.bytes = fields.Rest();
  KVARTS_CHECK_OK(fields.Finish("the typed value is damaged"));
  return typed;
}

Bytes ValueText(const ValueHeader& header, BytesView value) {
  if (header.kind == ValueKind::kCounter) return std::to_string(CounterNumber(header, value));
  if (header.kind == ValueKind::kTyped) {
    const Result<TypedValue> typed = TypedValue::Decode(value);
    if (typed.has_value()) return Bytes(typed->bytes);
  }
  return Bytes(value);
}

}  // namespace kvarts
