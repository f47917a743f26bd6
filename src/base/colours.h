// Whether colours are wanted.
#pragma once

namespace kvarts {

// Whether this is a terminal that takes colours, and nobody refuses them (NO_COLOR).
bool TakesColours(int fd);

}  // namespace kvarts
