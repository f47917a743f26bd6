// What is stored, as answers show it.
#pragma once

#include "encoding/json_writer.h"
#include "engine/record.h"

namespace kvarts::http {

// {"key": …, "value": …, "version": "…", "expiry": …}. Bytes that are no text stand in key_base64 and value_base64. An
// item that an add has marked has "marks": ["misapplied", "saturated"], or one of them.
void WriteItem(JsonWriter& json, BytesView key, const ValueHeader& header, BytesView value);
// The same without the value.
void WriteItemHead(JsonWriter& json, BytesView key, const ValueHeader& header);
// The members of a value: "value" or "value_base64", and "envelope", "type" or "counter" where it has or is one: given
// back in a put they make the same value.
void WriteValue(JsonWriter& json, const ValueHeader& header, BytesView value);

// The media type of a value by itself; it lies in the value, or is a constant.
std::string_view RawType(const ValueHeader& header, BytesView value);
// A value as raw bytes, and their media type.
struct RawValue {
  BytesView bytes;
  std::string_view type;
  Bytes number;  // where the bytes lie that are stored otherwise
};
void MakeRaw(const ValueHeader& header, BytesView value, RawValue* raw);

}  // namespace kvarts::http
