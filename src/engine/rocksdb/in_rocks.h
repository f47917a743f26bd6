// Calls of RocksDB that ThreadSanitizer would misread.
#pragma once

#include <utility>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace kvarts {

// Makes a call of RocksDB that reads or writes memtables. It differs from the call alone only under ThreadSanitizer.
//
// Debian builds RocksDB without instrumentation: ThreadSanitizer sees what it does to memory through memcpy, memcmp,
// new and delete, but not the atomics it does that under. An entry that the commit thread copies into a memtable and
// then links with a release store, or a list of range tombstones that one scan makes and whoever drops it last frees,
// look like races. Most functions in those reports have no name in the library, so that no suppression can name them.
// What the calling thread does to memory inside the call is left out instead (for a scan, the building of its page too,
// which nobody else can see). Locks, atomics, RocksDB's own threads and everything outside the call stay checked.
template <typename Call>
decltype(auto) InRocks(Call&& call) {
#if defined(__SANITIZE_THREAD__)
  struct Unchecked {
    Unchecked() {
      AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
      AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    ~Unchecked() {
      AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
      AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
  } const unchecked;
#endif
  return std::forward<Call>(call)();
}

}  // namespace kvarts
