#include "model/table/catalog_rows.h"

#include "base/log.h"
#include "core/fields.h"
#include "core/keyspace.h"
#include "encoding/document_json.h"
#include "model/table/row.h"
#include "model/table/rows.h"

namespace kvarts {
namespace {

constexpr const char* kDamaged = "a row of the catalog is damaged";

// A map of texts, as most rows and all keys of the catalog are.
class Fields {
 public:
  Fields() : writer_(&bytes_) { writer_.BeginMap(); }
  Fields& Add(std::string_view name, std::string_view text) {
    writer_.Name(name).Text(text);
    return *this;
  }
  Fields& Add(std::string_view name, const Uuid& id) { return Add(name, id.ToString()); }
  Fields& Add(std::string_view name, uint64_t number) {
    writer_.Name(name).Int(static_cast<int64_t>(number));
    return *this;
  }
  Bytes Take() {
    writer_.EndMap();
    return std::move(bytes_);
  }

 private:
  Bytes bytes_;
  DocumentWriter writer_;
};

Bytes NameKey(const Uuid& scope, std::string_view name) {
  return Fields().Add("scope", scope).Add("name", name).Take();
}
Bytes TableKey(ProjectId project, DatasetId dataset, TableId table) {
  return Fields().Add("project", project.uuid).Add("dataset", dataset.uuid).Add("table", table.uuid).Take();
}

Status Put(Txn& txn, const TablePtr& table, Bytes row) {
  return RowWriter(txn, *table).Put({.row = std::move(row)}, nullptr);
}
Status Erase(Txn& txn, const TablePtr& table, const Bytes& key) {
  KVARTS_TRY(const KeyBuffer physical, RowKeyOf(*table, DocumentView(key)));
  txn.Erase(physical);
  return {};
}

// Of a transaction or a view.
Result<std::optional<Record>> Get(Txn& txn, BytesView key) { return txn.Get(key); }
Result<std::optional<Record>> Get(View& view, BytesView key) { return view.GetOne(key); }
Version VersionOf(Txn& txn) { return *txn.ViewVersion(); }
Version VersionOf(View& view) { return view.version(); }

Result<Uuid> IdIn(const DocumentView& row, std::string_view name) {
  const std::optional<DocumentView> field = row.Find(name);
  const std::optional<Uuid> id =
      field && field->kind() == DocumentKind::kText ? Uuid::Parse(field->Text()) : std::nullopt;
  if (id) return *id;
  return Error(ErrorCode::kCorruption, kDamaged, {{"field", std::string(name)}});
}

template <class From>
Result<std::optional<Uuid>> FindNameIn(From& from, const Uuid& scope, std::string_view name) {
  const Bytes key_fields = NameKey(scope, name);
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(*NamesTable(), DocumentView(key_fields)));
  KVARTS_TRY(const std::optional<Record> record, Get(from, key));
  if (!record) return std::nullopt;
  KVARTS_TRY(const RowView row, OpenRow(record->value));
  KVARTS_TRY(const Uuid id, IdIn(row.document(), "id"));
  return id;
}

Result<TableInfo::Stored> StoredIn(BytesView value) {
  KVARTS_TRY(const RowView row, OpenRow(value));
  return DecodeTable(row.document());
}

template <class From>
Result<TablePtr> ReadTableIn(From& from, const Bytes& key_fields) {
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(*TablesTable(), DocumentView(key_fields)));
  KVARTS_TRY(const std::optional<Record> record, Get(from, key));
  if (!record) return nullptr;
  KVARTS_TRY(TableInfo::Stored stored, StoredIn(record->value));
  return std::make_shared<const TableInfo>(std::move(stored), key, record->header.version, VersionOf(from));
}

Result<std::string> NameIn(View& view, const TablePtr& table, const Bytes& key_fields) {
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(*table, DocumentView(key_fields)));
  KVARTS_TRY(const std::optional<Record> record, Get(view, key));
  if (!record) return std::string();
  KVARTS_TRY(const RowView row, OpenRow(record->value));
  const std::optional<DocumentView> name = row.document().Find("name");
  if (!name || name->kind() != DocumentKind::kText) return Error(ErrorCode::kCorruption, kDamaged);
  return std::string(name->Text());
}

template <class From>
Result<TablesPage> ReadTablesIn(From& from, BytesView place, size_t limit) {
  ScanRequest request;
  request.range = KeyRange::Prefix(TablesTable()->rows());
  if (!place.empty()) request.range.start = place;
  request.max_entries = limit;
  KVARTS_TRY(const ScanPage page, from.Scan(request));
  TablesPage tables;
  for (size_t i = 0; i < page.size(); ++i) {
    Result<TableInfo::Stored> stored = StoredIn(page[i].value);
    if (!stored.has_value()) {
      // One that is damaged does not stop what is done with the others.
      Log(LogLevel::kWarning, "a table of the catalog cannot be read", stored.error());
      continue;
    }
    tables.tables.push_back(
        std::make_shared<const TableInfo>(*std::move(stored), page[i].key, page[i].header.version, VersionOf(from)));
    tables.places.emplace_back(page[i].key);
  }
  if (page.rest()) tables.rest = page.rest()->start;
  return tables;
}

