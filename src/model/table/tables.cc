#include "model/table/tables.h"

#include <algorithm>
#include <mutex>

#include "model/table/findings.h"
#include "model/table/table_jobs.h"

namespace kvarts {
namespace {

// How often a thread has a cached table seen unchanged at a newer version.
constexpr uint32_t kUsesUntilLook = 256;
// Cached tables; with more, all are forgotten and found again.
constexpr size_t kMaxCached = 10'000;

Error NotThere(const char* text, std::string_view name) {
  return Error(ErrorCode::kNotFound, text, {{"name", Escaped(name)}});
}

std::string CacheName(const TablePath& path) { return path.project + '/' + path.dataset + '/' + path.table; }

// The ids that lead to a table, of a transaction or a view.
template <class From>
Result<ProjectId> ProjectOf(From& from, std::string_view name) {
  if (name == kSystemProject) return kSystemProjectId;
  KVARTS_TRY(const std::optional<Uuid> id, FindName(from, kRootScope, name));
  if (!id) return NotThere("there is no such project", name);
  return ProjectId{*id};
}

struct Place {
  ProjectId project;
  DatasetId dataset;
};
template <class From>
Result<Place> PlaceOf(From& from, std::string_view project_name, std::string_view dataset_name) {
  KVARTS_TRY(const ProjectId project, ProjectOf(from, project_name));
  if (project == kSystemProjectId && dataset_name == kCatalogDataset) return Place{project, kCatalogDatasetId};
  KVARTS_TRY(const std::optional<Uuid> dataset, FindName(from, project.uuid, dataset_name));
  if (!dataset) return NotThere("there is no such dataset", dataset_name);
  return Place{project, DatasetId{*dataset}};
}

template <class From>
Result<TablePtr> TableAt(From& from, const TablePath& path) {
  KVARTS_TRY(const Place place, PlaceOf(from, path.project, path.dataset));
  if (place.dataset == kCatalogDatasetId) {
    for (const TablePtr& table : SystemTables()) {
      if (table->stored().name == path.table) return table;
    }
    return NotThere("there is no such table", path.table);
  }
  KVARTS_TRY(const std::optional<Uuid> id, FindName(from, place.dataset.uuid, path.table));
  if (!id) return NotThere("there is no such table", path.table);
  KVARTS_TRY(TablePtr table, ReadTable(from, place.project, place.dataset, TableId{*id}));
  if (table != nullptr) return table;
  return Error(ErrorCode::kCorruption, "a name leads to a table that is not there", {{"name", Escaped(path.table)}});
}

bool IsSystem(const TablePath& path) { return path.project == kSystemProject; }

Error NotYours() { return Error(ErrorCode::kPermissionDenied, "the project _system is kept by Kvarts itself"); }

// Rows have their end from when they were written, and their entries have it, too. So what is kept can be changed, and
// not where the time stands.
Status ChangeRetention(const std::optional<RetentionSpec>& wanted, TableInfo::Stored* table) {
  std::optional<RetentionSpec>& is = table->spec.retention;
  const bool alike =
      is.has_value() == wanted.has_value() && (!is || (is->field == wanted->field && is->bucket == wanted->bucket));
  if (!alike) {
    return Error(ErrorCode::kInvalidArgument, "of a table's retention only how long to keep can be changed",
                 {{"field", "retention"}});
  }
  is = wanted;
  if (is) table->longest_keep = std::max(table->longest_keep, is->keep);
  return {};
}

// How many keys there are, by estimate. Not for bodies.
Result<uint64_t> EntriesIn(Engine& engine, const KeyRange& range) {
  KVARTS_TRY(const RangeEstimate estimate, engine.Estimate(range));
  return estimate.entries;
}

// Whether a job that erases a range goes through what is in it.
bool ErasesOneByOne(const Engine& engine) { return engine.capabilities().shared; }

Result<NamesPage> ListIn(View& view, const Uuid& scope, std::string_view after, size_t limit) {
  NamesPage page;
  KVARTS_TRY(page.names, ListNames(view, scope, after, limit + 1));
  page.more = page.names.size() > limit;
  if (page.more) page.names.pop_back();
  return page;
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::Open(Store& store) {
  std::unique_ptr<Tables> tables(new Tables(store));
  Tables* const told = tables.get();
  tables->watch_ = store.subscriptions().Watch(CatalogRange(), [told](const Mutation*, Version) { told->Forget(); });
  return tables;
}

Tables::~Tables() { store_.subscriptions().Cancel(watch_); }

void Tables::Forget() {
  const std::unique_lock lock(mutex_);
  ++changes_;
  cached_.clear();
}

TablePtr Tables::Cached(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  const auto found = cached_.find(name);
  return found == cached_.end() ? nullptr : found->second;
}

Result<TablePtr> Tables::Find(const TablePath& path) {
  const std::string name = CacheName(path);
  if (TablePtr cached = Cached(name)) return cached;
  const uint64_t changes = changes_;
  // What changes from here on is seen by the view, or told of.
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(TablePtr table, TableAt(*view, path));
  const std::unique_lock lock(mutex_);
  if (changes_ != changes) return table;
  if (cached_.size() >= kMaxCached) cached_.clear();
  cached_.emplace(name, table);
  return table;
}

TablePtr Tables::Known(const TablePath& path) const { return Cached(CacheName(path)); }

void Tables::LookAgain(const TablePtr& table) {
  thread_local uint32_t uses = 0;
  if (++uses % kUsesUntilLook != 0 || store_.engine().capabilities().reads_may_wait) return;
  const Result<std::unique_ptr<View>> view = store_.engine().OpenView();
  if (!view.has_value()) return;
  const Precondition known = table->Unchanged();
  const Result<std::optional<Record>> record = (*view)->GetOne(known.key);
  if (record.has_value() && *record && (*record)->header.version == known.version) table->SeenAt((*view)->version());
}

Result<const TableInfo*> TableHandle::Find() {
  if (IsFresh()) return table_.get();
  // A change from here on is noticed by the next call, whether or not what is found has it.
  const uint64_t changes = tables_->changes_.load(std::memory_order_acquire);
  KVARTS_TRY(table_, tables_->Find(path_));
  changes_ = changes;
  return table_.get();
}

Result<TablePtr> TableHandle::Use(Txn& txn) {
  if (!IsFresh()) {
    changes_ = tables_->changes_.load(std::memory_order_acquire);
    table_ = tables_->Known(path_);
  }
  return tables_->Use(txn, path_, table_);
}

Result<TablePtr> Tables::Use(Txn& txn, const TablePath& path, TablePtr table) {
  if (IsSystem(path)) return NotYours();
  if (!txn.ViewVersion()) {
    if (table == nullptr) {
      KVARTS_CHECK_OK(txn.WillWait());
      KVARTS_TRY(table, Find(path));
    }
    txn.RestOn(table->Unchanged());
    LookAgain(table);
    return table;
  }
  // What is there at the transaction's view is what counts.
  if (table != nullptr) {
    const Precondition known = table->Unchanged();
    KVARTS_TRY(const std::optional<Record> record, txn.Get(known.key));
    if (record && record->header.version == known.version) return table;
  }
  return TableAt(txn, path);
}

Result<ProjectInfo> Tables::CreateProject(std::string_view name, RunOptions options) {
  if (name == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Result<ProjectInfo> {
        const ProjectInfo project{ProjectId::New(txn.Now()), std::string(name)};
        KVARTS_CHECK_OK(ClaimName(txn, kRootScope, name, project.id.uuid));
        KVARTS_CHECK_OK(PutProject(txn, project.id, name));
        return project;
      },
      std::move(options));
}

Result<ProjectInfo> Tables::GetProject(std::string_view name) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const ProjectId id, ProjectOf(*view, name));
  return ProjectInfo{id, std::string(name)};
}

Status Tables::RenameProject(std::string_view name, std::string_view new_name, RunOptions options) {
  if (name == kSystemProject || new_name == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const ProjectId id, ProjectOf(txn, name));
        if (name == new_name) return {};
        KVARTS_CHECK_OK(ClaimName(txn, kRootScope, new_name, id.uuid));
        KVARTS_CHECK_OK(ReleaseName(txn, kRootScope, name));
        return PutProject(txn, id, new_name);
      },
      std::move(options));
}

