#include "engine/postgres/line.h"

#include <atomic>
#include <condition_variable>
#include <optional>

namespace kvarts::postgres {

class Line::Wire {
 public:
  explicit Wire(Pool::Lease connection) : connection_(std::move(connection)) {}
  ~Wire() {
    // What failed in its middle may have left locks to the session.
    if (!open_) connection_->Abandon();
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool open() const { return open_ && connection_.current(); }

  // Nothing: it is not open any more, and nothing was sent.
  std::optional<std::expected<std::vector<Rows>, Failure>> Fly(std::span<const Call> calls, Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!open()) return {};
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
    const bool unsent = connection_->unsent();
    lock.unlock();
    const bool ready =
        AwaitSocket(connection_->descriptor(), static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN), deadline);
    lock.lock();
    if (!ready) connection_->Abandon();
    if (connection_->Receive() && unsent) connection_->SendOn();
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

std::expected<std::vector<Rows>, Failure> Line::Fly(std::span<const Call> calls, Deadline deadline) {
  while (true) {
    const Result<std::shared_ptr<Wire>> wire = Join();
    if (!wire.has_value()) return std::unexpected(Failure{wire.error(), ""});
    if (auto answers = (*wire)->Fly(calls, deadline)) return *std::move(answers);
  }
}

}  // namespace kvarts::postgres
