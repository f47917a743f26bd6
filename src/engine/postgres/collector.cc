#include "engine/postgres/collector.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "engine/postgres/pg_view.h"

namespace kvarts::postgres {
namespace {

// How much longer than a view may be open: transactions that end late, and clocks that differ.
constexpr Duration kSlack = Duration::Seconds(60);

// After so many times the longest that a request may take, whoever made it has given it up, and could not say so.
constexpr int64_t kLeftAfter = 2;

}  // namespace

int64_t Collector::DeadSince() const {
  const Timestamp now{std::max(shared_.time_seen.load(std::memory_order_relaxed), shared_.primary_now().micros)};
  const int64_t kept = shared_.options.limits.max_view_age.micros + kSlack.micros;
  const int64_t since = std::max<int64_t>(static_cast<int64_t>(now.micros) - kept, 0);
  return static_cast<int64_t>(Version::FromTime({static_cast<uint64_t>(since)}).stamp);
}

Result<int64_t> Collector::Batch() {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  Params params;
  params.Int8(DeadSince());
  params.Int8(static_cast<int64_t>(shared_.options.collect_batch));
  const auto rows = connection->Fly(kCollect, std::move(params), shared_.request_deadline());
  if (!rows.has_value()) return rows.error().error;
  return rows->Int8(0, 0);
}

Status Collector::EndWaits() {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  Params params;
  params.Int8(kLeftAfter * std::chrono::microseconds(shared_.options.request_timeout).count());
  const auto rows = connection->Fly(kInterruptLeft, std::move(params), shared_.request_deadline());
  if (!rows.has_value()) return rows.error().error;
  return {};
}

Status Collector::CountBacklog() {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  Params params;
  params.Int8(DeadSince());
  params.Int8(kMaxCounted);
  const auto rows = connection->Fly(kBacklog, std::move(params), shared_.request_deadline());
  if (!rows.has_value()) return rows.error().error;
  backlog_.store(static_cast<uint64_t>(rows->Int8(0, 0)), std::memory_order_relaxed);
  return {};
}

void Collector::Loop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  const auto sleep = [&](std::chrono::milliseconds time) { never.wait_for(lock, stop, time, [] { return false; }); };
  std::chrono::steady_clock::time_point looked = {};
  while (!stop.stop_requested()) {
    sleep(shared_.options.collect_interval);
    while (!stop.stop_requested()) {
      // However much there is to take away, which may take long.
      if (const auto now = std::chrono::steady_clock::now(); now - looked >= shared_.options.collect_interval) {
        IgnoreError(EndWaits());
        IgnoreError(CountBacklog());
        looked = now;
      }
      const Result<int64_t> taken = Batch();
      if (!taken.has_value()) break;  // the server is gone, or has no time; later, then
      collected_.fetch_add(static_cast<uint64_t>(*taken), std::memory_order_relaxed);
      if (static_cast<size_t>(*taken) < shared_.options.collect_batch) break;
      sleep(shared_.options.collect_pause);
    }
    if (!stop.stop_requested()) IgnoreError(CountBacklog());
  }
}

}  // namespace kvarts::postgres
