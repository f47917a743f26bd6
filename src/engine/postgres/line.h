// Flights of several threads on one connection, each sent before those ahead of it are answered: the server goes from
// one to the next without a pause. The connection is on loan as long as any are under way.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/postgres/pool.h"

namespace kvarts::postgres {

class Line {
 public:
  using Connect = std::function<Result<Pool::Lease>()>;

  explicit Line(Connect connect) : connect_(std::move(connect)) {}

  // Each call is a transaction of its own. One that the server refuses is nobody else's trouble; when the connection
  // breaks, or one is not answered in time, nobody knows what became of any of them. For calls that take about as long
  // as any other, since everybody behind waits. The time is that from when they are sent.
  std::expected<std::vector<Rows>, Failure> Fly(std::span<const Call> calls, std::chrono::milliseconds time);

 private:
  class Wire;

  // The connection that others are on, or another one when it is not to be used any more.
  Result<std::shared_ptr<Wire>> Join();

  const Connect connect_;
  std::mutex mutex_;
  std::weak_ptr<Wire> wire_;  // it belongs to those who are on it
};

}  // namespace kvarts::postgres