ScanRequest NamesAfter(const Uuid& scope, std::string_view after, size_t limit) {
  KeyBuffer key;
  key.append(NamesTable()->rows());
  TupleWriter<KeyBuffer>(&key).Begin().Uuid(scope).End();
  ScanRequest request;
  request.range = KeyRange::Prefix(key);
  request.max_entries = limit;
  if (after.empty()) return request;
  TupleWriter<KeyBuffer>(&key).Text(after);
  request.range.start = PrefixEnd(key);
  return request;
}

void WriteIndex(const TableIndex& index, JsonWriter* json) {
  json->BeginObject();
  WriteIndexSpec(index.spec, json);
  json->Field("number", index.number.value).Field("state", IndexStateName(index.state));
  if (index.job) json->Field("job", index.job->ToString());
  json->EndObject();
}

TableIndex ReadIndex(JsonReader& json) {
  TableIndex index;
  index.spec = ReadIndexSpec(json, [&](std::string_view name) {
    if (name == "number") {
      index.number = {json.Uint()};
    } else if (name == "state") {
      const std::optional<IndexState> state = ParseIndexState(json.Text());
      json.Require(state.has_value(), "an unknown state of an index");
      index.state = state.value_or(IndexState::kReady);
    } else if (name == "job") {
      const std::optional<Uuid> job = Uuid::Parse(json.Text());
      json.Require(job.has_value(), "no id of a job");
      if (job) index.job = JobId{*job};
    } else {
      return false;
    }
    return true;
  });
  return index;
}

}  // namespace

Result<std::optional<Uuid>> FindName(Txn& txn, const Uuid& scope, std::string_view name) {
  return FindNameIn(txn, scope, name);
}
Result<std::optional<Uuid>> FindName(View& view, const Uuid& scope, std::string_view name) {
  return FindNameIn(view, scope, name);
}

Status ClaimName(Txn& txn, const Uuid& scope, std::string_view name, const Uuid& id) {
  KVARTS_CHECK_OK(CheckCatalogName(name));
  KVARTS_TRY(const std::optional<Uuid> taken, FindName(txn, scope, name));
  if (taken) {
    return Error(ErrorCode::kAlreadyExists, "the name is taken",
                 {{"name", std::string(name)}, {"id", taken->ToString()}});
  }
  return Put(txn, NamesTable(), Fields().Add("scope", scope).Add("name", name).Add("id", id).Take());
}

Status ReleaseName(Txn& txn, const Uuid& scope, std::string_view name) {
  return Erase(txn, NamesTable(), NameKey(scope, name));
}

Result<std::vector<NamedId>> ListNames(View& view, const Uuid& scope, std::string_view after, size_t limit) {
  std::vector<NamedId> names;
  ScanRequest request = NamesAfter(scope, after, limit);
  while (names.size() < limit) {
    request.max_entries = limit - names.size();
    KVARTS_TRY(const ScanPage page, view.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const RowView row, OpenRow(page[i].value));
      KVARTS_TRY(const Uuid id, IdIn(row.document(), "id"));
      const std::optional<DocumentView> name = row.document().Find("name");
      if (!name || name->kind() != DocumentKind::kText) return Error(ErrorCode::kCorruption, kDamaged);
      names.push_back({std::string(name->Text()), id});
    }
    if (!page.rest()) break;
    request.range = *page.rest();
  }
  return names;
}

Result<bool> HasNames(Txn& txn, const Uuid& scope) {
  ScanRequest request = NamesAfter(scope, {}, 1);
  request.keys_only = true;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  return !page.empty();
}

Status PutProject(Txn& txn, ProjectId project, std::string_view name) {
  return Put(txn, ProjectsTable(), Fields().Add("project", project.uuid).Add("name", name).Take());
}

Status PutDataset(Txn& txn, ProjectId project, DatasetId dataset, std::string_view name) {
  return Put(txn, DatasetsTable(),
             Fields().Add("project", project.uuid).Add("dataset", dataset.uuid).Add("name", name).Take());
}

Status EraseProject(Txn& txn, ProjectId project) {
  return Erase(txn, ProjectsTable(), Fields().Add("project", project.uuid).Take());
}

Status EraseDataset(Txn& txn, ProjectId project, DatasetId dataset) {
  return Erase(txn, DatasetsTable(), Fields().Add("project", project.uuid).Add("dataset", dataset.uuid).Take());
}

Result<std::string> ProjectName(View& view, ProjectId project) {
  return NameIn(view, ProjectsTable(), Fields().Add("project", project.uuid).Take());
}

Result<std::string> DatasetName(View& view, ProjectId project, DatasetId dataset) {
  return NameIn(view, DatasetsTable(), Fields().Add("project", project.uuid).Add("dataset", dataset.uuid).Take());
}

Status PutTable(Txn& txn, const TableInfo::Stored& table) { return Put(txn, TablesTable(), EncodeTable(table)); }