Status Tables::DropProject(std::string_view name, RunOptions options) {
  if (name == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const ProjectId id, ProjectOf(txn, name));
        KVARTS_TRY(const bool has, HasNames(txn, id.uuid));
        if (has) {
          return Error(ErrorCode::kPreconditionFailed, "the project still has datasets", {{"name", Escaped(name)}});
        }
        KVARTS_CHECK_OK(ReleaseName(txn, kRootScope, name));
        return EraseProject(txn, id);
      },
      std::move(options));
}

Result<NamesPage> Tables::ListProjects(std::string_view after, size_t limit) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  return ListIn(*view, kRootScope, after, limit);
}

Result<DatasetInfo> Tables::CreateDataset(const DatasetPath& path, RunOptions options) {
  if (path.project == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Result<DatasetInfo> {
        KVARTS_TRY(const ProjectId project, ProjectOf(txn, path.project));
        // That the project is still there when this is committed is what its name says, which was read.
        const DatasetInfo dataset{DatasetId::New(txn.Now()), project, path.dataset};
        KVARTS_CHECK_OK(ClaimName(txn, project.uuid, path.dataset, dataset.id.uuid));
        KVARTS_CHECK_OK(PutDataset(txn, project, dataset.id, path.dataset));
        return dataset;
      },
      std::move(options));
}

