#include "base/colours.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace kvarts {

bool TakesColours(int fd) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(fd) == 1 && (refused == nullptr || *refused == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace kvarts
