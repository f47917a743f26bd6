// Cursors: where a paged scan goes on, outside any view. A cursor carries what is left of the range and fits only the
// query it was made for; after a while it is refused, because what it promises to go on from may be long gone. To users
// it is opaque text that can stand in a URL. It holds no secret: who must not be able to make one up authenticates it,
// for which it has a place, the seal, that is empty so far. What it leads to lies within its query's range in any case.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/version.h"
#include "encoding/key_range.h"

namespace kvarts {

// What a cursor belongs to.
struct CursorQuery {
  KeyRange range;
  bool reverse = false;
  Bytes other = {};  // whatever else makes it this query and no other: a filter, a table's id
};

// Longer texts are no cursors, and are not looked at.
constexpr size_t kMaxCursorChars = 64 << 10;

// A cursor to the rest of the query's range, issued at `version` and `now`: the view's, which may be far apart when
// nothing was written for long.
std::string MakeCursor(const CursorQuery& query, const KeyRange& rest, Version version, Timestamp now);

// What is left of the range. `invalid_argument` when the text is no cursor, belongs to another query, or was issued
// more than `max_age` before `now`.
Result<KeyRange> OpenCursor(std::string_view cursor, const CursorQuery& query, Timestamp now, Duration max_age);

}  // namespace kvarts
