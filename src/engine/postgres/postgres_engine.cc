#include "engine/postgres/postgres_engine.h"

#include <algorithm>
#include <charconv>

#include "engine/postgres/collector.h"
#include "engine/postgres/committer.h"
#include "engine/postgres/entry_codec.h"
#include "engine/postgres/following.h"
#include "engine/postgres/pg_view.h"
#include "engine/postgres/read_channel.h"
#include "engine/postgres/reader.h"
#include "engine/postgres/schema.h"

namespace kvarts {
namespace postgres {
namespace {

class PostgresEngine final : public Engine {
 public:
  explicit PostgresEngine(PostgresOptions options)
      : shared_(std::move(options)),
        servers_(shared_.options),
        reader_(shared_, servers_, shared_.options.read_connections),
        replica_reader_(shared_.has_replicas()
                            ? std::make_unique<Reader>(shared_, servers_, shared_.options.read_connections, &reader_)
                            : nullptr),
        channel_connections_(shared_, servers_),
        committer_(shared_, servers_, shared_.options.commit_connections),
        following_(shared_, servers_, [this](const Following::Telling& telling) { committer_.Tell(telling); }),
        collector_(shared_, servers_) {}

  ~PostgresEngine() override { KeepTotals(); }

  Status Begin();
  // Makes the schema, or takes an earlier one on.
  Status BringUp(const Servers::Found& primary, Deadline deadline) const;

  const Capabilities& capabilities() const override { return capabilities_; }
  const Limits& limits() const override { return shared_.options.limits; }

  Durability strongest() const override { return servers_.strongest(); }

  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override;
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    return ReaderFor(options.freshness).Get(keys, out, options);
  }
  void GetLater(PendingGet& read) override { ReaderFor(read.options.freshness).GetLater(read); }
  std::unique_ptr<ReadChannel> OpenReadChannel(ReadChannel::Host& host) override {
    return std::make_unique<PgReadChannel>(shared_, channel_connections_, reader_, replica_reader_.get(), host);
  }
  void Submit(std::span<std::unique_ptr<Submission>> submissions) override;
  void SetListener(CommitListener* listener) override { shared_.listener = listener; }
  void FollowNow() override { following_.LookNow(); }

  Result<Version> Settle() override { return following_.Settle(); }
  Version Settled() const override { return following_.settled(); }

  Timestamp Now() const override;
  Version LastVersion() const override { return {shared_.version_seen.load(std::memory_order_relaxed)}; }
  Status Sync() override { return Run(kSync, {}); }

  Status AssignProfile(const KeyRange& range, Profile profile) override;
  Status Compact(const KeyRange& range, const std::stop_token& stop) override;
  std::vector<Error> VerifyFiles() override { return {}; }
  Result<RangeEstimate> Estimate(const KeyRange& range) override;
  Result<EngineStats> Stats() override;
  Health health() const override {
    if (servers_.HasPrimary()) return {};
    return {false, "the shard has no primary"};
  }
  double pressure() const override { return 0; }

 private:
  Reader& ReaderFor(const Freshness& freshness) {
    return freshness.consistency == Consistency::kStrong || !replica_reader_ ? reader_ : *replica_reader_;
  }
  // Null when no replica can show it: then the primary can.
  std::unique_ptr<View> OpenReplicaView(const SessionToken& session, Timestamp now);
  Result<Rows> Ask(const Statement& statement, Params params);
  Status Run(const Statement& statement, Params params);
  void KeepTotals();
  Status ReadFigures();

