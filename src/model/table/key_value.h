// Values in keys: the types that a field of a key can have, and how a value of a document becomes an element of a
// tuple, so that the order of keys is the order of values.
//
// A text sorts by code points, a number by its value, a binary by its bytes, a timestamp by its instant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/item.h"
#include "encoding/document.h"
#include "encoding/document_writer.h"
#include "encoding/tuple.h"

namespace kvarts {

enum class KeyType : uint8_t {
  kText,
  kNumber,
  kBinary,
  kBool,
  kTimestamp,  // a text such as 2026-07-05T10:15:30.5Z: from 1970 on, to the microsecond, in UTC
  kUuid,       // a text: 8-4-4-4-12 hex digits
};
std::string_view KeyTypeName(KeyType type);
std::optional<KeyType> ParseKeyType(std::string_view name);
// For people: "a text", "a timestamp such as …".
std::string_view Expected(KeyType type);

// Appends the value; false, and nothing is appended, when it is not of the type.
bool AppendKeyValue(TupleWriter<KeyBuffer>* to, const DocumentView& value, KeyType type, Order order);
// The same for a value as C++ code writes it down. A time need not become a text on the way.
bool AppendKeyItem(TupleWriter<KeyBuffer>* to, const Item& item, KeyType type, Order order);
// The same as AppendKeyValue for a field that takes any type: null, bool, number, text or binary, in this order. A
// list, map or set is none.
bool AppendAnyKeyValue(TupleWriter<KeyBuffer>* to, const DocumentView& value, Order order);

// Takes such a value off a key, and writes it as a value of a document: a timestamp and a UUID in their usual form.
Status TakeKeyValue(TupleReader* from, KeyType type, Order order, DocumentWriter* to);

// A value of the type in the text of a path or a command: a text is itself, a binary is base64 without padding in the
// alphabet of URLs, everything else is as in JSON. False when it is none.
bool WriteKeyText(KeyType type, std::string_view text, DocumentWriter* to);
// And back.
std::string KeyText(KeyType type, const DocumentView& value);

}  // namespace kvarts
