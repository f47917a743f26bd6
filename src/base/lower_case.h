// Texts in lower case, by a table of Unicode's simple mappings that is part of the program: what was sorted under a
// text yesterday is sorted under it tomorrow, whatever the system's locale or library say.
#pragma once

#include <string>
#include <string_view>

namespace kvarts {

// Of UTF-8; what is no UTF-8 stays as it is.
std::string LowerCase(std::string_view text);

}  // namespace kvarts
