// What the allocator of the process says of itself, where that is jemalloc; else everything is zero or empty.
#pragma once

#include <cstdint>
#include <string>

namespace kvarts::resp {

struct AllocatorStats {
  uint64_t allocated = 0;  // by the program
  uint64_t active = 0;     // in pages of which something is
  uint64_t resident = 0;   // of the process' memory

  static AllocatorStats Take();
};

// For people; at most so many bytes.
std::string AllocatorText(size_t most);
// Gives back to the system what is free.
void PurgeAllocator();

}  // namespace kvarts::resp
