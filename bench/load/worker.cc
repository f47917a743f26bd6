#include "load/worker.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "load/socket.h"

namespace kvarts::load {
namespace {

constexpr size_t kFirstInput = 16 << 10;
constexpr size_t kMaxEvents = 64;
constexpr size_t kShownError = 200;
// How long an answer may take, and how often a server may close connections before that is what is the matter.
constexpr int64_t kPatienceNanos = 10'000'000'000;
constexpr uint64_t kMaxReconnects = 100'000;

// The share of one thread, so that the shares add up.
uint64_t ShareOf(uint64_t all, uint64_t index, uint64_t parts) {
  return all * (index + 1) / parts - all * index / parts;
}

int64_t ThreadCpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t Nanos(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

Worker::Worker(const Settings& settings, const KeyChooser& chooser, uint32_t index)
    : settings_(settings),
      workload_(settings.workload, chooser, index, settings.threads),
      protocol_(settings.protocol()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      slots_(size_t{settings.connections} * settings.pipeline),
      events_(kMaxEvents) {
  if (epoll_ < 0) GiveUp("there is no epoll");
  left_ = settings.requests == 0 ? std::numeric_limits<uint64_t>::max()
                                 : ShareOf(settings.requests, index, settings.threads);
  if (settings.rate > 0) interval_ = 1e9 * settings.threads / settings.rate;
  const uint64_t mine = ShareOf(settings.connections, index, settings.threads);
  for (uint32_t i = 0; i < mine; ++i) {
    connections_.push_back(std::make_unique<Connection>(i, settings.pipeline));
    Open(*connections_.back());
  }
  for (uint32_t i = 0; i < settings.pipeline; ++i) {
    for (uint32_t connection = 0; connection < mine; ++connection) slots_.push(connection);
  }
}

Worker::~Worker() {
  for (const auto& connection : connections_) close(connection->fd);
  close(epoll_);
}

uint16_t Worker::PortOf(const Connection& connection) const {
  const size_t server = connection.index % (settings_.more_ports.size() + 1);
  return server == 0 ? settings_.port : settings_.more_ports[server - 1];
}

void Worker::Open(Connection& connection) {
  connection.fd = Connect(settings_.host, PortOf(connection));
  if (connection.fd < 0) GiveUp("the server does not accept a connection");
  connection.in.resize(kFirstInput);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) != 0) GiveUp("a connection cannot be watched");
}

void Worker::Reopen(Connection& connection) {
  close(connection.fd);
  for (; !connection.requests.empty(); connection.requests.pop()) {
    ++report_.broken;
    --under_way_;
    slots_.push(connection.index);
  }
  connection.out.clear();
  connection.sent = connection.received = connection.worth_a_look = 0;
  connection.waits_to_send = false;
  if (++report_.reconnects > kMaxReconnects) GiveUp("the server closes one connection after the other");
  Open(connection);
}

std::optional<int64_t> Worker::Due(int64_t now) const {
  if (left_ == 0 || now >= end_) return {};
  if (interval_ == 0) return now;
  const int64_t due = began_ + static_cast<int64_t>(static_cast<double>(report_.sent) * interval_);
  if (due > now || due >= end_) return {};
  return due;
}

void Worker::Pump(int64_t now) {
  Connection* written = nullptr;  // several requests for one connection go out together
  while (!slots_.empty()) {
    const auto due = Due(now);
    if (!due.has_value()) break;
    const auto operation = workload_.Next();
    if (!operation.has_value()) {
      left_ = 0;
      break;
    }
    Connection& connection = *connections_[slots_.front()];
    slots_.pop();
    if (written != nullptr && written != &connection) Flush(*written);
    written = &connection;
    protocol_->AppendRequest(*operation, &connection.out);
    connection.requests.push({operation->kind, *due});
    --left_, ++report_.sent, ++under_way_;
    last_sent_ = now;
  }
  if (written != nullptr) Flush(*written);
}

void Worker::Flush(Connection& connection) {
  if (connection.waits_to_send) return;
  while (connection.sent < connection.out.size()) {
    const ssize_t n = send(connection.fd, connection.out.data() + connection.sent,
                           connection.out.size() - connection.sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) {
      return WatchFor(connection, true);
    }
    if (n < 0) break;  // what is to be read says so too
    connection.sent += static_cast<size_t>(n);
    report_.bytes_sent += static_cast<uint64_t>(n);
  }
  connection.out.clear();
  connection.sent = 0;
}

void Worker::WatchFor(Connection& connection, bool sending) {
  connection.waits_to_send = sending;
  epoll_event event{};
  event.events = sending ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event) != 0) GiveUp("a connection cannot be watched");
}

