#include "kvarts/table.h"

#include "api/access.h"
#include "api/row_convert.h"
#include "api/table_service.h"
#include "api/transaction.h"
#include "encoding/json_reader.h"
#include "model/table/description.h"
#include "model/table/rows.h"

namespace kvarts {
namespace {

// A write of a row, once its table is known. What is wrong with its input was found before.
using Write = std::function<Status(RowWriter&, const TableInfo&, RowOutcome*)>;

Result<Write> PutOf(const Document& row, const RowOptions& options) {
  KVARTS_CHECK_OK(row.status());
  KVARTS_TRY(RowCondition condition, ConditionOf(options));
  return Write([put = PutRow{Bytes(row.bytes()), std::move(condition)}](
                   RowWriter& writer, const TableInfo&, RowOutcome* outcome) { return writer.Put(put, outcome); });
}

Result<Write> PatchOf(const Key& key, PatchRow patch, const RowOptions& options) {
  KVARTS_TRY(patch.condition, ConditionOf(options));
  patch.make = options.make;
  return Write([key, patch = std::move(patch)](RowWriter& writer, const TableInfo& table,
                                               RowOutcome* outcome) mutable -> Status {
    KVARTS_TRY(patch.key, table.key().Named(key.values()));
    return writer.Patch(patch, outcome);
  });
}

Result<Write> PatchOf(const Key& key, const Update& update, const RowOptions& options) {
  PatchRow patch;
  KVARTS_TRY(patch.change, UpdateAccess::UpdatesOf(update));
  return PatchOf(key, std::move(patch), options);
}

Result<Write> MergeOf(const Key& key, const Document& change, const RowOptions& options) {
  KVARTS_CHECK_OK(change.status());
  PatchRow patch;
  patch.change = PatchRow::Merge{Bytes(change.bytes())};
  return PatchOf(key, std::move(patch), options);
}

Result<Write> DeleteOf(const Key& key, const RowOptions& options) {
  DeleteRow erase;
  KVARTS_TRY(erase.condition, ConditionOf(options));
  erase.missing_ok = options.missing_ok;
  return Write([key, erase = std::move(erase)](RowWriter& writer, const TableInfo& table,
                                               RowOutcome* outcome) mutable -> Status {
    KVARTS_TRY(erase.key, table.key().Named(key.values()));
    return writer.Delete(erase, outcome);
  });
}

Status Apply(Txn& txn, const Result<TablePtr>& table, const Write& write, RowOutcome* outcome) {
  if (!table.has_value()) return table.error();
  RowWriter writer(txn, **table);
  return write(writer, **table, outcome);
}

Result<JobId> ParseJobId(std::string_view text) {
  const std::optional<Uuid> uuid = Uuid::Parse(text);
  if (!uuid) return Error(ErrorCode::kInvalidArgument, "this is no id of a job", {{"id", Escaped(text)}});
  return JobId{*uuid};
}

Result<std::string> IdOf(const Result<JobId>& job) {
  if (!job.has_value()) return job.error();
  return job->ToString();
}

}  // namespace

struct Table::Impl {
  TableService& service;
  TablePath path;
  std::optional<TableHandle> opened = {};  // once it was used

  Result<TableHandle*> Handle() {
    if (!opened) {
      KVARTS_TRY(Tables* const tables, service.Open());
      opened.emplace(*tables, path);
    }
    return &*opened;
  }
  Result<const TableInfo*> Find() {
    if (!opened) KVARTS_CHECK_OK(Handle());
    return opened->Find();
  }
  RunOptions options() const { return service.RunOptionsOf({}); }