Result<DatasetInfo> Tables::GetDataset(const DatasetPath& path) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const Place place, PlaceOf(*view, path.project, path.dataset));
  return DatasetInfo{place.dataset, place.project, path.dataset};
}

Status Tables::RenameDataset(const DatasetPath& path, std::string_view new_name, RunOptions options) {
  if (path.project == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const Place place, PlaceOf(txn, path.project, path.dataset));
        if (path.dataset == new_name) return {};
        KVARTS_CHECK_OK(ClaimName(txn, place.project.uuid, new_name, place.dataset.uuid));
        KVARTS_CHECK_OK(ReleaseName(txn, place.project.uuid, path.dataset));
        return PutDataset(txn, place.project, place.dataset, new_name);
      },
      std::move(options));
}

Status Tables::DropDataset(const DatasetPath& path, RunOptions options) {
  if (path.project == kSystemProject) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const Place place, PlaceOf(txn, path.project, path.dataset));
        KVARTS_TRY(const bool has, HasNames(txn, place.dataset.uuid));
        if (has) {
          return Error(ErrorCode::kPreconditionFailed, "the dataset still has tables",
                       {{"name", Escaped(path.dataset)}});
        }
        KVARTS_CHECK_OK(ReleaseName(txn, place.project.uuid, path.dataset));
        return EraseDataset(txn, place.project, place.dataset);
      },
      std::move(options));
}

Result<NamesPage> Tables::ListDatasets(std::string_view project, std::string_view after, size_t limit) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const ProjectId id, ProjectOf(*view, project));
  return ListIn(*view, id.uuid, after, limit);
}

Result<NamesPage> Tables::ListTables(const DatasetPath& path, std::string_view after, size_t limit) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const Place place, PlaceOf(*view, path.project, path.dataset));
  return ListIn(*view, place.dataset.uuid, after, limit);
}

