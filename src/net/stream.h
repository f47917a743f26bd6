// Stream: a connected socket, plain or under TLS, as a protocol sees it: bytes that have arrived, bytes to be sent.
//
//   while (co_await stream.Read()) {
//     … stream.input() …; stream.Consume(n);
//     stream.output().append(…);
//     if (!co_await stream.Flush()) co_return;
//   }
//
// An idle connection holds no buffer: what arrives is read into the loop's scratch, handled there, and only what must
// outlive the next wait is copied (Keep). A view of the input is good until the next co_await or Consume of all of it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "net/loop.h"
#include "net/poller.h"
#include "net/tls.h"

namespace kvarts::net {

class Stream {
 public:
  // Takes over the socket. `tls` is null for a plain connection.
  Stream(Loop& loop, int socket, std::unique_ptr<TlsSession> tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Loop& loop() { return loop_; }

  std::string_view input() const { return input_; }
  void Consume(size_t size) { input_.remove_prefix(size); }
  // Waits for more input, which is appended to what there is. False when there will be none: the peer has ended, or
  // failed, or the connection was aborted.
  Task<bool> Read();
  // On the loop: lets a read under way end without more input, with true, or else the next one that would wait.
  void EndRead();
  // Moves the input to memory of this connection's own; to be called before any other wait.
  void Keep();

  Bytes& output() { return output_; }
  // Sends the output. False when it cannot be sent.
  Task<bool> Flush();
  // Sends what can be sent without waiting, which is mostly all of it: true when nothing is left for Flush.
  bool FlushNow();
  // Bytes that went out since it was asked last.
  uint64_t TakeSentBytes() { return std::exchange(sent_bytes_, 0); }
  // Ends the connection in an orderly way: what was sent still arrives, even if the peer has sent more than was read.
  Task<> Close();
  // Ends it at once. Waits under way end with failure.
  void Abort();

  // By when what is being waited for must have happened, or the connection is aborted.
  // Never earlier, and up to two ticks later.
  void SetDeadline(std::chrono::milliseconds from_now) {
    deadline_ = loop_.now() + Loop::kTick + from_now;
    renewed_ = {};
  }
  // The same for sending, begun anew whenever the peer takes something.
  void SetSendDeadline(std::chrono::milliseconds from_now) {
    SetDeadline(from_now);
    renewed_ = from_now;
  }
  void ClearDeadline() { deadline_ = SteadyTime::max(); }
  // What was not sent yet of the output.
  size_t unsent() const { return output_.size() - sent_; }
  // Whether nothing is under way: such a connection may be closed at any time.
  void set_idle(bool idle) { idle_ = idle; }
  bool idle() const { return idle_; }
  bool aborted() const { return socket_ < 0; }
  // Whose it is, as text; empty when nobody knows.
  std::string Peer() const;
  // Where it was reached, likewise.
  std::string Local() const;
  // The descriptor of its socket; less than zero once that is closed.
  int socket() const { return socket_; }
  // Whether the peer has closed its side, as far as can be told without waiting.
  bool PeerGone();
  // Until Unwatch: when the poller hears that the peer is gone, or the loop, which looks at every tick, or when the
  // connection is aborted, stop is requested.
  std::stop_token WatchPeer();
  void UnwatchPeer() { gone_ = std::stop_source(std::nostopstate); }

  // Waits until Wake is called (by Post from another thread), the time is over, or the connection is aborted. A wake
  // before the wait ends the wait at once.
  Task<> Sleep(std::chrono::milliseconds at_most);
  void Wake();

 private:
  friend class Loop;

  // Longer buffers are given back when they are empty.
  static constexpr size_t kKeptCapacity = 4 << 10;

  // What a read of the socket came to.
  enum class Got { kSome, kNothingYet, kEnd };
  ssize_t ReceiveInto(char* to, size_t room);
  Got Receive();
  Got ReceivePlain();
  Got ReceiveTls();
  // Sends bytes as they are, as many as go without waiting. False when the connection failed.
  bool SendSome(std::string_view* bytes);
  // Sends all of them; false when that failed.
  Task<bool> Send(std::string_view bytes);
  void ReleaseOutput();

  Loop& loop_;
  int socket_;  // -1 once it is closed
  Pollable pollable_;
  std::unique_ptr<TlsSession> tls_;
  std::string_view input_;  // in the scratch, or in kept_
  Bytes kept_;
  Bytes output_;
  size_t sent_ = 0;  // of the output
  uint64_t sent_bytes_ = 0;
  SteadyTime deadline_ = SteadyTime::max();
  std::chrono::milliseconds renewed_{};      // of the deadline, with every byte that is sent; zero: it is not
  std::unique_ptr<Timer> sleep_;             // made when first needed
  std::stop_source gone_{std::nostopstate};  // while the peer is watched
  bool idle_ = false;
  bool woken_ = false;
  bool more_waits_ = false;  // the last read left something in the socket
  bool read_ended_ = false;  // nothing more is waited for
  Stream* next_ = nullptr;
  Stream* previous_ = nullptr;
};

}  // namespace kvarts::net
