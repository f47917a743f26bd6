#include "model/table/key_value.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "document/items.h"

namespace kvarts {
namespace {

// 9999-12-31T23:59:59.999999Z: what comes later cannot be written as a text, which a key field of a row is.
constexpr Timestamp kLastInText{253'402'300'799'999'999};

struct Described {
  std::string_view name;
  std::string_view expected;
};
constexpr std::array<Described, 6> kTypes = {{
    {"text", "a text"},
    {"number", "a number"},
    {"binary", "a binary"},
    {"bool", "true or false"},
    {"timestamp", "a text such as 2026-07-05T10:15:30.5Z: a time from 1970 on, in UTC"},
    {"uuid", "a text of 8-4-4-4-12 hex digits"},
}};
const Described& Describe(KeyType type) { return kTypes[static_cast<size_t>(type)]; }

// A text in a key, of one of the types that are written as texts.
bool AppendText(TupleWriter<KeyBuffer>* to, std::string_view text, KeyType type, Order order) {
  switch (type) {
    case KeyType::kText:
      to->Text(text, order);
      return true;
    case KeyType::kTimestamp: {
      const std::optional<Timestamp> time = Timestamp::Parse(text);
      if (time) to->Time(*time, order);
      return time.has_value();
    }
    case KeyType::kUuid: {
      const std::optional<Uuid> uuid = Uuid::Parse(text);
      if (uuid) to->Uuid(*uuid, order);
      return uuid.has_value();
    }
    case KeyType::kNumber:
    case KeyType::kBinary:
    case KeyType::kBool:
      return false;
  }
  return false;
}

DocumentKind KindOf(KeyType type) {
  switch (type) {
    case KeyType::kNumber:
      return DocumentKind::kNumber;
    case KeyType::kBinary:
      return DocumentKind::kBinary;
    case KeyType::kBool:
      return DocumentKind::kBool;
    case KeyType::kText:
    case KeyType::kTimestamp:
    case KeyType::kUuid:
      return DocumentKind::kText;
  }
  return DocumentKind::kNull;
}

}  // namespace

std::string_view KeyTypeName(KeyType type) { return Describe(type).name; }

std::optional<KeyType> ParseKeyType(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &Described::name);
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<KeyType>(found - kTypes.begin());
}

std::string_view Expected(KeyType type) { return Describe(type).expected; }

bool AppendKeyValue(TupleWriter<KeyBuffer>* to, const DocumentView& value, KeyType type, Order order) {
  if (value.kind() != KindOf(type)) return false;
  switch (type) {
    case KeyType::kText:
    case KeyType::kTimestamp:
    case KeyType::kUuid:
      return AppendText(to, value.Text(), type, order);
    case KeyType::kNumber:
      to->Decimal(value.Number(), order);
      return true;
    case KeyType::kBinary:
      to->Bytes(value.Binary(), order);
      return true;
    case KeyType::kBool:
      to->Bool(value.Bool(), order);
      return true;
  }
  return false;
}

bool AppendKeyItem(TupleWriter<KeyBuffer>* to, const Item& item, KeyType type, Order order) {
  const Item::Value& value = item.value();
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return type == KeyType::kText ? to->CheckedText(*text, order) : AppendText(to, *text, type, order);
  }
  if (const auto* time = std::get_if<Timestamp>(&value); time != nullptr && type == KeyType::kTimestamp) {
    if (*time > kLastInText) return false;
    to->Time(*time, order);
    return true;
  }
  Bytes document;
  DocumentWriter writer(&document);
  return WriteItem(item, &writer).has_value() && AppendKeyValue(to, DocumentView(document), type, order);
}

bool AppendAnyKeyValue(TupleWriter<KeyBuffer>* to, const DocumentView& value, Order order) {
  switch (value.kind()) {
    case DocumentKind::kNull:
      to->Null(order);
      return true;
    case DocumentKind::kBool:
      return AppendKeyValue(to, value, KeyType::kBool, order);
    case DocumentKind::kNumber:
      return AppendKeyValue(to, value, KeyType::kNumber, order);
    case DocumentKind::kText:
      return AppendKeyValue(to, value, KeyType::kText, order);
    case DocumentKind::kBinary:
      return AppendKeyValue(to, value, KeyType::kBinary, order);
    case DocumentKind::kList:
    case DocumentKind::kMap:
    case DocumentKind::kTextSet:
    case DocumentKind::kNumberSet:
    case DocumentKind::kBinarySet:
      return false;
  }
  return false;
}

Status TakeKeyValue(TupleReader* from, KeyType type, Order order, DocumentWriter* to) {
  switch (type) {
    case KeyType::kText: {
      KVARTS_TRY(const Bytes text, from->TakeText(order));
      to->Text(text);
      return {};
    }
    case KeyType::kNumber: {
      KVARTS_TRY(const Decimal number, from->TakeDecimal(order));
      to->Number(number);
      return {};
    }
    case KeyType::kBinary: {
      KVARTS_TRY(const Bytes bytes, from->TakeBytes(order));
      to->Binary(bytes);
      return {};
    }
    case KeyType::kBool: {
      KVARTS_TRY(const bool value, from->TakeBool(order));
      to->Bool(value);
      return {};
    }
    case KeyType::kTimestamp: {
      KVARTS_TRY(const Timestamp time, from->TakeTime(order));
      to->Text(time.ToString());
      return {};
    }
    case KeyType::kUuid: {
      KVARTS_TRY(const Uuid uuid, from->TakeUuid(order));
      to->Text(uuid.ToString());
      return {};
    }
  }
  return Error(ErrorCode::kInternal, "a key has a field of an unknown type");
}

bool WriteKeyText(KeyType type, std::string_view text, DocumentWriter* to) {
  switch (type) {
    case KeyType::kNumber: {
      const Result<Decimal> number = Decimal::Parse(text);
      if (number.has_value()) to->Number(*number);
      return number.has_value();
    }
    case KeyType::kBinary: {
      const Result<Bytes> bytes = FromBase64Url(text);
      if (bytes.has_value()) to->Binary(*bytes);
      return bytes.has_value();
    }
    case KeyType::kBool:
      if (text != "true" && text != "false") return false;
      to->Bool(text == "true");
      return true;
    case KeyType::kText:
    case KeyType::kTimestamp:
    case KeyType::kUuid:
      if (!IsUtf8(text)) return false;
      to->Text(text);
      return true;
  }
  return false;
}

std::string KeyText(KeyType type, const DocumentView& value) {
  switch (type) {
    case KeyType::kNumber:
      return value.Number().ToString();
    case KeyType::kBinary:
      return ToBase64Url(value.Binary());
    case KeyType::kBool:
      return value.Bool() ? "true" : "false";
    case KeyType::kText:
    case KeyType::kTimestamp:
    case KeyType::kUuid:
      return std::string(value.Text());
  }
  return {};
}

}  // namespace kvarts
