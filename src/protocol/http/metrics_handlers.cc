// The observable side of the server: /metrics, /stats and /hotkeys. All of it is made on a worker. Metrics are
// for who may read everything; what names keys is for who may administer.
#include <array>

#include "net/http/negotiate.h"
#include "net/http/target.h"
#include "protocol/http/access.h"
#include "protocol/http/handlers.h"
#include "protocol/http/metrics_text.h"
#include "protocol/http/stats_answer.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr uint64_t kMaxHotKeys = 500;
constexpr uint64_t kDefaultHotKeys = 20;

}  // namespace

Result<std::unique_ptr<SlowOp>> GetMetrics(Call& call) {
  KVARTS_CHECK_OK(AuthorizeFigures(call));
  KVARTS_CHECK_OK(QueryReader(call.head.query()).Finish());
  if (!call.service.options.metrics) return Error(ErrorCode::kNotFound, "metrics are switched off");
  static constexpr std::array<std::string_view, 2> kForms = {"text/plain", "application/openmetrics-text"};
  // Prometheus asks for OpenMetrics first, and for whatever there is at last; a browser gets text.
  const size_t form = ChooseMedia(call.head.accept(), kForms).value_or(0);
  return OnWorkers([&service = call.service, form = static_cast<MetricsForm>(form)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const ServerFacts facts, service.collector.Take(service));
    WorkOp::Reply reply;
    reply.type = form == MetricsForm::kOpenMetrics ? kOpenMetricsType : kPrometheusType;
    WriteMetrics(&reply.body, form, facts);
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> GetStats(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  KVARTS_CHECK_OK(QueryReader(call.head.query()).Finish());
  return OnWorkers([&service = call.service]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const ServerFacts facts, service.collector.Take(service));
    WorkOp::Reply reply;
    WriteStats(&reply.body, facts, service.engine(), service.clock.Now());
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> GetHotKeys(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  QueryReader query(call.head.query());
  HotQuery hot;
  hot.order = static_cast<HotOrder>(query.Choice("by", {"reads", "writes", "bytes"}, 0));
  hot.limit = query.Uint("limit", kDefaultHotKeys, 1, kMaxHotKeys);
  if (const auto name = query.Get("namespace")) hot.name_space = *name;
  KVARTS_CHECK_OK(query.Finish());
  if (!call.service.options.hot_keys) return Error(ErrorCode::kNotFound, "hot keys are switched off");
  return OnWorkers([&service = call.service, hot = std::move(hot)]() -> Result<WorkOp::Reply> {
    WorkOp::Reply reply;
    WriteHotKeys(&reply.body, HotKeysOf(service), service.catalog.cached(), hot);
    return reply;
  });
}

}  // namespace kvarts::http
