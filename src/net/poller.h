// Poller: which sockets of a loop are ready, told once per change and without being asked.
//
// Asio arms a descriptor anew for every wait, by a system call that costs a request a twentieth of its time. Here a
// socket is registered once, edge-triggered; who finds it not ready waits, and is resumed from the loop's next look,
// all ready ones in one call. To Asio the poller is a single descriptor.
#pragma once

#include <asio/posix/basic_stream_descriptor.hpp>
#include <optional>

#include "net/mailbox.h"
#include "net/task.h"

namespace kvarts::net {

// A socket as the poller knows it. Belongs to the loop's thread.
class Pollable {
 public:
  Pollable() = default;
  Pollable(const Pollable&) = delete;
  Pollable& operator=(const Pollable&) = delete;

  // Waits until the socket may be read from or written to, or Interrupt. The caller tries first, and says when a call
  // found nothing to do (ReadDrained, WriteBlocked); else this returns at once.
  Task<> Readable() { return Await(&readable_); }
  Task<> Writable() { return Await(&writable_); }
  void ReadDrained() { readable_ = ended_; }
  void WriteBlocked() { writable_ = false; }
  // Whether the peer has closed its side, or the socket failed, as far as the poller was told.
  bool ended() const { return ended_; }
  // Ends a wait under way from another place on the loop.
  void Interrupt(Executor executor);

 private:
  friend class Poller;
  using Resume = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;

  Task<> Await(bool* ready);
  void Told(uint32_t events);

  std::optional<Resume> waiting_;
  bool* awaited_ = nullptr;  // what the waiter waits for
  bool readable_ = true;
  bool writable_ = true;
  bool ended_ = false;  // the peer has closed its side, or the socket failed: reading tells
};

class Poller {
 public:
  explicit Poller(Executor executor);

  // Until the socket is closed. False when the system has no room for it.
  bool Add(int socket, Pollable* pollable);
  // Looks, and resumes whoever waits for what is ready, until the loop ends.
  Task<> Run();
  Mailbox& mailbox() { return mailbox_; }

 private:
  static constexpr int kEvents = 256;  // taken at a time

  asio::posix::basic_stream_descriptor<Executor> descriptor_;
  Mailbox mailbox_;
};

}  // namespace kvarts::net
