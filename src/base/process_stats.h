// What the system knows about this process: processor time, memory, descriptors.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvarts {

// What cannot be read is zero.
struct ProcessStats {
  double cpu_seconds = 0;  // of all threads, in the process and in the kernel for it
  uint64_t resident_bytes = 0;
  uint64_t virtual_bytes = 0;
  uint64_t threads = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  double start_seconds = 0;  // since 1970

  static ProcessStats Take();

  // The parts of Take that read text: /proc/self/stat, and `btime` of /proc/stat. `ticks` are a second's, `page` has
  // the bytes of one.
  void ReadStat(std::string_view stat, std::string_view system_stat, uint64_t ticks, uint64_t page);
};

}  // namespace kvarts
