#include "engine/postgres/pg_view.h"

namespace kvarts::postgres {

namespace {

void AddOpening(const Statement& opening, const ReadTime& time, std::vector<Call>* calls) {
  Params params;
  params.Int8(static_cast<int64_t>(time.floor));
  params.OptionalInt8(time.given);
  calls->push_back({&kBegin, {}});
  calls->push_back({&opening, std::move(params)});
}

OpenedView OpenedBy(const Rows& rows) {
  return {
      {static_cast<uint64_t>(rows.Int8(0, 0))}, {static_cast<uint64_t>(rows.Int8(0, 1))}, std::string(rows.Text(0, 2))};
}

}  // namespace

Result<OpenedView> BeginView(Connection& connection, Shared& shared) {
  std::vector<Call> calls;
  AddOpening(kOpenView, shared.read_time(), &calls);
  for (bool life_began = false;; life_began = true) {
    const auto flown = connection.Fly(calls, shared.request_deadline());
    if (!flown.has_value()) {
      EndView(connection, shared);  // it may have begun
      return flown.error().error;
    }
    OpenedView opened = OpenedBy(flown->back());
    if (!opened.snapshot.empty() || life_began) {
      shared.snapshots.Add(opened.version, opened.snapshot);
      shared.SawTime(opened.time.micros);
      return opened;
    }
    EndView(connection, shared);
    const auto began = connection.Fly(kBeginLife, {}, shared.request_deadline());
    if (!began.has_value()) return began.error().error;
  }
}

Result<std::optional<OpenedView>> BeginReplicaView(Connection& connection, Shared& shared,
                                                   const SessionToken& session) {
  std::vector<Call> calls;
  calls.push_back({&kReplayed, {}, true});
  AddOpening(kOpenReplicaView, shared.replica_time(), &calls);
  auto flown = connection.Fly(calls, shared.replica_deadline());
  if (!flown.has_value()) {
    EndView(connection, shared);
    return flown.error().error;
  }
  if (static_cast<uint64_t>(flown->front().Int8(0, 0)) < session.position) {
    EndView(connection, shared);
    return std::nullopt;
  }
  return OpenedBy(flown->back());
}

void EndView(Connection& connection, Shared& shared) {
  if (connection.usable()) std::ignore = connection.Fly(kEnd, {}, shared.request_deadline());
}

PgView::PgView(Shared& shared, Pool::Lease connection, const OpenedView& opened, Timestamp now, On on)
    : shared_(shared), connection_(std::move(connection)), opened_(opened), began_(now), on_(on) {}

PgView::~PgView() {
  EndView(*connection_, shared_);
  connection_ = {};
  shared_.views.Remove(began_);
}

Status PgView::CheckAge() const {
  const auto age_us = static_cast<int64_t>(shared_.primary_now().micros - began_.micros);
  if (age_us <= shared_.options.limits.max_view_age.micros) return {};
  return Error(ErrorCode::kUnavailable, "the view has been open for too long",
               {{"limit", "max_view_age"}, {"is_us", std::to_string(age_us)}});
}

// A replica that has to replay what a view stands in the way of ends the view.
Error PgView::Failed(const Error& error) const {
  if (on_ == On::kPrimary || error.code() != ErrorCode::kConflict) return error;
  return Error(ErrorCode::kUnavailable, "the replica had to end the view", {{"cause", error.ToString()}});
}

Status PgView::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadOptions& options) {
  KVARTS_CHECK_OK(CheckAge());
  const auto read =
      ReadKeys(*connection_, keys, out, options, shared_.read_time(), opened_.time, shared_.request_deadline());
  if (!read.has_value()) return Failed(read.error());
  return {};
}

Result<ScanPage> PgView::Scan(const ScanRequest& request) {
  KVARTS_CHECK_OK(CheckAge());
  KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, shared_.options.limits));
  auto page = ReadPage(*connection_, request, opened_.time, shared_.request_deadline());
  if (!page.has_value()) return Failed(page.error());
  return page;
}

RunView::RunView(Shared& shared, Connection& connection, const OpenedView& opened)
    : shared_(shared), connection_(connection), opened_(opened), began_(shared.primary_now()) {}

Status RunView::Spend(uint64_t keys) {
  const Limits& limits = shared_.options.limits;
  spent_ += keys;
  if (spent_ > limits.max_second_run_keys) {
    return Error(ErrorCode::kOverloaded, "the transaction reads too much for its second run",
                 {{"limit", "max_second_run_keys"}, {"at_most", std::to_string(limits.max_second_run_keys)}});
  }
  const auto took_us = static_cast<int64_t>(shared_.primary_now().micros - began_.micros);
  if (took_us > limits.max_second_run_time.micros) {
    return Error(ErrorCode::kOverloaded, "the transaction takes too long for its second run",
                 {{"limit", "max_second_run_time"}, {"is_us", std::to_string(took_us)}});
  }
  return {};
}

Status RunView::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadOptions& options) {
  KVARTS_CHECK_OK(Spend(keys.size()));
  KVARTS_CHECK_OK(
      ReadKeys(connection_, keys, out, options, shared_.read_time(), opened_.time, shared_.request_deadline()));
  return {};
}

Result<ScanPage> RunView::Scan(const ScanRequest& request) {
  KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, shared_.options.limits));
  ReadCost cost;
  ScanRequest counted = request;
  counted.options.cost = &cost;
  KVARTS_TRY(ScanPage page, ReadPage(connection_, counted, opened_.time, shared_.request_deadline()));
  KVARTS_CHECK_OK(Spend(cost.keys + cost.skipped));
  if (request.options.cost != nullptr) *request.options.cost += cost;
  return page;
}

}  // namespace kvarts::postgres
