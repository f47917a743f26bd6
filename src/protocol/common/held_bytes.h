// HeldBytes: the memory that one request, answer or watch holds, counted among that of all of its protocol
// for as long as it does. Belongs to one thread at a time; what all hold may be read by anybody.
#pragma once

#include <atomic>
#include <cstdint>
#include <tuple>

namespace kvarts {

class HeldBytes {
 public:
  HeldBytes(std::atomic<uint64_t>& all, uint64_t at_most) : all_(all), at_most_(at_most) {}
  ~HeldBytes() { Release(); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  // Counts so many more. False when all together are beyond the limit then.
  [[nodiscard]] bool Add(uint64_t bytes) {
    held_ += bytes;
    return all_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= at_most_;
  }
  void Remove(uint64_t bytes) {
    held_ -= bytes;
    all_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  void Release() { Remove(held_); }
  uint64_t bytes() const { return held_; }

 private:
  std::atomic<uint64_t>& all_;
  const uint64_t at_most_;
  uint64_t held_ = 0;
};

// The same for a stream: counted among that of all, and limited among that of streams.
class StreamBytes {
 public:
  StreamBytes(std::atomic<uint64_t>& all, std::atomic<uint64_t>& streams, uint64_t at_most)
      : all_(all, UINT64_MAX), streams_(streams, at_most) {}

  [[nodiscard]] bool Add(uint64_t bytes) {
    std::ignore = all_.Add(bytes);
    return streams_.Add(bytes);
  }
  void Remove(uint64_t bytes) {
    all_.Remove(bytes);
    streams_.Remove(bytes);
  }
  uint64_t bytes() const { return streams_.bytes(); }

 private:
  HeldBytes all_;
  HeldBytes streams_;
};

}  // namespace kvarts