  // A write in a transaction of its own.
  Result<Written> Run(const Result<Write>& write, const RowOptions& options) {
    if (!write.has_value()) return write.error();
    KVARTS_TRY(TableHandle* const handle, Handle());
    const bool wants = options.returning != RowOptions::Returning::kNothing;
    RowOutcome outcome;
    const auto body = [&](Txn& txn) -> Status {
      outcome = {};
      return Apply(txn, handle->Use(txn), *write, wants ? &outcome : nullptr);
    };
    KVARTS_TRY(const RunReport report, service.store().RunBody(body, service.RunOptionsOf(options.durability)));
    Written written{.version = report.version, .document = {}};
    std::optional<Bytes>& shown = options.returning == RowOptions::Returning::kBefore ? outcome.before : outcome.after;
    if (wants && shown) written.document = DocumentAccess::Of(*std::move(shown));
    return written;
  }
};

Table::Table(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Table::Table(const Table& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Table& Table::operator=(const Table& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;
Table::~Table() = default;

Table Dataset::table(std::string_view name) const {
  return Table(std::make_unique<Table::Impl>(*service_, TablePath{project_, name_, std::string(name)}));
}

Status Table::Create(std::string_view declaration) {
  JsonReader json(declaration);
  TableSpec spec = ReadTableSpec(json);
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  KVARTS_CHECK_OK(tables->CreateTable(impl_->path, std::move(spec), impl_->options()));
  return {};
}

Status Table::Alter(std::string_view change) {
  JsonReader json(change);
  Tables::TableChange wanted;
  json.Object([&](std::string_view name) {
    if (!ReadTableChange(json, name, &wanted)) json.Unknown(name);
  });
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  KVARTS_CHECK_OK(tables->AlterTable(impl_->path, wanted, impl_->options()));
  return {};
}

Status Table::Rename(std::string_view new_name) {
  KVARTS_CHECK_OK(CheckCatalogName(new_name));
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  KVARTS_CHECK_OK(tables->RenameTable(impl_->path, new_name, impl_->options()));
  impl_->path.table = new_name;
  impl_->opened.reset();
  return {};
}

Result<std::string> Table::Drop() {
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  return IdOf(tables->DropTable(impl_->path, impl_->options()));
}

Result<std::string> Table::Describe() {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  WriteTableDescription(json, impl_->path, *table);
  json.EndObject();
  return text;
}

Result<std::string> Table::CreateIndex(std::string_view name, std::string_view declaration, uint32_t throttle) {
  JsonReader json(declaration);
  IndexSpec spec = ReadIndexSpec(json, {}, name);
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  KVARTS_TRY(const Tables::IndexWork work,
             tables->CreateIndex(impl_->path, std::move(spec), throttle, impl_->options()));
  return work.job.ToString();
}

Result<std::string> Table::DropIndex(std::string_view name) {
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  KVARTS_TRY(const Tables::IndexWork work, tables->DropIndex(impl_->path, name, impl_->options()));
  return work.job.ToString();
}

Result<std::string> Table::Verify(uint32_t throttle) {
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  return IdOf(tables->StartVerify(impl_->path, throttle, impl_->options()));
}

Result<std::string> Table::Repair(std::string_view verified, uint32_t throttle) {
  std::optional<JobId> found_by;
  if (!verified.empty()) {
    KVARTS_TRY(found_by, ParseJobId(verified));
  }
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  return IdOf(tables->StartRepair(impl_->path, found_by, throttle, impl_->options()));
}

Result<std::string> Table::UndoRepair(std::string_view repair) {
  KVARTS_TRY(const JobId id, ParseJobId(repair));
  KVARTS_TRY(Tables* const tables, impl_->service.Open());
  return IdOf(tables->UndoRepair(impl_->path, id, impl_->options()));
}

Result<std::optional<Row>> Table::Get(const Key& key) {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  ReadRow read;
  KVARTS_CHECK_OK(GetRow(impl_->service.engine(), *table, key.values(), {}, &read));
  return ToRow(std::move(read));
}

Result<std::vector<std::optional<Row>>> Table::GetMany(std::span<const Key> keys) {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  std::vector<std::span<const Item>> values;
  values.reserve(keys.size());
  for (const Key& key : keys) values.push_back(key.values());
  KVARTS_TRY(RowsRead read, GetRows(impl_->service.engine(), *table, values));
  std::vector<std::optional<Row>> rows;
  for (size_t i = 0; i < keys.size(); ++i) rows.push_back(ToRow(std::move(read.records[i]), read.rows[i]));
  return rows;
}

Result<Rows> Table::Find(const Query& query) {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  KVARTS_TRY(const RowQuery asked, ToQuery(*table, query));
  KVARTS_TRY(RowPage page, QueryRows(impl_->service.engine(), *table, asked, impl_->service.cursors()));
  return ToRows(std::move(page));
}

Result<Rows> Table::Scan(const TableScan& scan) {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  KVARTS_TRY(const RowScan asked, ToScan(scan));
  KVARTS_TRY(RowPage page, ScanRows(impl_->service.engine(), *table, asked, impl_->service.cursors()));
  return ToRows(std::move(page));
}

Result<std::vector<std::string>> Table::Split(size_t parts, const TableScan& scan) {
  KVARTS_TRY(const TableInfo* table, impl_->Find());
  KVARTS_TRY(const RowScan asked, ToScan(scan));
  return SplitScan(impl_->service.engine(), *table, asked, parts, impl_->service.cursors());
}

Result<Written> Table::Put(const Document& row, const RowOptions& options) {
  return impl_->Run(PutOf(row, options), options);
}
Result<Written> Table::Patch(const Key& key, const Update& update, const RowOptions& options) {
  return impl_->Run(PatchOf(key, update, options), options);
}
Result<Written> Table::Merge(const Key& key, const Document& patch, const RowOptions& options) {
  return impl_->Run(MergeOf(key, patch, options), options);
}
Result<Written> Table::Delete(const Key& key, const RowOptions& options) {
  return impl_->Run(DeleteOf(key, options), options);
}

struct TableInTransaction::Parts {
  Txn& txn;
  TablePtr table;

  static Result<Parts> Of(Table& table, Transaction& transaction) {
    auto* const user = dynamic_cast<UserTransaction*>(&transaction);
    if (user == nullptr) return Error(ErrorCode::kInvalidArgument, "this is no transaction of a database");
    KVARTS_TRY(TableHandle* const handle, table.impl_->Handle());
    KVARTS_TRY(TablePtr used, user->Use(*handle));
    return Parts{user->txn(), std::move(used)};
  }
  static Status Run(Table& table, Transaction& transaction, const Result<Write>& write) {
    if (!write.has_value()) return write.error();
    KVARTS_TRY(const Parts parts, Of(table, transaction));
    return Apply(parts.txn, parts.table, *write, nullptr);
  }
};

Result<std::optional<Row>> TableInTransaction::Get(const Key& key) {
  KVARTS_TRY(const Parts parts, Parts::Of(table_, transaction_));
  ReadRow read;
  KVARTS_CHECK_OK(GetRow(parts.txn, *parts.table, key.values(), &read));
  return ToRow(std::move(read));
}

Result<Rows> TableInTransaction::Find(const Query& query) {
  KVARTS_TRY(const Parts parts, Parts::Of(table_, transaction_));
  KVARTS_TRY(const RowQuery asked, ToQuery(*parts.table, query));
  KVARTS_TRY(RowPage page, QueryRows(parts.txn, *parts.table, asked, table_.impl_->service.cursors()));
  return ToRows(std::move(page));
}

Status TableInTransaction::Put(const Document& row, const RowOptions& options) {
  return Parts::Run(table_, transaction_, PutOf(row, options));
}
Status TableInTransaction::Patch(const Key& key, const Update& update, const RowOptions& options) {
  return Parts::Run(table_, transaction_, PatchOf(key, update, options));
}
Status TableInTransaction::Merge(const Key& key, const Document& patch, const RowOptions& options) {
  return Parts::Run(table_, transaction_, MergeOf(key, patch, options));
}
Status TableInTransaction::Delete(const Key& key, const RowOptions& options) {
  return Parts::Run(table_, transaction_, DeleteOf(key, options));
}

}  // namespace kvarts
