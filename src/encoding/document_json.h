// Documents as JSON, and back, without loss. What JSON has stands for itself; the rest is an object with one field:
//
//   {"$binary": "AAEC"}           base64 with padding
//   {"$set": ["a", "b"]}          of texts, numbers or binaries
//   {"$number": "1.50"}           a number, for those whose JSON has floating point only; it is read, and not written
//   {"$map": {"$set": 1}}         a map that has a field of such a name: here, names are names
//
// Numbers keep all their digits, and are refused where a Decimal cannot hold them. The fields of a map have no order.
#pragma once

#include <string_view>

#include "encoding/document_writer.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"

namespace kvarts {

// Takes the next value as a document. What is wrong, the reader says, and then what was written is of no use.
void ReadDocument(JsonReader& json, DocumentWriter* to);
void WriteDocument(const DocumentView& document, JsonWriter* to);

// Of a whole text; and a whole text.
Result<Bytes> DocumentFromJson(std::string_view text);
Bytes DocumentToJson(const DocumentView& document);

}  // namespace kvarts