Result<TablePtr> Tables::CreateTable(const TablePath& path, TableSpec spec, RunOptions options) {
  if (IsSystem(path)) return NotYours();
  KVARTS_CHECK_OK(CheckCatalogName(path.table));
  KVARTS_CHECK_OK(CheckTableSpec(spec));
  // The range of a table has its profile before there is a table. A number that comes to nothing is no loss.
  std::optional<TableNumber> number;
  if (spec.profile != Profile::kLookup) {
    KVARTS_TRY(number, store_.Run([](Txn& txn) { return TakeTableNumber(txn); }));
    TableInfo::Stored stored;
    stored.number = *number;
    const TableInfo empty(std::move(stored), {}, kNoVersion, kNoVersion);
    KVARTS_CHECK_OK(store_.engine().AssignProfile(empty.range(), spec.profile));
  }
  const auto create = [&](Txn& txn) -> Status {
    TableInfo::Stored stored;
    KVARTS_TRY(const Place place, PlaceOf(txn, path.project, path.dataset));
    stored.project = place.project;
    stored.dataset = place.dataset;
    stored.id = TableId::New(txn.Now());
    stored.name = path.table;
    KVARTS_CHECK_OK(ClaimName(txn, place.dataset.uuid, path.table, stored.id.uuid));
    if (number) {
      stored.number = *number;
    } else {
      KVARTS_TRY(stored.number, TakeTableNumber(txn));
    }
    stored.spec = spec;
    stored.spec.indexes.clear();
    stored.schema_version = spec.schema ? 1 : 0;
    if (spec.retention) stored.longest_keep = spec.retention->keep;
    for (const IndexSpec& index : spec.indexes) {
      TableIndex& added = stored.indexes.emplace_back();
      added.spec = index;
      added.number = {stored.next_index++};
    }
    return AddTable(txn, stored);
  };
  KVARTS_CHECK_OK(store_.Run(create, std::move(options)));
  return Find(path);
}

Result<TablePtr> Tables::Alter(const TablePath& path, const Change& change, RunOptions options) {
  if (IsSystem(path)) return NotYours();
  const auto alter = [&](Txn& txn) -> Status {
    KVARTS_TRY(const TablePtr table, TableAt(txn, path));
    TableInfo::Stored stored = table->stored();
    KVARTS_TRY(const bool changed, change(txn, stored));
    // Who writes to the table rests on its row, and would be run again.
    return changed ? PutTable(txn, stored) : Status{};
  };
  KVARTS_CHECK_OK(store_.Run(alter, std::move(options)));
  return Find(path);
}

Result<TablePtr> Tables::AlterTable(const TablePath& path, const TableChange& change, RunOptions options) {
  const auto alter = [&](Txn&, TableInfo::Stored& table) -> Result<bool> {
    const bool ends = change.ttl && *change.ttl != table.spec.ttl;
    if (ends) table.spec.ttl = *change.ttl;
    std::optional<std::optional<RetentionSpec>> retention = change.retention;
    if (change.retention_parts) retention = change.retention_parts->Of(table.spec.retention.value_or(RetentionSpec()));
    const bool keeps = retention && *retention != table.spec.retention;
    if (keeps) KVARTS_CHECK_OK(ChangeRetention(*retention, &table));
    const bool looks = change.schema && *change.schema != table.spec.schema;
    if (looks) {
      table.spec.schema = *change.schema;
      ++table.schema_version;
    }
    return ends || keeps || looks;
  };
  return Alter(path, alter, std::move(options));
}

Status Tables::RenameTable(const TablePath& path, std::string_view new_name, RunOptions options) {
  if (IsSystem(path)) return NotYours();
  return store_.Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const TablePtr table, TableAt(txn, path));
        if (path.table == new_name) return {};
        TableInfo::Stored stored = table->stored();
        KVARTS_CHECK_OK(ClaimName(txn, stored.dataset.uuid, new_name, stored.id.uuid));
        KVARTS_CHECK_OK(ReleaseName(txn, stored.dataset.uuid, path.table));
        stored.name = new_name;
        return PutTable(txn, stored);
      },
      std::move(options));
}

