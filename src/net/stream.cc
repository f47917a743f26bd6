#include "net/stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <cerrno>

#include "net/address.h"

namespace kvarts::net {
namespace {

// How much an orderly end reads and drops, and for how long, so that the peer gets to read the last answer instead of
// a reset.
constexpr size_t kLingerBytes = 1 << 20;
constexpr auto kLinger = std::chrono::milliseconds(1000);

// Whether a call of the socket failed only because it would have had to wait.
bool WouldWait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Stream::Stream(Loop& loop, int socket, std::unique_ptr<TlsSession> tls)
    : loop_(loop), socket_(socket), tls_(std::move(tls)) {
  loop_.Add(this);
  if (!loop_.poller().Add(socket, &pollable_)) Abort();
}

Stream::~Stream() {
  Abort();
  loop_.Remove(this);
}

std::string Stream::Peer() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return EndpointText({&address, size});
}

std::string Stream::Local() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return EndpointText({&address, size});
}

void Stream::Keep() {
  const bool in_kept = input_.data() >= kept_.data() && input_.data() <= kept_.data() + kept_.size();
  if (input_.empty()) {
    kept_.clear();
    if (kept_.capacity() > kKeptCapacity) kept_.shrink_to_fit();
  } else if (in_kept) {
    kept_.erase(0, static_cast<size_t>(input_.data() - kept_.data()));
  } else {
    kept_.assign(input_);
  }
  input_ = kept_;
}

Stream::Got Stream::Receive() { return tls_ ? ReceiveTls() : ReceivePlain(); }

ssize_t Stream::ReceiveInto(char* to, size_t room) {
  const ssize_t got = ::recv(socket_, to, room, MSG_DONTWAIT);
  // What comes later is told anew; a read that does not fill its room has emptied the socket.
  more_waits_ = got == static_cast<ssize_t>(room);
  if (!more_waits_) pollable_.ReadDrained();
  return got;
}

Stream::Got Stream::ReceivePlain() {
  const std::span<char> scratch = loop_.scratch();
  const ssize_t got = ReceiveInto(scratch.data(), scratch.size());
  if (got < 0 && WouldWait(errno)) return Got::kNothingYet;
  if (got <= 0) return Got::kEnd;
  input_ = {scratch.data(), static_cast<size_t>(got)};
  // What continues something stands behind it.
  if (!kept_.empty()) input_ = kept_.append(input_);
  return Got::kSome;
}

Stream::Got Stream::ReceiveTls() {
  const size_t kept = kept_.size();
  const std::span<char> scratch = loop_.scratch();
  const ssize_t got = ReceiveInto(scratch.data(), scratch.size());
  if (got < 0) return WouldWait(errno) ? Got::kNothingYet : Got::kEnd;
  if (got == 0 || !tls_->Feed({scratch.data(), static_cast<size_t>(got)})) return Got::kEnd;
  const bool good = tls_->Decrypt(&kept_);
  input_ = kept_;
  if (kept_.size() > kept) return Got::kSome;
  return good ? Got::kNothingYet : Got::kEnd;
}

Task<bool> Stream::Read() {
  Keep();
  while (!aborted()) {
    // A peer that sends faster than it is served does not take the turn of others.
    if (std::exchange(more_waits_, false)) co_await asio::post(loop_.executor(), kAwait);
    if (!read_ended_) co_await pollable_.Readable();
    if (aborted()) break;
    // What is there already is read nevertheless.
    if (std::exchange(read_ended_, false) && !pollable_.readable()) co_return true;
    const Got got = Receive();
    if (tls_ && tls_->HasToSend()) {
      const Bytes handshake = tls_->TakeToSend();
      const bool sent = co_await Send(handshake);
      if (!sent) break;
    }
    if (got == Got::kSome) co_return true;
    if (got == Got::kEnd) break;
  }
  co_return false;
}

void Stream::EndRead() {
  read_ended_ = true;
  pollable_.InterruptReading(loop_.executor());
}

bool Stream::SendSome(std::string_view* bytes) {
  while (!bytes->empty() && !aborted()) {
    const ssize_t sent = ::send(socket_, bytes->data(), bytes->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      sent_bytes_ += static_cast<uint64_t>(sent);
      bytes->remove_prefix(static_cast<size_t>(sent));
    } else if (WouldWait(errno)) {
      pollable_.WriteBlocked();
      return true;
    } else {
      return false;
    }
  }
  return !aborted();
}

Task<bool> Stream::Send(std::string_view bytes) {
  bool good = SendSome(&bytes);
  while (good && !bytes.empty()) {
    co_await pollable_.Writable();
    const size_t before = bytes.size();
    good = SendSome(&bytes);
    if (bytes.size() < before && renewed_.count() != 0) SetSendDeadline(renewed_);
  }
  co_return good;
}

void Stream::ReleaseOutput() {
  output_.clear();
  sent_ = 0;
  if (output_.capacity() > kKeptCapacity) output_.shrink_to_fit();
}

bool Stream::FlushNow() {
  if (output_.empty()) return true;
  // Sending part of what was encrypted is Flush's concern.
  if (tls_ || aborted()) return false;
  std::string_view left = std::string_view(output_).substr(sent_);
  if (!SendSome(&left) || !left.empty()) {
    sent_ = output_.size() - left.size();
    return false;
  }
  ReleaseOutput();
  return true;
}

Task<bool> Stream::Flush() {
  if (tls_ && !output_.empty()) {
    if (!tls_->Encrypt(output_)) co_return false;
    output_ = tls_->TakeToSend();
  }
  const bool sent = co_await Send(std::string_view(output_).substr(sent_));
  ReleaseOutput();
  co_return sent && !aborted();
}

Task<> Stream::Close() {
  if (aborted()) co_return;
  SetDeadline(kLinger);
  if (tls_) {
    tls_->Shutdown();
    const Bytes last = tls_->TakeToSend();
    co_await Send(last);
  }
  ::shutdown(socket_, SHUT_WR);
  size_t dropped = 0;
  while (!aborted() && dropped < kLingerBytes) {
    co_await pollable_.Readable();
    const std::span<char> scratch = loop_.scratch();
    const ssize_t got = ReceiveInto(scratch.data(), scratch.size());
    if (got == 0 || (got < 0 && !WouldWait(errno))) break;
    dropped += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
}

void Stream::Abort() {
  if (aborted()) return;
  ::close(std::exchange(socket_, -1));
  pollable_.Interrupt(loop_.executor());
  if (sleep_) sleep_->cancel();
  gone_.request_stop();
}

std::stop_token Stream::WatchPeer() {
  gone_ = std::stop_source();
  if (aborted()) gone_.request_stop();
  pollable_.TellOfEnd(&gone_);
  return gone_.get_token();
}

bool Stream::PeerGone() {
  // The end may stand behind what was not read yet; and the last thing that TLS sends is never the end.
  if (tls_ || pollable_.ended()) return pollable_.ended();
  char byte;
  const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && !WouldWait(errno));
}

Task<> Stream::Sleep(std::chrono::milliseconds at_most) {
  if (!woken_ && !aborted()) {
    if (!sleep_) sleep_ = std::make_unique<Timer>(loop_.executor());
    sleep_->expires_after(at_most);
    asio::error_code ignored;
    co_await sleep_->async_wait(asio::redirect_error(kAwait, ignored));
  }
  woken_ = false;
}

void Stream::Wake() {
  woken_ = true;
  if (sleep_) sleep_->cancel();
}

}  // namespace kvarts::net
