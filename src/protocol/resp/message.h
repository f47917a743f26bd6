// Message: what clients are told without having asked just now: of a channel they listen to, of a key they keep.
//
// One is shared by all who get it, and written for each in the version of the protocol that the client speaks, when it
// is the next thing to be sent. It never changes. While it is there it counts among what all connections hold.
#pragma once

#include <atomic>
#include <cstdint>

#include "net/resp/reply_writer.h"

namespace kvarts::resp {

// What messages take that wait for clients, among all that connections hold. Safe from any thread.
class MessageBytes {
 public:
  // `all`: what all connections hold (Service::held_bytes).
  explicit MessageBytes(std::atomic<uint64_t>& all) : all_(all) {}

  void Add(uint64_t bytes) {
    all_.fetch_add(bytes, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void Remove(uint64_t bytes) {
    all_.fetch_sub(bytes, std::memory_order_relaxed);
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t now() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t>& all_;
  std::atomic<uint64_t> bytes_{0};
};

class Message {
 public:
  virtual ~Message() { counted_.Remove(bytes_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  // As a client of the writer's version is told; Push is the form of both (net/resp/reply_writer.h).
  virtual void Write(ReplyWriter& reply) const = 0;
  // What it takes, and about what it will take when it is written.
  uint64_t bytes() const { return bytes_; }

 protected:
  // Of about so many bytes, counted among those of all messages (Service::message_bytes).
  Message(MessageBytes& counted, uint64_t bytes) : counted_(counted), bytes_(bytes + kAround) { counted_.Add(bytes_); }

 private:
  static constexpr uint64_t kAround = 64;

  MessageBytes& counted_;
  const uint64_t bytes_;
};

}  // namespace kvarts::resp
