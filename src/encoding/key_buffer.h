// KeyBuffer: bytes of a key in the making, without an allocation as long as they are few. It has
// the part of std::string's interface that writing a key needs. Like any value it belongs to one
// thread at a time; a view of it lasts until it is changed, moved or gone.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace kvarts {

class KeyBuffer {
 public:
  static constexpr size_t kInlineCapacity = 128;

  KeyBuffer() {}  // NOLINT: not defaulted, so that KeyBuffer() does not fill the inline bytes
  explicit KeyBuffer(BytesView bytes) { append(bytes); }
  KeyBuffer(const KeyBuffer& other) { append(other.view()); }
  KeyBuffer(KeyBuffer&& other) noexcept { TakeFrom(&other); }
  KeyBuffer& operator=(const KeyBuffer& other) {
    if (this == &other) return *this;
    clear();
    append(other.view());
    return *this;
  }
  KeyBuffer& operator=(KeyBuffer&& other) noexcept {
    if (this != &other) TakeFrom(&other);
    return *this;
  }
  ~KeyBuffer() = default;

  const char* data() const { return heap_ ? heap_.get() : inline_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  BytesView view() const { return {data(), size_}; }
  operator BytesView() const { return view(); }  // NOLINT: a key is passed as its bytes

  void clear() { size_ = 0; }
  // Cuts back to the first `size` bytes, which must be there.
  void Truncate(size_t size) { size_ = size; }

  // The bytes must not be the buffer's own.
  void append(BytesView bytes) { append(bytes.data(), bytes.size()); }
  void append(const char* bytes, size_t size) {
    if (size == 0) return;
    char* const to = Room(size);
    if (size - sizeof(uint32_t) <= sizeof(uint32_t)) {
      // As most prefixes are: without a call.
      uint32_t first = 0;
      uint32_t last = 0;
      std::memcpy(&first, bytes, sizeof(first));
      std::memcpy(&last, bytes + size - sizeof(last), sizeof(last));
      std::memcpy(to, &first, sizeof(first));
      std::memcpy(to + size - sizeof(last), &last, sizeof(last));
    } else {
      std::memcpy(to, bytes, size);
    }
    Commit(size);
  }
  void push_back(char byte) {
    *Room(1) = byte;
    Commit(1);
  }
  // For writing in place: room for `size` more bytes, of which Commit then takes in the first ones.
  char* Room(size_t size) {
    if (capacity_ - size_ < size) Grow(size);
    return (heap_ ? heap_.get() : inline_) + size_;
  }
  void Commit(size_t size) { size_ += size; }

 private:
  void Grow(size_t size) {
    capacity_ = std::max(capacity_ * 2, size_ + size);
    auto grown = std::make_unique_for_overwrite<char[]>(capacity_);
    std::memcpy(grown.get(), data(), size_);
    heap_ = std::move(grown);
  }

  void TakeFrom(KeyBuffer* other) {
    heap_ = std::move(other->heap_);
    if (!heap_) std::memcpy(inline_, other->inline_, other->size_);
    size_ = std::exchange(other->size_, 0);
    capacity_ = std::exchange(other->capacity_, kInlineCapacity);
  }

  size_t size_ = 0;
  size_t capacity_ = kInlineCapacity;
  std::unique_ptr<char[]> heap_;  // in place of inline_ once it is too small
  char inline_[kInlineCapacity];
};

}  // namespace kvarts
