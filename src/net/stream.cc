#include "net/stream.h"

#include <sys/socket.h>

#include <asio/redirect_error.hpp>
#include <cerrno>

#include "net/address.h"

namespace kvarts::net {
namespace {

// How much an orderly end reads and drops, and for how long, so that the peer gets to read the last answer instead of
// a reset.
constexpr size_t kLingerBytes = 1 << 20;
constexpr auto kLinger = std::chrono::milliseconds(1000);

}  // namespace

Stream::Stream(Loop& loop, Socket socket, std::unique_ptr<TlsSession> tls)
    : loop_(loop), socket_(std::move(socket)), tls_(std::move(tls)) {
  asio::error_code ignored;
  socket_.native_non_blocking(true, ignored);
  loop_.Add(this);
}

Stream::~Stream() { loop_.Remove(this); }

std::string Stream::PeerName() const {
  asio::error_code failed;
  const auto peer = socket_.remote_endpoint(failed);
  if (failed) return "gone";
  return EndpointText(peer);
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

Stream::Got Stream::ReceivePlain() {
  const std::span<char> scratch = loop_.scratch();
  // What continues something goes straight behind it.
  char* to = scratch.data();
  size_t room = scratch.size();
  const size_t kept = kept_.size();
  if (kept != 0) {
    room = std::max(kReadBytes, kept_.capacity() - kept);
    kept_.resize(kept + room);
    to = kept_.data() + kept;
  }
  const ssize_t got = ::recv(socket_.native_handle(), to, room, 0);
  const int error = errno;
  if (kept != 0) {
    kept_.resize(kept + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    input_ = kept_;
  } else if (got > 0) {
    input_ = {to, static_cast<size_t>(got)};
  }
  if (got > 0) return Got::kSome;
  if (got < 0 && (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)) return Got::kNothingYet;
  return Got::kEnd;
}

Stream::Got Stream::ReceiveTls() {
  const size_t kept = kept_.size();
  // What the session still holds comes first.
  if (!tls_->Decrypt(&kept_)) return Got::kEnd;
  if (kept_.size() == kept) {
    const std::span<char> scratch = loop_.scratch();
    const ssize_t got = ::recv(socket_.native_handle(), scratch.data(), scratch.size(), 0);
    if (got == 0) return Got::kEnd;
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Got::kNothingYet : Got::kEnd;
    if (!tls_->Feed({scratch.data(), static_cast<size_t>(got)}) || !tls_->Decrypt(&kept_)) return Got::kEnd;
  }
  input_ = kept_;
  return kept_.size() > kept ? Got::kSome : Got::kNothingYet;
}

Task<bool> Stream::Read() {
  Keep();
  // A plain connection with nothing pending mostly has nothing to read yet: waiting first spares a call.
  bool wait_first = kept_.empty() && !tls_;
  while (!aborted_) {
    if (wait_first) {
      asio::error_code failed;
      co_await socket_.async_wait(asio::socket_base::wait_read, asio::redirect_error(kAwait, failed));
      if (failed || aborted_) break;
    }
    const Got got = Receive();
    if (tls_ && tls_->HasToSend()) {
      const Bytes handshake = tls_->TakeToSend();
      const bool sent = co_await Send(handshake);
      if (!sent) break;
    }
    if (got == Got::kSome) co_return true;
    if (got == Got::kEnd) break;
    wait_first = true;
  }
  co_return false;
}

Task<bool> Stream::WaitFor(asio::socket_base::wait_type what) {
  asio::error_code failed;
  co_await socket_.async_wait(what, asio::redirect_error(kAwait, failed));
  co_return !failed && !aborted_;
}

bool Stream::SendSome(std::string_view* bytes) {
  while (!bytes->empty() && !aborted_) {
    const ssize_t sent = ::send(socket_.native_handle(), bytes->data(), bytes->size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes->remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return !aborted_;
}

Task<bool> Stream::Send(std::string_view bytes) {
  bool good = SendSome(&bytes);
  while (good && !bytes.empty()) {
    good = co_await WaitFor(asio::socket_base::wait_write);
    if (good) good = SendSome(&bytes);
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
  if (tls_ || aborted_) return false;
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
  co_return sent && !aborted_;
}

Task<> Stream::Close() {
  if (aborted_) co_return;
  if (tls_) {
    tls_->Shutdown();
    const Bytes last = tls_->TakeToSend();
    co_await Send(last);
  }
  asio::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  SetDeadline(kLinger);
  const std::span<char> scratch = loop_.scratch();
  size_t dropped = 0;
  bool more = true;
  while (more && !aborted_ && dropped < kLingerBytes) {
    const ssize_t got = ::recv(socket_.native_handle(), scratch.data(), scratch.size(), 0);
    if (got > 0) {
      dropped += static_cast<size_t>(got);
    } else {
      more = got < 0 && (errno == EAGAIN || errno == EINTR);
      if (more) more = co_await WaitFor(asio::socket_base::wait_read);
    }
  }
}

void Stream::Abort() {
  if (std::exchange(aborted_, true)) return;
  asio::error_code ignored;
  socket_.close(ignored);
  if (sleep_) sleep_->cancel();
}

bool Stream::PeerGone() {
  char byte;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

Task<> Stream::Sleep(std::chrono::milliseconds at_most) {
  if (!woken_ && !aborted_) {
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
