// Cursors: where a paged scan goes on, outside any view. A cursor carries what is left of the range and fits only the
// query it was made for; after a while it is refused, because what it promises to go on from may be long gone. To users
// it is opaque text that can stand in a URL.
//
// Who hands cursors to strangers seals them with a key that only the store's own processes know (core/secret.h): then
// what was not made here, for this very query, is refused. Without a key a cursor can be made up, as by a program that
// embeds the store and could scan whatever it likes anyway. What it leads to lies within its query's range in any case.
#pragma once

#include <optional>
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
// With a key it is sealed.
std::string MakeCursor(const CursorQuery& query, const KeyRange& rest, Version version, Timestamp now,
                       std::optional<BytesView> key = std::nullopt);

// What is left of the range. `invalid_argument` when the text is no cursor, belongs to another query, or was issued
// more than `max_age` before `now`. With a key, so is whatever was not sealed with that key for this query; without
// one, whatever is sealed.
Result<KeyRange> OpenCursor(std::string_view cursor, const CursorQuery& query, Timestamp now, Duration max_age,
                            std::optional<BytesView> key = std::nullopt);

}  // namespace kvarts
