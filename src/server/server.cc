#include "server/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>

#include "base/log.h"
#include "core/secret.h"
#include "protocol/resp/acl_changes.h"
#include "server/open_engine.h"

namespace kvarts {
namespace {

using std::chrono::milliseconds;

constexpr auto kDrainPoll = milliseconds(10);
constexpr Duration kRecurringRetry = Duration::Seconds(60);

milliseconds Millis(Duration duration) { return milliseconds(duration.micros / 1000); }

http::HttpOptions HttpOptionsOf(const ServerOptions& from) {
  http::HttpOptions to{};
  to.head.max_head_bytes = from.http.max_head_bytes;
  to.head.max_headers = from.http.max_headers;
  to.head.max_target_bytes = from.http.max_target_bytes;
  to.max_body_bytes = from.http.max_body_bytes;
  to.max_inflight_bytes = from.http.max_inflight_bytes;
  to.max_pipelined = from.http.max_pipelined;
  to.max_pipelined_bytes = from.http.max_pipelined_bytes;
  to.idle_timeout = Millis(from.http.idle_timeout);
  to.head_timeout = Millis(from.http.head_timeout);
  to.request_timeout = Millis(from.http.request_timeout);
  to.write_timeout = Millis(from.http.write_timeout);
  to.compress_min_bytes = from.http.compress_min_bytes;
  to.default_page = from.http.default_page_limit;
  to.max_page = std::min<uint64_t>(from.http.max_page_limit, from.limits.max_page_entries);
  to.max_batch_keys = from.http.max_batch_keys;
  to.max_count = from.scan.max_count;
  to.tombstones_warn = from.scan.tombstones_warn;
  to.tombstones_fail = from.scan.tombstones_fail;
  to.max_watchers = from.watch.max_watchers;
  to.max_watch_backlog = from.watch.max_backlog;
  to.heartbeat = Millis(from.watch.heartbeat);
  to.slow_request = std::chrono::microseconds(from.slow_request.micros);
  to.cors_origins = from.http.cors_origins;
  to.durability = from.durability;
  to.consistency = from.reads.consistency;
  to.metrics = from.metrics_enabled;
  to.hot_keys = from.hotkeys_enabled;
  return to;
}

// Zero: all of them are paths.
uint16_t FirstPort(const std::vector<std::string>& addresses) {
  for (const std::string& text : addresses) {
    const Result<net::Address> address = net::ParseAddress(text);
    if (address.has_value() && address->kind == net::Address::Kind::kTcp) return address->port;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  KVARTS_TRY(auto engine, OpenEngine(options));
  return Start(options, std::move(engine));
}

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, std::unique_ptr<Engine> engine) {
  std::unique_ptr<Server> server(new Server(Effective(options)));
  server->engine_ = std::move(engine);
  KVARTS_CHECK_OK(server->OpenStore());
  KVARTS_CHECK_OK(server->StartLoops());
  KVARTS_CHECK_OK(server->StartListening());
  return server;
}

Status Server::OpenStore() {
  KVARTS_TRY(store_, Store::Open(*engine_));
  KVARTS_TRY(catalog_, Catalog::Open(*store_));
  KVARTS_TRY(tokens_, Tokens::Open(*store_));
  KVARTS_TRY(users_, Users::Open(*store_));
  KVARTS_TRY(tables_, Tables::Open(*store_));
  std::vector<JobKind> kinds = catalog_->JobKinds();
  std::ranges::move(tables_->JobKinds(), std::back_inserter(kinds));
  databases_ = structure::Databases::Open(*store_);
  kinds.push_back(structure::KeyExpiryKind(*databases_));
  kinds.push_back(structure::StructureEraseKind(!engine_->capabilities().shared));
  JobRunnerOptions runner;
  runner.lease = options_.job_lease;
  jobs_ = std::make_unique<JobRunner>(*store_, std::move(kinds), runner);
  jobs_->Start();
  return {};
}

Status Server::StartLoops() {
  workers_ = std::make_unique<WorkerPool>(options_.worker_threads, options_.worker_queue);
  KVARTS_TRY(Bytes secret, StoreSecret(*store_, kCursorSecret));
  service_.reset(new http::Service{*store_,
                                   *catalog_,
                                   *tables_,
                                   *tokens_,
                                   *workers_,
                                   clock_,
                                   HttpOptionsOf(options_),
                                   {std::move(secret), options_.max_cursor_age}});
  KVARTS_CHECK_OK(DecideAccess());
  for (size_t i = 0; i < options_.loops; ++i) {
    loops_.push_back(std::make_unique<net::Loop>(i));
    service_->loops.push_back(
        std::make_unique<http::LoopState>(clock_, *catalog_, service_->places, *loops_.back(), *engine_));
    loops_.back()->OnTick([this, i] { Tick(i); });
  }
  http_ = std::make_unique<http::HttpProtocol>(*service_);
  resp::RespOptions redis;
  redis.durability = options_.durability;
  redis.directory = options_.engine == EngineKind::kRocksdb ? options_.data : std::string();
  redis.debug_commands = options_.redis.debug_commands;
  redis.write_timeout = Millis(options_.http.write_timeout);
  redis.staged_bytes = options_.redis.staged_bytes;
  redis.max_held_bytes = options_.redis.max_held_bytes;
  resp_service_.reset(new resp::Service{*store_, *databases_, *tokens_, *workers_, clock_, service_->tokens_required,
                                        redis,
                                        std::make_unique<resp::Acl>(*users_, *tokens_, service_->tokens_required)});
  resp_service_->started = clock_.Now();
  if (engine_->capabilities().shared) resp::FollowOthersChanges(*resp_service_);
  for (const auto& loop : loops_) {
    resp_service_->commits.push_back(std::make_unique<LoopCommits>(*loop, *store_));
  }
  resp_service_->settings.SetDurability(options_.durability);
  resp_service_->settings.Set(resp::Number::kMaxBulkBytes, static_cast<int64_t>(options_.redis.max_bulk_bytes));
  resp_service_->saves.last_seconds = static_cast<int64_t>(resp_service_->started.micros / 1'000'000);
  resp_service_->end_process = [] { ::kill(::getpid(), SIGTERM); };
  resp_ = std::make_unique<resp::RespProtocol>(*resp_service_);
  redis_commands_ = std::make_unique<resp::Runner>(*resp_service_);
  service_->redis = redis_commands_.get();
  listener_ = std::make_unique<net::Listener>(
      loops_, std::vector<net::Protocol*>{http_.get(), resp_.get()},
      net::ListenerOptions{options_.http.max_connections, Millis(options_.http.head_timeout)});
  service_->listener = listener_.get();
  resp_service_->listener = listener_.get();
  for (const auto& loop : loops_) threads_.emplace_back([&loop = *loop] { loop.Run(); });
  return {};
}

void Server::Tick(size_t loop) {
  service_->loops[loop]->date.Refresh(clock_.Now());
  service_->loops[loop]->reads->Tick();
  if (loop != 0) return;
  resp_service_->rate.Look(resp_service_->statistics.commands(), std::chrono::steady_clock::now());
  StartIfDue(retention_, options_.retention_interval);
  StartIfDue(expiry_, options_.expiry_interval);
  StartIfDue(survey_, options_.survey_interval);
}

void Server::StartIfDue(Recurring& what, Duration interval) {
  if (what.failed) interval = std::min(interval, kRecurringRetry);
  if (interval.micros == 0 || what.running || (what.since && what.since->Elapsed() < interval)) return;
  what.since.emplace();
  what.running = true;
  const auto start = [&what] {
    const Status started = what.start();
    // Of what fails again and again, only the first time is news.
    const bool failed_before = what.failed.exchange(!started.has_value());
    if (!started.has_value() && !failed_before) Log(LogLevel::kWarning, what.failed_text, started.error());
    what.running = false;
  };
  if (workers_->Submit(start, what.lane)) return;
  if (!what.failed.exchange(true)) Log(LogLevel::kWarning, what.waits_text);
  what.running = false;
}

Status Server::DecideAccess() {
  service_->local_only = options_.listen.empty();
  bool needed = options_.require_tokens == TokenPolicy::kAlways || tokens_->any();
  std::vector<std::string> all = options_.listen;
  all.insert(all.end(), options_.redis.listen.begin(), options_.redis.listen.end());
  for (const std::string& text : all) {
    KVARTS_TRY(const net::Address address, net::ParseAddress(text));
    if (address.IsLoopback()) continue;
    if (!tokens_->any()) {
      return Error(ErrorCode::kInvalidArgument, "without tokens only loopback can be served; make one first",
                   {{"address", text}});
    }
    needed = true;
  }
  service_->tokens_required = needed;
  return {};
}

Status Server::StartListening() {
  if (!options_.tls.certificate.empty()) KVARTS_CHECK_OK(ReloadTls());
  for (const std::string& text : options_.listen) {
    KVARTS_TRY(const net::Address address, net::ParseAddress(text));
    KVARTS_CHECK_OK(listener_->Listen(address));
  }
  for (const std::string& text : options_.redis.listen) {
    KVARTS_TRY(const net::Address address, net::ParseAddress(text));
    KVARTS_CHECK_OK(listener_->Listen(address, resp_.get()));
  }
  resp_service_->port = FirstPort(listener_->addresses());
  service_->ready = true;
  return {};
}

Status Server::ReloadTls() {
  KVARTS_TRY(auto tls, net::TlsContext::Load({options_.tls.certificate, options_.tls.key, options_.tls.client_ca,
                                              options_.tls.min_version == TlsVersion::k12}));
  listener_->SetTls(std::move(tls));
  return {};
}

Result<int> Server::Connect() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error(ErrorCode::kUnavailable, "a socket cannot be made");
  }
  listener_->Adopt(ends[0]);
  return ends[1];
}

