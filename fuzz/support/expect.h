// What a target holds an input to.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace kvarts {

// Ends the process, which is what a fuzzer notices, unless it holds.
inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace kvarts