  Shared shared_;
  const Capabilities capabilities_{.name = "postgres",
                                   .persistent = true,
                                   .total_order = false,
                                   .reads_may_wait = true,
                                   .shared = true,
                                   .replicas = shared_.has_replicas()};
  Servers servers_;
  Reader reader_;
  const std::unique_ptr<Reader> replica_reader_;  // leaves to the other what no replica can answer
  ChannelConnections channel_connections_;
  Committer committer_;
  Following following_;
  Collector collector_;
  std::mutex figures_mutex_;
  EngineStats figures_;  // what the primary knows, as last heard
};

Status PostgresEngine::BringUp(const Servers::Found& primary, Deadline deadline) const {
  const bool none = primary.schema_version == 0;
  if (!shared_.options.create_if_missing) {
    // Others that were waited for in vain may have used up the time.
    return FindSchema(primary.target, CurrentSchema(), In(shared_.options.connect_timeout));
  }
  // With nothing there to tell, one that is silent might be of the right cluster, and this one of another.
  if (none && !primary.all_answer) {
    return Error(ErrorCode::kUnavailable, "an empty database is begun only when all servers answer",
                 {{"servers", primary.servers}});
  }
  if (none && primary.stranger) return *primary.stranger;
  constexpr std::chrono::hours kMostForALargeStore(12);
  return MakeSchema(primary.target, CurrentSchema(), none ? deadline : In(kMostForALargeStore));
}

Status PostgresEngine::Begin() {
  const Deadline deadline = In(shared_.options.connect_timeout);
  KVARTS_TRY(const Servers::Found primary, servers_.Start(deadline));
  if (primary.schema_version < kSchemaVersion) KVARTS_CHECK_OK(BringUp(primary, deadline));
  Params params;
  params.Int8(0);
  params.OptionalInt8(shared_.given_time());
  KVARTS_TRY(const Rows rows, Ask(kNow, std::move(params)));
  shared_.SawVersion({static_cast<uint64_t>(rows.Int8(0, 0))});
  shared_.SawTime(static_cast<uint64_t>(rows.Int8(0, 1)));
  following_.Start();
  collector_.Start();
  return {};
}

Result<Rows> PostgresEngine::Ask(const Statement& statement, Params params) {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
  auto rows = connection->Fly(statement, std::move(params), shared_.request_deadline());
  if (!rows.has_value()) return rows.error().error;
  return *std::move(rows);
}

Status PostgresEngine::Run(const Statement& statement, Params params) {
  KVARTS_CHECK_OK(Ask(statement, std::move(params)));
  return {};
}

Result<std::unique_ptr<View>> PostgresEngine::OpenView(const Freshness& freshness) {
  const Timestamp now = shared_.primary_now();
  if (!shared_.views.Add(now, limits().max_views)) {
    return Error(ErrorCode::kOverloaded, "too many views are open",
                 {{"limit", "max_views"}, {"at_most", std::to_string(limits().max_views)}});
  }
  const auto open = [&]() -> Result<std::unique_ptr<View>> {
    if (freshness.consistency != Consistency::kStrong && shared_.has_replicas()) {
      const bool bound = freshness.consistency == Consistency::kSession;
      auto view = OpenReplicaView(bound ? freshness.session : SessionToken(), now);
      if (view != nullptr) return view;
    }
    KVARTS_TRY(Pool::Lease connection, servers_.Primary(Use::kOther, shared_.request_deadline()));
    KVARTS_TRY(const OpenedView opened, BeginView(*connection, shared_));
    return std::make_unique<PgView>(shared_, std::move(connection), opened, now, PgView::On::kPrimary);
  };
  auto view = open();
  if (!view.has_value()) shared_.views.Remove(now);
  return view;
}

std::unique_ptr<View> PostgresEngine::OpenReplicaView(const SessionToken& session, Timestamp now) {
  constexpr std::chrono::milliseconds kPause{5};
  const Deadline patience = In(shared_.options.session_wait);
  while (true) {
    auto connection = servers_.Replica(Use::kOther, shared_.NeedOf(session), shared_.replica_deadline());
    if (!connection.has_value() || !*connection) return nullptr;
    const auto opened = BeginReplicaView(**connection, shared_, session);
    if (!opened.has_value()) return nullptr;
    if (*opened) {
      return std::make_unique<PgView>(shared_, *std::move(connection), **opened, now, PgView::On::kReplica);
    }
    *connection = {};
    if (std::chrono::steady_clock::now() + kPause > patience) return nullptr;
    std::this_thread::sleep_for(kPause);
  }
}

void PostgresEngine::Submit(std::span<std::unique_ptr<Submission>> submissions) {
  Committer::Submissions batch;
  for (auto& submission : submissions) batch.push_back(std::move(submission));
  committer_.Submit(std::move(batch));
}

Timestamp PostgresEngine::Now() const {
  const uint64_t seen = shared_.time_seen.load(std::memory_order_relaxed);
  return {std::max(seen, shared_.primary_now().micros)};
}

// Here a profile changes nothing, but what was chosen is known.
Status PostgresEngine::AssignProfile(const KeyRange& range, Profile profile) {
  if (range.IsEmpty()) return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  const std::string name = "profile/" + ToHex(range.start) + "/" + ToHex(range.end);
  Params prefix;
  prefix.Text("profile/");
  KVARTS_TRY(const Rows chosen, Ask(kFindMeta, std::move(prefix)));
  for (int row = 0; row < chosen.size(); ++row) {
    if (chosen.Text(row, 0) == name && chosen.Text(row, 1) == ProfileName(profile)) return {};
    const std::string taken(chosen.Text(row, 0).substr(8));
    const size_t slash = taken.find('/');
    KVARTS_TRY(const Bytes start, FromHex(taken.substr(0, slash)));
    KVARTS_TRY(const Bytes end, FromHex(taken.substr(slash + 1)));
    const KeyRange other{start, end};
    if (!other.Intersects(range)) continue;
    return Error(ErrorCode::kInvalidArgument, "the range overlaps another one with a profile",
                 {{"range", range.ToString()}, {"other", other.ToString()}});
  }
  KVARTS_TRY(const auto view, OpenView({}));
  ScanRequest any;
  any.range = range;
  any.max_entries = 1;
  any.options.expired_too = true;
  KVARTS_TRY(const ScanPage found, view->Scan(any));
  if (!found.empty()) {
    return Error(ErrorCode::kPreconditionFailed, "a range with keys in it cannot be given a profile",
                 {{"range", range.ToString()}});
  }
  Params params;
  params.Text(name);
  params.Text(ProfileName(profile));
  return Run(kSetMeta, std::move(params));
}

void AddBounds(const KeyRange& range, Params* params) {
  const Bound lower(range.start);
  const Bound upper = Bound::Upper(range);
  params->Bytea(lower.key);
  params->Bytea(lower.rest);
  params->Bytea(upper.key);
  params->Bytea(upper.rest);
}

Status PostgresEngine::Compact(const KeyRange& range, const std::stop_token& stop) {
  constexpr int64_t kPage = 5'000;
  if (range.IsEmpty()) return {};
  for (KeyRange rest = range; !rest.IsEmpty();) {
    if (stop.stop_requested()) return CompactionStopped();
    Params params;
    AddBounds(rest, &params);
    params.Int8(static_cast<int64_t>(Now().micros));
    params.Int8(kPage);
    KVARTS_TRY(const Rows last, Ask(kCompact, std::move(params)));
    if (last.size() == 0) break;
    rest.start = KeyAfter(last.Bytea(0, 0));
  }
  return Run(kAnalyze, {});
}

Result<RangeEstimate> PostgresEngine::Estimate(const KeyRange& range) {
  constexpr int64_t kCounted = 10'000;
  RangeEstimate estimate;
  if (range.IsEmpty()) return estimate;
  Params params;
  AddBounds(range, &params);
  params.Int8(kCounted);
  KVARTS_TRY(const Rows rows, Ask(kEstimate, std::move(params)));
  estimate.entries = static_cast<uint64_t>(rows.Int8(0, 0));
  estimate.bytes = static_cast<uint64_t>(rows.Int8(0, 1));
  return estimate;
}

Result<EngineStats> PostgresEngine::Stats() {
  const std::lock_guard lock(figures_mutex_);
  const Status read = ReadFigures();
  EngineStats stats = figures_;
  // Without a primary the last figures are told, and what is wrong.
  if (!read.has_value()) {
    stats.writable = false;
    stats.not_writable_because = read.error().ToString();
  }
  stats.commits += shared_.commits;
  stats.user_bytes_written += shared_.user_bytes;
  stats.expired_dropped = collector_.collected();
  stats.collect_backlog = collector_.backlog();
  stats.commit_path.group_sizes = shared_.group_sizes.Take();
  stats.commit_path.log_sync = shared_.commit_time.Take();
  stats.open_views = shared_.views.size();
  if (const auto oldest = shared_.views.oldest()) {
    stats.oldest_view_age_ms = (shared_.primary_now().micros - oldest->micros) / 1000;
  }
  for (ServerStats& server : servers_.Stats()) {
    DataServer& told = stats.servers.emplace_back();
    told.name = std::move(server.name);
    told.role = ServerRoleName(server.role);
    told.usable = server.problem.empty() && !server.breaker_open;
    if (server.lag) told.lag_seconds = std::chrono::duration<double>(*server.lag).count();
    told.connections = server.connections;
    told.standbys = static_cast<uint64_t>(server.standbys);
    told.problem = std::move(server.problem);
  }
  if (replica_reader_) {
    stats.replica_reads = replica_reader_->answered();
    stats.replica_misses = replica_reader_->left();
  }
  return stats;
}

Status PostgresEngine::ReadFigures() {
  Params prefix;
  prefix.Text("total/");
  KVARTS_TRY(const Rows totals, Ask(kFindMeta, std::move(prefix)));
  const auto total = [&](std::string_view name) {
    uint64_t value = 0;
    for (int row = 0; row < totals.size(); ++row) {
      if (totals.Text(row, 0) != name) continue;
      const BytesView text = totals.Text(row, 1);
      std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
  };
  figures_.commits = total("total/commits");
  figures_.user_bytes_written = total("total/user_bytes");
  KVARTS_TRY(const Rows sizes, Ask(kSizes, {}));
  const auto size = [&](int column) { return static_cast<uint64_t>(sizes.Int8(0, column)); };
  ProfileStats all;
  all.profile = "default";
  all.keys_estimate = figures_.keys_estimate = size(0);
  all.stale_bytes = figures_.stale_bytes = size(2);
  all.live_bytes = figures_.live_bytes = size(1) - size(2);
  figures_.profiles = {all};
  return {};
}

void PostgresEngine::KeepTotals() {
  const auto commits = static_cast<int64_t>(shared_.commits.exchange(0));
  if (commits == 0) return;  // as when it was never opened: nobody waits for a primary then
  Params params;
  params.Int8(commits);
  params.Int8(static_cast<int64_t>(shared_.user_bytes.exchange(0)));
  IgnoreError(Run(kAddTotals, std::move(params)));
}

}  // namespace
}  // namespace postgres

Result<std::unique_ptr<Engine>> OpenPostgresEngine(PostgresOptions options) {
  if (options.servers.empty()) return Error(ErrorCode::kInvalidArgument, "a shard has no server");
  auto engine = std::make_unique<postgres::PostgresEngine>(std::move(options));
  KVARTS_CHECK_OK(engine->Begin());
  return engine;
}

}  // namespace kvarts
