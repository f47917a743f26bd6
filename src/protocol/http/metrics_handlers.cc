// The observable side of the server: /metrics, /stats and /hotkeys. All of it is made on a worker.
#include <array>

#include "net/http/negotiate.h"
#include "net/http/target.h"
#include "protocol/http/handlers.h"
#include "protocol/http/metrics_text.h"
#include "protocol/http/stats_answer.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr uint64_t kMaxHotKeys = 500;
constexpr uint64_t kDefaultHotKeys = 20;

class MetricsWork final : public WorkOp {
 public:
  MetricsWork(Service& service, MetricsForm form) : service_(service), form_(form) {}

 private:
  Result<Reply> Work() override {
    KVARTS_TRY(const ServerFacts facts, service_.collector.Take(service_));
    Reply reply;
    reply.type = form_ == MetricsForm::kOpenMetrics ? kOpenMetricsType : kPrometheusType;
    WriteMetrics(&reply.body, form_, facts);
    return reply;
  }

  Service& service_;
  const MetricsForm form_;
};

class StatsWork final : public WorkOp {
 public:
  explicit StatsWork(Service& service) : service_(service) {}

 private:
  Result<Reply> Work() override {
    KVARTS_TRY(const ServerFacts facts, service_.collector.Take(service_));
    Reply reply;
    WriteStats(&reply.body, facts, service_.engine().capabilities().name, service_.clock.Now());
    return reply;
  }

  Service& service_;
};

class HotKeysWork final : public WorkOp {
 public:
  HotKeysWork(const Service& service, HotOrder order, size_t limit) : service_(service), order_(order), limit_(limit) {}

 private:
  Result<Reply> Work() override {
    Reply reply;
    WriteHotKeys(&reply.body, HotKeysOf(service_), order_, limit_);
    return reply;
  }

  const Service& service_;
  const HotOrder order_;
  const size_t limit_;
};

}  // namespace

Result<std::unique_ptr<SlowOp>> GetMetrics(Call& call) {
  KVARTS_CHECK_OK(QueryReader(call.head.query()).Finish());
  if (!call.service.options.metrics) return Error(ErrorCode::kNotFound, "metrics are switched off");
  static constexpr std::array<std::string_view, 2> kForms = {"text/plain", "application/openmetrics-text"};
  // Prometheus asks for OpenMetrics first, and for whatever there is at last; a browser gets text.
  const size_t form = ChooseMedia(call.head.accept(), kForms).value_or(0);
  return std::make_unique<MetricsWork>(call.service, static_cast<MetricsForm>(form));
}

Result<std::unique_ptr<SlowOp>> GetStats(Call& call) {
  KVARTS_CHECK_OK(QueryReader(call.head.query()).Finish());
  return std::make_unique<StatsWork>(call.service);
}

Result<std::unique_ptr<SlowOp>> GetHotKeys(Call& call) {
  QueryReader query(call.head.query());
  const auto order = static_cast<HotOrder>(query.Choice("by", {"reads", "writes", "bytes"}, 0));
  const uint64_t limit = query.Uint("limit", kDefaultHotKeys, 1, kMaxHotKeys);
  KVARTS_CHECK_OK(query.Finish());
  if (!call.service.options.hot_keys) return Error(ErrorCode::kNotFound, "hot keys are switched off");
  return std::make_unique<HotKeysWork>(call.service, order, limit);
}

}  // namespace kvarts::http
