#include "kvarts/database.h"

#include "api/convert.h"
#include "api/open.h"
#include "api/table_service.h"
#include "api/transaction.h"
#include "api/watch.h"
#include "core/store.h"

namespace kvarts {

struct Database::Impl {
  Options options;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Store> store;
  std::unique_ptr<TableService> tables;

  ~Impl() {
    tables.reset();
    // The engine tells the store's subscriptions of its last commits, so it goes first.
    engine.reset();
  }

  const Limits& limits() const { return engine->limits(); }
  RunOptions RunOptionsOf(const WriteOptions& write) const {
    RunOptions run;
    run.durability = write.durability.value_or(options.durability);
    return run;
  }
  Result<Version> Run(const Store::Body& body, const WriteOptions& write) {
    KVARTS_TRY(const RunReport report, store->RunBody(body, RunOptionsOf(write)));
    return report.version;
  }
  static Result<std::unique_ptr<Impl>> Make(const Options& options, std::unique_ptr<Engine> engine) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    impl->engine = std::move(engine);
    KVARTS_TRY(impl->store, Store::Open(*impl->engine));
    impl->tables = std::make_unique<TableService>(*impl->store, impl->options);
    return impl;
  }
};

namespace {

Error WrongVersion(std::string_view key, const std::optional<Record>& found) {
  return Error(ErrorCode::kPreconditionFailed, "the value has another version",
               {{"key", Escaped(key)}, {"version", found ? found->header.version.ToString() : "absent"}});
}

// The options of a put: the instant at which the value is gone.
Result<PutOptions> PutOptionsOf(std::optional<Duration> ttl, Timestamp now) {
  PutOptions put;
  if (ttl) {
    KVARTS_TRY(put.expiry, ExpiryAfter(now, *ttl));
  }
  return put;
}

}  // namespace

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(const std::string& path, const Options& options) {
  KVARTS_TRY(std::unique_ptr<Engine> engine, OpenRocksEngine(path, RocksOptionsOf(options)));
  KVARTS_TRY(std::unique_ptr<Impl> impl, Impl::Make(options, std::move(engine)));
  return Database(std::move(impl));
}

Result<Database> Database::OpenInMemory(const Options& options) {
  MemoryOptions memory;
  memory.limits = LimitsOf(options);
  KVARTS_TRY(std::unique_ptr<Impl> impl, Impl::Make(options, OpenMemoryEngine(memory)));
  return Database(std::move(impl));
}

Result<std::optional<Value>> Database::Get(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  const BytesView view = physical;
  std::optional<Record> record;
  KVARTS_CHECK_OK(impl_->engine->Get({&view, 1}, {&record, 1}, {}));
  return ToValue(std::move(record));
}

Result<std::vector<std::optional<Value>>> Database::GetMany(std::span<const std::string_view> keys) {
  KVARTS_TRY(ManyKeys many, PhysicalKeys(keys, impl_->limits()));
  KVARTS_CHECK_OK(impl_->engine->Get(many.views, many.records, {}));
  return ToValues(std::move(many));
}

Result<Page> Database::Scan(const Range& range, const ScanOptions& options) {
  KVARTS_TRY(const std::unique_ptr<View> view, impl_->engine->OpenView());
  const ScanSetting setting{impl_->limits(), view->time(), view->version(), impl_->options.max_cursor_age};
  return ScanUserKeys(range, options, setting, [&](const ScanRequest& request) { return view->Scan(request); });
}

Result<int64_t> Database::GetCounter(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  KVARTS_TRY(const std::optional<Record> record, GetOne(*impl_->engine, physical));
  return ToNumber(record);
}

Result<Version> Database::Put(std::string_view key, std::string_view value, const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const PutOptions put, PutOptionsOf(options.ttl, txn.Now()));
        txn.Put(physical, value, put);
        return {};
      },
      options);
}

Result<Version> Database::Create(std::string_view key, std::string_view value, const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const std::optional<Record> found, txn.Get(physical));
        if (found) {
          return Error(ErrorCode::kAlreadyExists, "there is a value under the key",
                       {{"key", Escaped(key)}, {"version", found->header.version.ToString()}});
        }
        KVARTS_TRY(const PutOptions put, PutOptionsOf(options.ttl, txn.Now()));
        txn.Put(physical, value, put);
        return {};
      },
      options);
}

Result<Version> Database::Replace(std::string_view key, std::string_view value, Version expected,
                                  const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const std::optional<Record> found, txn.Get(physical));
        if (!found || found->header.version != expected) return WrongVersion(key, found);
        KVARTS_TRY(const PutOptions put, PutOptionsOf(options.ttl, txn.Now()));
        txn.Put(physical, value, put);
        return {};
      },
      options);
}

Result<Version> Database::Delete(std::string_view key, const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        txn.Erase(physical);
        return {};
      },
      options);
}

Result<Version> Database::DeleteIf(std::string_view key, Version expected, const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        KVARTS_TRY(const std::optional<Record> found, txn.Get(physical));
        if (!found || found->header.version != expected) return WrongVersion(key, found);
        txn.Erase(physical);
        return {};
      },
      options);
}

Result<Version> Database::DeleteRange(const Range& range, const WriteOptions& options) {
  KVARTS_TRY(const KeyRange physical, PhysicalRange(range, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        txn.EraseRange(physical);
        return {};
      },
      options);
}

Result<Version> Database::Add(std::string_view key, int64_t delta, const WriteOptions& options) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, impl_->limits()));
  return impl_->Run(
      [&](Txn& txn) -> Status {
        txn.Add(physical, delta);
        return {};
      },
      options);
}

Result<Version> Database::RunTransaction(const std::function<Status(Transaction&)>& body, const WriteOptions& options) {
  return impl_->Run(
      [&](Txn& txn) -> Status {
        UserTransaction transaction(txn, impl_->options.max_cursor_age);
        return body(transaction);
      },
      options);
}

Result<std::unique_ptr<Snapshot>> Database::OpenSnapshot() {
  KVARTS_TRY(std::unique_ptr<View> view, impl_->engine->OpenView());
  return std::make_unique<UserSnapshot>(std::move(view), impl_->limits(), impl_->options.max_cursor_age);
}

Result<std::unique_ptr<Watch>> Database::WatchPrefix(std::string_view prefix) {
  KVARTS_TRY(KeyRange range, PhysicalRange(Range::Prefix(prefix), impl_->limits()));
  return std::make_unique<UserWatch>(impl_->store->subscriptions(), std::move(range), impl_->options);
}

Project Database::project(std::string_view name) { return Project(*impl_->tables, name); }

Result<Names> Database::ListProjects(std::string_view after, size_t limit) {
  return impl_->tables->ListProjects(after, limit);
}

Result<Job> Database::WaitForJob(std::string_view id, std::optional<Duration> patience) {
  return impl_->tables->WaitForJob(id, patience);
}

Status Database::Sync() { return impl_->engine->Sync(); }

Timestamp Database::Now() const { return impl_->engine->Now(); }

}  // namespace kvarts
