// Tables: the catalog of projects, datasets and tables, and the way to a table by its names.
//
// What is kept is rows of system tables (system_tables.h). Names are found in a cache that every change of the catalog
// empties; a transaction that goes by a table from there rests on the table's row being the one it was made of, so that
// no write goes by what a table was before: an index that is created has every write from then on, and nothing is
// written into a table that was dropped. Nothing is refused by the cache alone.
//
// A change of the catalog holds for everything that begins after it was answered. On an engine that other processes
// write to, reads of those may go by the old name or table for a moment longer, until they are told.
//
// Safe from any thread but the commit thread; Use is for bodies, on whichever thread they run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/job.h"
#include "core/job_runner.h"
#include "core/store.h"
#include "model/table/catalog_rows.h"
#include "model/table/table_info.h"

namespace kvarts {

struct DatasetPath {
  std::string project;
  std::string dataset;
};
struct TablePath {
  std::string project;
  std::string dataset;
  std::string table;
};

struct ProjectInfo {
  ProjectId id;
  std::string name;
};
struct DatasetInfo {
  DatasetId id;
  ProjectId project;
  std::string name;
};

struct Finding;

struct NamesPage {
  std::vector<NamedId> names;
  bool more = false;  // there are names behind the last one
};

class Tables {
 public:
  // The store outlives it.
  static Result<std::unique_ptr<Tables>> Open(Store& store);
  ~Tables();

  // For bodies: the table, as the transaction is to use it. Once a run, before anything of the table is read.
  Result<TablePtr> Use(Txn& txn, const TablePath& path) { return Use(txn, path, Known(path)); }
  // For reads. `not_found` with what of the path is not there.
  Result<TablePtr> Find(const TablePath& path);
  // The same without waiting for anything: null when it would have to be read.
  TablePtr Known(const TablePath& path) const;

  Result<ProjectInfo> CreateProject(std::string_view name, RunOptions options = {});
  Result<ProjectInfo> GetProject(std::string_view name);
  Status RenameProject(std::string_view name, std::string_view new_name, RunOptions options = {});
  // It must have no datasets: `precondition_failed`.
  Status DropProject(std::string_view name, RunOptions options = {});
  // Those behind `after`, in the order of names.
  Result<NamesPage> ListProjects(std::string_view after, size_t limit);

  Result<DatasetInfo> CreateDataset(const DatasetPath& path, RunOptions options = {});
  Result<DatasetInfo> GetDataset(const DatasetPath& path);
  Status RenameDataset(const DatasetPath& path, std::string_view new_name, RunOptions options = {});
  // It must have no tables.
  Status DropDataset(const DatasetPath& path, RunOptions options = {});
  Result<NamesPage> ListDatasets(std::string_view project, std::string_view after, size_t limit);

  // With its indexes, which are ready at once: there is nothing in it yet.
  Result<TablePtr> CreateTable(const TablePath& path, TableSpec spec, RunOptions options = {});
  // Changes what can be changed of a table that is there: how long rows live and are kept, and their schema. All of it
  // holds for what is written from then on. Of a retention, the field and the bucket stay as they are.
  struct TableChange {
    std::optional<std::optional<TtlSpec>> ttl = {};
    std::optional<std::optional<RetentionSpec>> retention = {};
    // In place of it: of the retention that there is, by parts.
    std::optional<RetentionChange> retention_parts = {};
    std::optional<std::optional<DocumentSchema>> schema = {};

    bool IsEmpty() const { return !ttl && !retention && !retention_parts && !schema; }
  };
  Result<TablePtr> AlterTable(const TablePath& path, const TableChange& change, RunOptions options = {});
  Status RenameTable(const TablePath& path, std::string_view new_name, RunOptions options = {});
  // It is gone with the commit; what was in it is taken away by the job.
  Result<JobId> DropTable(const TablePath& path, RunOptions options = {});
  Result<NamesPage> ListTables(const DatasetPath& path, std::string_view after, size_t limit);

  // Every write from the commit on keeps the index; the job adds the rows from before, and makes it ready.
  struct IndexWork {
    TablePtr table;
    JobId job;
  };
  Result<IndexWork> CreateIndex(const TablePath& path, IndexSpec spec, uint32_t throttle = 0, RunOptions options = {});
  // Nobody reads or keeps it from the commit on; the job takes its entries away.
  Result<IndexWork> DropIndex(const TablePath& path, std::string_view name, RunOptions options = {});

  // Starts the job that takes away rows whose time has come, unless it is there already; nothing when it is, or when
  // nothing is due.
  Result<std::optional<JobId>> StartExpiry();

  // Starts the job that takes away the rows of buckets that are not kept any more, by range; nothing when it is there
  // already, when no table has a retention, or where an engine takes them away as fast by itself.
  Result<std::optional<JobId>> StartRetention();

  // Starts the job that compares every ready index of the table with its rows (index_verify.h).
  Result<JobId> StartVerify(const TablePath& path, uint32_t throttle = 0, RunOptions options = {});
  // Starts the job that mends them (index_repair.h): what a verification that has ended has found, or without one,
  // whatever is wrong.
  Result<JobId> StartRepair(const TablePath& path, std::optional<JobId> verified, uint32_t throttle = 0,
                            RunOptions options = {});
  // Starts the job that takes back what a repair that has ended has changed.
  Result<JobId> UndoRepair(const TablePath& path, JobId repair, RunOptions options = {});
  // What a job about the table has found, from a number on. `not_found` when nothing is known of such a job: findings
  // outlive its record, and a job that has found nothing is known as long as its record is there.
  Result<std::vector<Finding>> FindingsOf(const TablePath& path, JobId job, uint64_t from, size_t limit);

  // What a job runner must know of tables. It outlives whoever has them.
  std::vector<JobKind> JobKinds();

  Store& store() { return store_; }

 private:
  friend class TableHandle;

  // `known` is the cached one, or null.
  Result<TablePtr> Use(Txn& txn, const TablePath& path, TablePtr known);

  explicit Tables(Store& store) : store_(store) {}

  TablePtr Cached(const std::string& name) const;
  void Forget();
  // Has a table from the cache seen at a newer version, now and then, so that what rests on it needs no read.
  void LookAgain(const TablePtr& table);
  // Changes the row of a table; false: it is as it was.
  using Change = std::function<Result<bool>(Txn&, TableInfo::Stored&)>;
  Result<TablePtr> Alter(const TablePath& path, const Change& change, RunOptions options);

  Store& store_;
  Subscriptions::Id watch_ = 0;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, TablePtr> cached_;  // by project/dataset/table
  std::atomic<uint64_t> changes_ = 0;                 // how often the catalog was seen to change
};

// A table that is used again and again: it is found by its names once, and anew when the catalog has changed. What
// holds for Tables holds for it. For one thread at a time.
class TableHandle {
 public:
  TableHandle(Tables& tables, TablePath path) : tables_(&tables), path_(std::move(path)) {}

  const TablePath& path() const { return path_; }
  // For reads; good until the next call.
  Result<const TableInfo*> Find();
  // For bodies.
  Result<TablePtr> Use(Txn& txn);

 private:
  bool IsFresh() const { return table_ != nullptr && tables_->changes_.load(std::memory_order_acquire) == changes_; }

  Tables* tables_;
  TablePath path_;
  TablePtr table_;
  uint64_t changes_ = 0;  // of the catalog, before the table was found
};

}  // namespace kvarts
