#include "engine/postgres/line.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <optional>

namespace kvarts::postgres {
namespace {

// How often somebody who waits looks whether there is something to do of which the socket does not tell: libpq reads
// when it cannot send, and then the answer of one may have been taken by another, who in turn waits to send on.
constexpr std::chrono::milliseconds kLook{5};
constexpr std::chrono::milliseconds kLettingGo{1'000};

}  // namespace

class Line::Wire {
 public:
  explicit Wire(Pool::Lease connection) : connection_(std::move(connection)) {}
  ~Wire() {
    if (open_ || !connection_->usable()) return;
    // What failed in its middle may have left locks to the session.
    if (!connection_->Fly(kLetGo, {}, In(kLettingGo)).has_value()) connection_->Abandon();
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool open() const { return open_ && connection_.current(); }

  // Nothing: it is not open any more, and nothing was sent.
  std::optional<std::expected<std::vector<Rows>, Failure>> Fly(std::span<const Call> calls,
                                                               std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    if (!open()) return {};
    const Deadline deadline = In(time);
    for (const Call& call : calls) {
      if (!connection_->Depart(call)) break;
    }
    const uint64_t turn = sent_++;
    const auto is_mine = [&] { return landed_ == turn || !connection_->usable(); };
    if (!moved_.wait_until(lock, deadline, is_mine)) connection_->Abandon();
    auto answers = Land(lock, calls.size(), deadline);
    if (!answers.has_value()) open_ = false;
    ++landed_;
    moved_.notify_all();
    return answers;
  }

 private:
  std::expected<std::vector<Rows>, Failure> Land(std::unique_lock<std::mutex>& lock, size_t count, Deadline deadline) {
    std::vector<Rows> answers;
    std::optional<Failure> failed;
    const auto fail = [&](Failure failure) {
      failed = std::move(failure);
      failed->ended = std::move(answers);
    };
    for (size_t answered = 0; answered < count && connection_->usable();) {
      auto landed = connection_->TryLand();
      if (!landed.has_value()) {
        if (!failed) fail(std::move(landed).error());
        ++answered;
      } else if (landed->has_value()) {
        if (!failed) answers.push_back(**std::move(landed));
        ++answered;
      } else {
        AwaitMore(lock, deadline);
      }
    }
    if (!failed && answers.size() < count) {
      fail({Error(ErrorCode::kUnavailable, "the connection broke, or the server does not answer in time"), "", true});
    }
    if (failed) return std::unexpected(*std::move(failed));
    return answers;
  }

  // Others may send meanwhile.
  void AwaitMore(std::unique_lock<std::mutex>& lock, Deadline deadline) {
    const int descriptor = connection_->descriptor();
    const auto events = static_cast<short>(connection_->unsent() ? POLLIN | POLLOUT : POLLIN);
    lock.unlock();
    const bool ready = AwaitSocket(descriptor, events, std::min(deadline, In(kLook)));
    lock.lock();
    if (!ready && std::chrono::steady_clock::now() >= deadline) connection_->Abandon();
    if (connection_->Receive()) connection_->SendOn();
  }

  std::mutex mutex_;
  std::condition_variable moved_;
  Pool::Lease connection_;
  std::atomic<bool> open_ = true;
  uint64_t sent_ = 0;    // flights
  uint64_t landed_ = 0;  // of those
};

Result<std::shared_ptr<Line::Wire>> Line::Join() {
  std::shared_ptr<Wire> wire;
  {
    const std::lock_guard lock(mutex_);
    wire = wire_.lock();
  }
  if (wire != nullptr && wire->open()) return wire;
  wire.reset();  // its connection may be the last of the pool
  KVARTS_TRY(Pool::Lease connection, connect_());
  wire = std::make_shared<Wire>(std::move(connection));
  const std::lock_guard lock(mutex_);
  wire_ = wire;
  return wire;
}

std::expected<std::vector<Rows>, Failure> Line::Fly(std::span<const Call> calls, std::chrono::milliseconds time) {
  while (true) {
    const Result<std::shared_ptr<Wire>> wire = Join();
    if (!wire.has_value()) return std::unexpected(Failure{wire.error(), ""});
    if (auto answers = (*wire)->Fly(calls, time)) return *std::move(answers);
  }
}

}  // namespace kvarts::postgres
