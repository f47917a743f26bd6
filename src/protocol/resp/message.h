// Message: what clients are told without having asked just now: of a channel they listen to, of a key they keep.
//
// One is shared by all who get it, and written for each in the version of the protocol that the client speaks, when it
// is the next thing to be sent. It never changes. While it is there it counts among what all connections hold.
#pragma once

#include <atomic>
#include <cstdint>

#include "net/resp/reply_writer.h"

namespace kvarts::resp {

class Message {
 public:
  virtual ~Message() { held_.fetch_sub(bytes_, std::memory_order_relaxed); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  // As a client of the writer's version is told; Push is the form of both (net/resp/reply_writer.h).
  virtual void Write(ReplyWriter& reply) const = 0;
  // What it takes, and about what it will take when it is written.
  uint64_t bytes() const { return bytes_; }

 protected:
  // `held`: what all connections hold (Service::held_bytes).
  Message(std::atomic<uint64_t>& held, uint64_t bytes) : held_(held), bytes_(bytes + kAround) {
    held_.fetch_add(bytes_, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kAround = 64;

  std::atomic<uint64_t>& held_;
  const uint64_t bytes_;
};

}  // namespace kvarts::resp
