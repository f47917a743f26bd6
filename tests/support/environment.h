// What the environment asks of a test.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace kvarts::test {

// The number in a variable, if it is set.
inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

// Whether ./test --long runs.
inline bool LongRun() { return FromEnvironment("KVARTS_LONG", 0) > 0; }

}  // namespace kvarts::test
