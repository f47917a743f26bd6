#include "protocol/resp/allocator_stats.h"

#include <algorithm>
#include <cstddef>

// Of jemalloc, if the program has it.
extern "C" {
[[gnu::weak]] int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size);
[[gnu::weak]] void malloc_stats_print(void (*write)(void*, const char*), void* to, const char* options);
}

namespace kvarts::resp {
namespace {

uint64_t Figure(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

AllocatorStats AllocatorStats::Take() {
  if (mallctl == nullptr) return {};
  // Figures are those of the epoch, which begins anew.
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  mallctl("epoch", &epoch, &size, &epoch, size);
  return {Figure("stats.allocated"), Figure("stats.active"), Figure("stats.resident")};
}

std::string AllocatorText(size_t most) {
  std::string text;
  if (malloc_stats_print == nullptr) return text;
  const auto write = [](void* to, const char* part) { static_cast<std::string*>(to)->append(part); };
  malloc_stats_print(write, &text, "mdablxeg");
  text.resize(std::min(text.size(), most));
  return text;
}

void PurgeAllocator() {
  // Of all arenas: MALLCTL_ARENAS_ALL.
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
}

}  // namespace kvarts::resp
