// The tables of an embedded database: opened when they are first used, together with the thread that works on their
// jobs and takes away rows whose time has come.
//
// Safe from any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "core/job_runner.h"
#include "core/store.h"
#include "kvarts/options.h"
#include "kvarts/table.h"
#include "model/table/query.h"
#include "model/table/tables.h"

namespace kvarts {

class TableService {
 public:
  // The store outlives it.
  TableService(Store& store, const Options& options) : store_(store), options_(options) {}
  // Before the engine goes: the threads have ended with it.
  ~TableService();

  Result<Tables*> Open();
  Result<Names> ListProjects(std::string_view after, size_t limit);
  Result<Job> WaitForJob(std::string_view id, std::optional<Duration> patience);
  Store& store() { return store_; }
  Engine& engine() { return store_.engine(); }
  RunOptions RunOptionsOf(std::optional<Durability> durability) const;
  RowCursors cursors() const { return {.max_age = options_.max_cursor_age}; }

 private:
  void Keep(const std::stop_token& stop);

  Store& store_;
  const Options& options_;
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<JobRunner> jobs_;
  std::condition_variable_any wake_;
  std::jthread keeper_;
};

}  // namespace kvarts
