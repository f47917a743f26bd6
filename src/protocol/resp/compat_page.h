// The part of docs/compat/redis.md that follows from the tables: which of Redis' commands there are, and how they
// differ. A test holds the page against it, and writes it anew when it is asked to (compat_page_test.cc).
#pragma once

#include <string>
#include <string_view>

namespace kvarts::resp {

// What stands before and behind it.
inline constexpr std::string_view kCompatBegin = "<!-- made from the tables of commands: begin -->\n";
inline constexpr std::string_view kCompatEnd = "<!-- made from the tables of commands: end -->\n";

std::string CompatTables();

}  // namespace kvarts::resp
