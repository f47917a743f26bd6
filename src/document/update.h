// How documents are changed: by a patch that looks like the document, or by a list of updates that name their fields.
//
// Both write the new document in one pass over the old one, and take time in proportion to it and to what is changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "document/path.h"
#include "encoding/document.h"
#include "encoding/json_reader.h"

namespace kvarts {

// RFC 7396: of a patch that is a map, each field replaces that of the document, or is merged into it if it is a map
// itself, or removes it if it is null. Lists, sets and binaries are replaced whole, and so is everything by a patch
// that is no map. A patch with more than kMaxDocumentDepth levels is `too_large`; of others, the result has no more
// than the deeper of the two.
Result<Bytes> MergePatch(const DocumentView& document, const DocumentView& patch);

// A change of the value at a path.
struct FieldUpdate {
  enum class Op : uint8_t {
    kSet,           // to the value
    kSetIfMissing,  // to the value, unless there is one
    kRemove,        // of a list, the elements behind it move up; the value is not looked at
    kIncrement,     // by the value, a number, exactly; what is missing counts as 0
    kAppend,        // the elements of the value, a list; what is missing counts as an empty one
    kPrepend,       // likewise
    kAddToSet,      // the elements of the value, a set; what is missing becomes it
    kRemoveFromSet  // likewise; a set that becomes empty is removed
  };
  Op op;
  DocumentPath path;
  Bytes value = {};  // a document

  friend bool operator==(const FieldUpdate&, const FieldUpdate&) = default;
};

inline constexpr size_t kMaxUpdates = 300;
Error TooManyUpdates();

// That there is a document of which these could be updates. They are all of the document as it was, so their order does
// not matter, and none may lead into the value of another. `invalid_argument` with the path, or `too_large`.
Status CheckUpdates(std::span<const FieldUpdate> updates);
// What is wrong with a value for an operation, or null.
const char* WhyNoValue(FieldUpdate::Op op, const DocumentView& value);

// The document as they change it; they are checked. The last step of a path may be missing, and is then made: a field,
// or an element behind the last, however far beyond it the index is. What a path leads through must be there, unless
// something is only to be removed: removing what is not there is nothing.
//
// What cannot be done is `invalid_argument` with the path; what no document or number can hold is `too_large`.
Result<Bytes> ApplyUpdates(const DocumentView& document, std::span<const FieldUpdate> updates);

// Takes the next value, an object, as updates. What is wrong with one of them the reader says, and what is wrong with
// them together, CheckUpdates. Values are as deep as the reader allows.
//
//   {"set": {"a.b": 1}, "set_if_missing": {"c": 2}, "remove": ["d[0]", "e"], "increment": {"n": -1},
//    "append": {"l": [3]}, "prepend": {"l2": [4]}, "add_to_set": {"s": {"$set": ["x"]}},
//    "remove_from_set": {"s2": {"$set": ["y"]}}}
std::vector<FieldUpdate> ReadUpdates(JsonReader& json);

}  // namespace kvarts