Result<JobId> Tables::DropTable(const TablePath& path, RunOptions options) {
  if (IsSystem(path)) return NotYours();
  std::optional<uint64_t> total;
  if (ErasesOneByOne(store_.engine())) {
    KVARTS_TRY(const TablePtr known, Find(path));
    KVARTS_TRY(total, EntriesIn(store_.engine(), known->range()));
  }
  return store_.Run(
      [&](Txn& txn) -> Result<JobId> {
        KVARTS_TRY(const TablePtr table, TableAt(txn, path));
        KVARTS_CHECK_OK(ReleaseName(txn, table->stored().dataset.uuid, path.table));
        KVARTS_CHECK_OK(EraseTable(txn, *table));
        return StartJob(txn, TableEraseJob(*table, total));
      },
      std::move(options));
}

Result<Tables::IndexWork> Tables::CreateIndex(const TablePath& path, IndexSpec spec, uint32_t throttle,
                                              RunOptions options) {
  if (IsSystem(path)) return NotYours();
  KVARTS_TRY(const TablePtr known, Find(path));
  KVARTS_TRY(const uint64_t rows, EntriesIn(store_.engine(), KeyRange::Prefix(known->rows())));
  JobId job;
  const auto add = [&](Txn& txn, TableInfo::Stored& table) -> Result<bool> {
    KVARTS_CHECK_OK(CheckIndexSpec(spec, table.spec.key));
    const auto same = [&](const TableIndex& index) { return index.spec.name == spec.name; };
    if (std::ranges::any_of(table.indexes, same)) {
      return Error(ErrorCode::kAlreadyExists, "the table has an index of this name", {{"index", spec.name}});
    }
    if (table.indexes.size() >= TableSpec::kMaxIndexes) {
      return Error(ErrorCode::kTooLarge, "a table has too many indexes",
                   {{"limit", "max_indexes"}, {"at_most", std::to_string(TableSpec::kMaxIndexes)}});
    }
    TableIndex& index = table.indexes.emplace_back();
    index.spec = spec;
    index.number = {table.next_index++};
    index.state = IndexState::kBuilding;
    KVARTS_TRY(job, StartJob(txn, IndexBuildJob(table, index, throttle, rows)));
    index.job = job;
    return true;
  };
  KVARTS_TRY(TablePtr table, Alter(path, add, std::move(options)));
  return IndexWork{std::move(table), job};
}

Result<Tables::IndexWork> Tables::DropIndex(const TablePath& path, std::string_view name, RunOptions options) {
  if (IsSystem(path)) return NotYours();
  std::optional<uint64_t> total;
  if (ErasesOneByOne(store_.engine())) {
    KVARTS_TRY(const TablePtr known, Find(path));
    const TableIndex* const index = known->IndexNamed(name);
    if (index != nullptr) {
      KVARTS_TRY(total, EntriesIn(store_.engine(), KeyRange::Prefix(index->prefix)));
    }
  }
  JobId job;
  const auto drop = [&](Txn& txn, TableInfo::Stored& table) -> Result<bool> {
    const auto found = std::ranges::find(table.indexes, name, &TableIndex::name);
    if (found == table.indexes.end()) return NotThere("there is no such index", name);
    if (found->state == IndexState::kDropping) {
      job = found->job.value_or(JobId());
      return false;
    }
    // What was in the way of its build is in nobody's way any more.
    if (found->state == IndexState::kBuilding && found->job) EraseFindings(txn, table.id, *found->job);
    found->state = IndexState::kDropping;
    KVARTS_TRY(job, StartJob(txn, IndexDropJob(table, *found, total)));
    found->job = job;
    return true;
  };
  KVARTS_TRY(TablePtr table, Alter(path, drop, std::move(options)));
  return IndexWork{std::move(table), job};
}

std::vector<JobKind> Tables::JobKinds() { return TableJobKinds(store_); }

}  // namespace kvarts
