// What users do with single keys, as commands: typed, with every input error found, before anything is read.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/envelope.h"
#include "core/write_condition.h"
#include "encoding/key_range.h"
#include "engine/record.h"

namespace kvarts::keys {

// What must hold of a key for a command to be carried out. Otherwise it fails as `precondition_failed`, with the key
// and its current version ("absent" if there is none) in the fields of the error.
using Condition = WriteCondition;

Error ConditionFailed(BytesView key, const std::optional<Record>& found);

// A value to be written, in the form in which it is stored.
struct NewValue {
  ValueKind kind = ValueKind::kBytes;
  Bytes bytes = {};
  // Then the bytes are its payload.
  std::optional<Envelope> envelope = {};
};

// How long what is written lives.
struct Lifetime {
  enum class Kind : uint8_t {
    kDefault,  // for ever, or as its namespace says
    kKeep,     // as the value that is replaced
    kForever,
    kFor,
  };
  Kind kind = Kind::kDefault;
  Duration duration = {};

  static Lifetime For(Duration duration) { return {Kind::kFor, duration}; }
};

struct Put {
  Bytes key;
  NewValue value;
  Lifetime lifetime = {};
  Condition condition = {};
};
// `not_found` when there is nothing and no condition says that there must be.
struct Delete {
  Bytes key;
  Condition condition = {};
  bool missing_ok = false;
};
// Changes when a value is gone and nothing else; its version is new nevertheless.
struct Touch {
  Bytes key;
  Lifetime lifetime;
  Condition condition = {};
};
// Of a counter, a JSON integer or a text of decimal digits, each of which stays what it is; what is absent becomes a
// counter. Keeps the lifetime unless one is given.
struct Increment {
  Bytes key;
  int64_t by = 1;
  Lifetime lifetime = {Lifetime::Kind::kKeep, {}};
  Condition condition = {};
};
// To bytes or a text; what is absent counts as empty. Keeps the lifetime unless one is given.
struct Append {
  Bytes key;
  Bytes bytes;
  Lifetime lifetime = {Lifetime::Kind::kKeep, {}};
  Condition condition = {};
};
// Adds to a counter without reading it: the one that does not conflict with others who add.
struct Add {
  Bytes key;
  int64_t by = 1;
};
// Everything in the range. Without an end it reaches to that of the user's keys.
struct DeleteRange {
  KeyRange range;
};

using Command = std::variant<Put, Delete, Touch, Increment, Append, Add, DeleteRange>;

// The key that a command is about; empty for a range.
BytesView KeyOf(const Command& command);

// What is there after a command; of what only adds or deletes it is empty.
struct Outcome {
  ValueHeader header;  // without the version, which is that of the commit
  Bytes value;
};

}  // namespace kvarts::keys
