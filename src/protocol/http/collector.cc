#include "protocol/http/collector.h"

#include "base/log.h"
#include "core/job.h"
#include "net/listener.h"
#include "protocol/http/service.h"

namespace kvarts::http {
namespace {

Result<std::array<uint64_t, kJobStates>> CountJobs(Store& store) {
  constexpr size_t kPage = 1000;
  std::array<uint64_t, kJobStates> counts{};
  Jobs jobs(store);
  std::optional<JobId> after;
  for (size_t looked = 0; looked < Collector::kMaxJobsCounted; looked += kPage) {
    KVARTS_TRY(const JobPage page, jobs.List(after, kPage));
    for (const JobRecord& job : page.jobs) ++counts[static_cast<size_t>(job.state) % kJobStates];
    if (!page.next) break;
    after = page.next;
  }
  return counts;
}

}  // namespace

HotKeys HotKeysOf(const Service& service) {
  HotKeys all;
  for (const auto& loop : service.loops) all.Merge(loop->hot.Take());
  return all;
}

Result<std::shared_ptr<const StoreFacts>> Collector::TakeStore(Service& service, const HotKeys& hot) {
  std::lock_guard lock(mutex_);
  const uint64_t now = service.clock.Now().micros;
  if (kept_ && now < kept_at_us_ + kKeptMicros) return kept_;
  auto facts = std::make_shared<StoreFacts>();
  KVARTS_TRY(facts->engine, service.engine().Stats());
  auto jobs = CountJobs(service.store);
  if (jobs.has_value()) {
    facts->jobs = *jobs;
  } else if (facts->engine.servers.empty()) {
    return std::move(jobs).error();
  } else if (kept_) {
    facts->jobs = kept_->jobs;  // when servers are gone is no time to say nothing
  }
  facts->partitions = widest_.Update(service.engine(), hot);
  kept_ = std::move(facts);
  kept_at_us_ = now;
  return kept_;
}

Result<ServerFacts> Collector::Take(Service& service) {
  ServerFacts facts;
  facts.hot = HotKeysOf(service);
  KVARTS_TRY(facts.store, TakeStore(service, facts.hot));
  std::vector<const NamespaceMetrics*> by_namespace;
  for (const auto& loop : service.loops) {
    facts.loops += loop->metrics;
    by_namespace.push_back(&loop->namespaces);
  }
  facts.namespaces = SumNamespaces(service.places, by_namespace);
  facts.process = ProcessStats::Take();
  facts.loop_threads = service.loops.size();
  if (service.listener != nullptr) {
    facts.connections = service.listener->connections();
    facts.connections_accepted = service.listener->counts().accepted.load();
    facts.connections_refused = service.listener->counts().refused.load();
    facts.connections_unknown = service.listener->counts().unknown.load();
  }
  facts.inflight_bytes = service.inflight_bytes.load();
  facts.work_queued = service.workers.queued();
  facts.watchers = service.watchers.load();
  facts.log_dropped = Logging::Dropped();
  facts.wide_partitions = service.survey.wide_partitions();
  facts.namespaces_declared = service.catalog.current().entries().size();
  return facts;
}

}  // namespace kvarts::http
