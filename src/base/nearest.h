// What somebody probably meant: the word of a list that is closest to the one that was typed.
#pragma once

#include <string_view>
#include <vector>

namespace kvarts {

// Empty when nothing comes close.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace kvarts
