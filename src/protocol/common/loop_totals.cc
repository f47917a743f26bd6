#include "protocol/common/loop_totals.h"

namespace kvarts {
namespace {

template <class Histograms>
void AddLatency(std::array<HistogramSnapshot, kOperations>* to, const Histograms& from) {
  for (size_t i = 0; i < to->size(); ++i) (*to)[i] += from[i].Take();
}

template <class Counters>
void AddAnswers(std::array<uint64_t, 6>* to, const Counters& from) {
  for (size_t i = 0; i < to->size(); ++i) (*to)[i] += from[i].value();
}

}  // namespace

LoopTotals& LoopTotals::operator+=(const LoopMetrics& loop) {
  AddLatency(&latency, loop.latency);
  AddAnswers(&answers, loop.answers);
  requests_malformed += loop.requests_malformed.value();
  bytes_in += loop.bytes_in.value();
  bytes_out += loop.bytes_out.value();
  keys_read += loop.keys_read.value();
  bytes_read += loop.bytes_read.value();
  tombstones_skipped += loop.tombstones_skipped.value();
  tombstone_warnings += loop.tombstone_warnings.value();
  keys_written += loop.keys_written.value();
  bytes_written += loop.bytes_written.value();
  throttled += loop.throttled.value();
  rate_limited += loop.rate_limited.value();
  slow_requests += loop.slow_requests.value();
  return *this;
}

NamespaceTotals& NamespaceTotals::operator+=(const NamespaceCounts& counts) {
  AddLatency(&latency, counts.latency);
  AddAnswers(&answers, counts.answers);
  keys_read += counts.keys_read.value();
  bytes_read += counts.bytes_read.value();
  keys_written += counts.keys_written.value();
  bytes_written += counts.bytes_written.value();
  tombstones_skipped += counts.tombstones_skipped.value();
  return *this;
}

std::vector<NamespaceTotals> SumNamespaces(const NamespacePlaces& places,
                                           const std::vector<const NamespaceMetrics*>& loops) {
  std::vector<NamespaceTotals> all;
  for (size_t place = 0; place < NamespacePlaces::kCount; ++place) {
    NamespaceTotals totals;
    bool used = false;
    for (const NamespaceMetrics* loop : loops) {
      const NamespaceCounts* const counts = loop->Find(static_cast<uint8_t>(place));
      if (counts == nullptr) continue;
      totals += *counts;
      used = true;
    }
    if (!used) continue;
    totals.name = places.NameOf(static_cast<uint8_t>(place));
    all.push_back(std::move(totals));
  }
  return all;
}

}  // namespace kvarts
