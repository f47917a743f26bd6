// Server: a process that serves a store. It puts the parts together, in the order in which they need each other, and
// takes them apart in the reverse: engine, store, models, loops with their threads, protocols, listener.
//
// Start, Drain, ReloadTls and the destructor belong to one thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "base/worker_pool.h"
#include "core/job_runner.h"
#include "core/store.h"
#include "model/structure/key_expiry.h"
#include "model/structure/structure_erase.h"
#include "net/listener.h"
#include "protocol/http/connection.h"
#include "protocol/resp/connection.h"
#include "protocol/resp/runner.h"
#include "server/options.h"

namespace kvarts {

class Server {
 public:
  // Opens the store and begins to serve. Errors say which part of the configuration is wrong, or what is the matter
  // with the data.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // The same over an engine that is open already, whatever the options say of one.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options, std::unique_ptr<Engine> engine);
  // Without the time to drain.
  ~Server();

  // Where it listens, with the ports that were chosen.
  std::vector<std::string> addresses() const { return listener_->addresses(); }
  // Takes no more connections and waits until what is under way is done: for as long as the options say, or until
  // `hurry`, which is asked again and again, says that it must end now.
  void Drain(const std::function<bool()>& hurry = [] { return false; });
  // Whether every loop has turned since this was asked last.
  bool LoopsTurn();
  // Reads the certificates again. If they are wrong the old ones stay.
  Status ReloadTls();

  Store& store() { return *store_; }
  // A client of this process itself: a connected socket.
  Result<int> Connect();

 private:
  explicit Server(const ServerOptions& options) : options_(options) {}

  Status OpenStore();
  Status StartLoops();
  // Who may ask, before anybody can.
  Status DecideAccess();
  Status StartListening();
  // On a loop, a few times a second.
  void Tick(size_t loop);
  // What is begun again and again, on a worker: if it fails, sooner than it would be otherwise.
  struct Recurring {
    std::function<Status()> start;
    const char* failed_text;
    const char* waits_text;
    WorkerPool::Lane lane = WorkerPool::Lane::kShort;
    std::atomic<bool> failed{false};
    std::atomic<bool> running{false};
    std::optional<Stopwatch> since{};  // of the first loop
  };
  void StartIfDue(Recurring& what, Duration interval);

  const ServerOptions options_;
  SystemClock clock_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Tokens> tokens_;
  std::unique_ptr<Users> users_;
  std::unique_ptr<structure::Databases> databases_;
  std::unique_ptr<JobRunner> jobs_;
  std::unique_ptr<WorkerPool> workers_;
  std::vector<std::unique_ptr<net::Loop>> loops_;
  std::unique_ptr<http::Service> service_;
  std::unique_ptr<http::HttpProtocol> http_;
  std::unique_ptr<resp::Service> resp_service_;
  std::unique_ptr<resp::RespProtocol> resp_;
  std::unique_ptr<RedisCommands> redis_commands_;
  std::unique_ptr<net::Listener> listener_;
  std::vector<std::jthread> threads_;
  std::stop_source stopping_;
  Recurring retention_{[this]() -> Status {
                         // Of namespaces and of tables, each whatever became of the other.
                         const auto of_tables = tables_->StartRetention();
                         KVARTS_CHECK_OK(catalog_->StartRetention());
                         KVARTS_CHECK_OK(of_tables);
                         return {};
                       },
                       "retention could not be started", "retention has to wait: too much work is queued"};
  Recurring expiry_{[this]() -> Status {
                      const auto of_tables = tables_->StartExpiry();
                      if (resp_service_->active_expiry) {
                        KVARTS_CHECK_OK(structure::StartKeyExpiry(*store_));
                      }
                      KVARTS_CHECK_OK(structure::StartStructureErase(*store_));
                      KVARTS_CHECK_OK(of_tables);
                      return {};
                    },
                    "the removal of what has expired or was dropped could not be started",
                    "the removal of what has expired or was dropped has to wait: too much work is queued"};
  Recurring survey_{[this] { return service_->survey.Look(*engine_, options_.wide_partition, stopping_.get_token()); },
                    "wide partitions could not be looked for",
                    "the look for wide partitions has to wait: too much work is queued", WorkerPool::Lane::kLong};
};

}  // namespace kvarts