Status AddTable(Txn& txn, const TableInfo::Stored& table) {
  Bytes number = Fields()
                     .Add("number", table.number.value)
                     .Add("project", table.project.uuid)
                     .Add("dataset", table.dataset.uuid)
                     .Add("table", table.id.uuid)
                     .Take();
  KVARTS_CHECK_OK(Put(txn, NumbersTable(), std::move(number)));
  return PutTable(txn, table);
}

Status EraseTable(Txn& txn, const TableInfo& table) {
  const TableInfo::Stored& stored = table.stored();
  KVARTS_CHECK_OK(Erase(txn, NumbersTable(), Fields().Add("number", stored.number.value).Take()));
  return Erase(txn, TablesTable(), TableKey(stored.project, stored.dataset, stored.id));
}

Result<TablePtr> ReadTable(Txn& txn, ProjectId project, DatasetId dataset, TableId table) {
  return ReadTableIn(txn, TableKey(project, dataset, table));
}
Result<TablePtr> ReadTable(View& view, ProjectId project, DatasetId dataset, TableId table) {
  return ReadTableIn(view, TableKey(project, dataset, table));
}

Result<TablesPage> ReadTables(Txn& txn, BytesView place, size_t limit) { return ReadTablesIn(txn, place, limit); }
Result<TablesPage> ReadTables(View& view, BytesView place, size_t limit) { return ReadTablesIn(view, place, limit); }

Result<TablePtr> ReadTable(Txn& txn, TableNumber number) {
  const Bytes key_fields = Fields().Add("number", number.value).Take();
  KVARTS_TRY(const KeyBuffer key, RowKeyOf(*NumbersTable(), DocumentView(key_fields)));
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  if (!record) return nullptr;
  KVARTS_TRY(const RowView row, OpenRow(record->value));
  KVARTS_TRY(const Uuid project, IdIn(row.document(), "project"));
  KVARTS_TRY(const Uuid dataset, IdIn(row.document(), "dataset"));
  KVARTS_TRY(const Uuid table, IdIn(row.document(), "table"));
  return ReadTable(txn, ProjectId{project}, DatasetId{dataset}, TableId{table});
}

Bytes EncodeTable(const TableInfo::Stored& table) {
  Bytes text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Field("project", table.project.ToString()).Field("dataset", table.dataset.ToString());
  json.Field("table", table.id.ToString()).Field("name", table.name).Field("number", table.number.value);
  json.Field("next_index", table.next_index).Field("schema_version", table.schema_version);
  if (table.spec.retention) json.Field("longest_keep", static_cast<uint64_t>(table.longest_keep.micros));
  json.Name("spec").BeginObject();
  WriteTableSpec(table.spec, &json);
  json.EndObject().Name("indexes").BeginArray();
  for (const TableIndex& index : table.indexes) WriteIndex(index, &json);
  json.EndArray().EndObject();
  // What the writers wrote can be read.
  return *DocumentFromJson(text);
}

Result<TableInfo::Stored> DecodeTable(const DocumentView& row) {
  TableInfo::Stored table;
  const Bytes text = DocumentToJson(row);
  JsonReader json(text);
  const auto read_id = [&](Uuid* to) {
    const std::optional<Uuid> id = Uuid::Parse(json.Text());
    json.Require(id.has_value(), "no id");
    *to = id.value_or(Uuid());
  };
  json.Object([&](std::string_view name) {
    if (name == "project") {
      read_id(&table.project.uuid);
    } else if (name == "dataset") {
      read_id(&table.dataset.uuid);
    } else if (name == "table") {
      read_id(&table.id.uuid);
    } else if (name == "name") {
      table.name = json.Text();
    } else if (name == "number") {
      table.number = {json.Uint()};
    } else if (name == "next_index") {
      table.next_index = json.Uint();
    } else if (name == "schema_version") {
      table.schema_version = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "longest_keep") {
      table.longest_keep = Duration::Micros(static_cast<int64_t>(json.Uint(INT64_MAX)));
    } else if (name == "spec") {
      table.spec = ReadTableSpec(json);
    } else if (name == "indexes") {
      json.Array([&] { table.indexes.push_back(ReadIndex(json)); });
    } else {
      json.Unknown(name);
    }
  });
  Status read = json.Finish();
  for (const TableIndex& index : table.indexes) {
    if (read.has_value()) read = CheckIndexSpec(index.spec, table.spec.key);
  }
  if (read.has_value()) return table;
  return Error(ErrorCode::kCorruption, kDamaged,
               {{"table", "_tables"}, {"why", std::string(read.error().text())}, {"row", text}});
}

Result<TableNumber> TakeTableNumber(Txn& txn) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text("tables");
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  uint64_t next = kFirstTableNumber.value;
  if (record) {
    FieldReader fields(record->value);
    next = fields.Varint();
    KVARTS_CHECK_OK(fields.Finish("the number of tables is damaged"));
  }
  Bytes value;
  AppendVarint(&value, next + 1);
  txn.Put(key, value);
  return TableNumber{next};
}

}  // namespace kvarts
