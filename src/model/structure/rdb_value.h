// RdbValue: what a key holds, in the form in which DUMP and RESTORE hand it from server to server, which is that of
// Redis' own files. It is written in the plain forms, which all versions read, and read in all forms since Redis 2.6
// but for zipmaps, streams and modules.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/structure/collection.h"

namespace kvarts::structure {

struct RdbValue {
  struct Field {
    Bytes name;
    Bytes value;
    Timestamp expiry = kNever;
  };

  Type type = Type::kNone;
  Bytes text = {};                                    // of a string
  std::vector<Bytes> elements = {};                   // of a list or a set
  std::vector<std::pair<Bytes, double>> scored = {};  // of a sorted set
  std::vector<Field> fields = {};                     // of a hash
};

// With the version and the checksum behind it.
Bytes DumpOf(const RdbValue& value);
// `invalid_argument`: kWrongPayload when the checksum is another or the version unknown, kBadFormat when it is nothing
// that can be read. `too_large` when it comes to more than so many bytes.
Result<RdbValue> ValueOfDump(BytesView dump, uint64_t max_bytes);

}  // namespace kvarts::structure