void Worker::Receive(Connection& connection) {
  const ssize_t n =
      recv(connection.fd, connection.in.data() + connection.received, connection.in.size() - connection.received, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const int64_t now = NowNanos();
  if (n > 0) {
    connection.received += static_cast<size_t>(n);
    report_.bytes_received += static_cast<uint64_t>(n);
    if (connection.received < connection.worth_a_look || TakeAnswers(connection, now)) return Pump(now);
  }
  // A server that is done with a connection closes it; nothing is wrong unless it owed an answer.
  Reopen(connection);
  Pump(now);
}

bool Worker::TakeAnswers(Connection& connection, int64_t now) {
  size_t taken = 0;
  connection.worth_a_look = 0;
  while (taken < connection.received) {
    if (connection.requests.empty()) return false;
    const std::string_view rest(connection.in.data() + taken, connection.received - taken);
    const Answer answer = protocol_->Look(connection.requests.front().kind, rest);
    if (answer.verdict == Verdict::kPartial) {
      connection.worth_a_look = answer.bytes;
      break;
    }
    if (answer.verdict == Verdict::kBroken) {
      if (report_.first_error.empty()) report_.first_error = rest.substr(0, kShownError);
      return false;
    }
    Count(connection.requests.front(), answer, rest, now);
    connection.requests.pop();
    --under_way_;
    slots_.push(connection.index);
    taken += answer.bytes;
    if (answer.closes) return false;
  }
  connection.received -= taken;
  if (connection.received != 0 && taken != 0) {
    std::copy_n(connection.in.begin() + static_cast<ptrdiff_t>(taken), connection.received, connection.in.begin());
  }
  const size_t room = std::max(connection.worth_a_look, connection.received + 1);
  if (room > connection.in.size()) connection.in.resize(std::max(room, 2 * connection.in.size()));
  return true;
}

void Worker::Count(const Request& request, const Answer& answer, std::string_view bytes, int64_t now) {
  last_answer_ = now;
  const bool good =
      answer.verdict == Verdict::kGood || (answer.verdict == Verdict::kMissing && settings_.allow_missing);
  if (!good && report_.first_error.empty()) report_.first_error = bytes.substr(0, std::min(answer.bytes, kShownError));
  if (answer.verdict == Verdict::kMissing) ++report_.missing;
  if (answer.verdict == Verdict::kUnexpected) ++report_.unexpected;
  if (!good || now < measure_from_) return;
  ++report_.answers;
  report_.latency.Add(static_cast<uint64_t>(now - request.since));
}

bool Worker::Wait() {
  const int64_t now = NowNanos();
  Pump(now);
  const bool sends = left_ != 0 && now < end_;
  if (!sends && under_way_ == 0) return false;
  if (under_way_ != 0 && now - std::max(last_answer_, last_sent_) > kPatienceNanos) {
    report_.broken += under_way_;
    if (report_.first_error.empty()) report_.first_error = "no answer";
    return false;
  }
  // In an open loop the next request is due sooner than epoll can count: within a millisecond it is asked over and
  // over.
  int timeout = settings_.spin ? 0 : 100;
  if (sends && interval_ != 0 && !slots_.empty()) {
    const double due = static_cast<double>(began_) + static_cast<double>(report_.sent) * interval_;
    timeout = std::clamp(static_cast<int>((due - static_cast<double>(now)) / 1e6), 0, timeout);
  }
  const int n = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), timeout);
  for (int i = 0; i < n; ++i) {
    Connection& connection = *static_cast<Connection*>(events_[static_cast<size_t>(i)].data.ptr);
    if ((events_[static_cast<size_t>(i)].events & EPOLLOUT) != 0) {
      WatchFor(connection, false);
      Flush(connection);
    }
    if ((events_[static_cast<size_t>(i)].events & ~uint32_t{EPOLLOUT}) != 0) Receive(connection);
  }
  return true;
}

Report Worker::Run(int64_t began) {
  began_ = began;
  measure_from_ = began + Nanos(settings_.warmup);
  const bool ends_by_count = settings_.requests != 0 || settings_.workload.fill_batch != 0;
  end_ = ends_by_count ? std::numeric_limits<int64_t>::max() : measure_from_ + Nanos(settings_.seconds);
  last_answer_ = began;
  const int64_t cpu = ThreadCpuNanos();
  while (Wait()) {
  }
  if (interval_ != 0 && !ends_by_count) {
    const auto due = static_cast<uint64_t>(std::ceil(static_cast<double>(end_ - began_) / interval_));
    report_.unsent = due > report_.sent ? due - report_.sent : 0;
  }
  report_.cpu_nanos = static_cast<double>(ThreadCpuNanos() - cpu);
  report_.seconds = static_cast<double>(std::max(last_answer_, measure_from_ + 1) - measure_from_) / 1e9;
  return std::move(report_);
}

}  // namespace kvarts::load
