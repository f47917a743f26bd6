// What is stored under the key of an entry, or should be: its value, and what else an engine keeps of it but the
// version. Two states are equal when no reader could tell them apart.
#pragma once

#include <optional>

#include "encoding/document.h"
#include "encoding/document_writer.h"
#include "engine/commit.h"
#include "engine/record.h"

namespace kvarts {

struct EntryState {
  Bytes value;
  Timestamp expiry = kNever;
  // Of an entry that a write has put, these are as they are here.
  ValueKind kind = ValueKind::kBytes;
  bool owned = false;
  uint32_t schema = 0;

  static EntryState Of(const Record& record);
  // Nothing of nothing.
  static std::optional<EntryState> Of(const std::optional<Record>& record);
  Mutation PutAt(BytesView key) const;
  // Whether they differ in their expiry at most.
  bool SameButExpiry(const EntryState& other) const;

  // As a map, in which the value is cut off behind so many bytes, and then says how many there are.
  void Write(size_t max_bytes, DocumentWriter* to) const;
  // Of a map with a whole value; `corruption` when it is none.
  static Result<EntryState> Read(const DocumentView& map);

  friend bool operator==(const EntryState&, const EntryState&) = default;
};

}  // namespace kvarts