bool Server::LoopsTurn() {
  // All are asked, so that each begins anew.
  return std::ranges::count_if(loops_, [](const auto& loop) { return !loop->TakeTurned(); }) == 0;
}

void Server::Drain(const std::function<bool()>& hurry) {
  service_->ready = false;
  listener_->Stop();
  for (const auto& loop : loops_) {
    loop->Post([&loop = *loop] { loop.Drain(); });
  }
  const auto deadline = std::chrono::steady_clock::now() + Millis(options_.drain_timeout);
  while (listener_->connections() > 0 && std::chrono::steady_clock::now() < deadline && !hurry()) {
    std::this_thread::sleep_for(kDrainPoll);
  }
  if (const size_t left = listener_->connections(); left > 0) {
    Log(LogLevel::kWarning, "connections were cut off", {{"connections", left}});
  }
}

Server::~Server() {
  // The threads of the loops first: they give work to everybody. What workers and the engine still finish is posted to
  // loops that do not run any more, but are there. With the loops go the connections that are left.
  stopping_.request_stop();
  if (jobs_) jobs_->Stop();
  for (const auto& loop : loops_) loop->Stop();
  threads_.clear();
  for (const auto& loop : loops_) loop->AbortAll();
  if (service_) {
    for (const auto& loop : service_->loops) loop->reads.reset();
    if (resp_service_) {
      resp_service_->commits.clear();  // what has not left yet never will
      resp_service_->clients.Stop();
    }
  }
  if (resp_service_) resp_service_->acl->TellOfChanges(nullptr);
  workers_.reset();
  jobs_.reset();
  if (tokens_) tokens_->Stop();
  if (users_) users_->Stop();
  if (catalog_) catalog_->Stop();
  if (store_) store_->Stop();
  engine_.reset();
  if (listener_) listener_->Close();
  loops_.clear();
}

}  // namespace kvarts
