#include "model/table/system_tables.h"

#include <array>
#include <initializer_list>

#include "core/keyspace.h"
#include "model/table/job_rows.h"

namespace kvarts {
namespace {

struct Field {
  const char* name;
  KeyType type;
};

TablePtr Make(unsigned char place, std::string_view name, std::initializer_list<Field> partition,
              std::initializer_list<Field> sort, std::optional<TtlSpec> ttl = {}) {
  TableInfo::Stored stored;
  stored.project = kSystemProjectId;
  stored.dataset = kCatalogDatasetId;
  stored.id = TableId::Reserved(place);
  stored.name = name;
  stored.number = {place + uint64_t{1}};
  const auto add = [](std::initializer_list<Field> fields, std::vector<KeyField>* to) {
    for (const Field& field : fields) {
      KeyField& added = to->emplace_back();
      added.name = field.name;
      added.type = field.type;
    }
  };
  add(partition, &stored.spec.key.partition);
  add(sort, &stored.spec.key.sort);
  stored.spec.ttl = std::move(ttl);
  return std::make_shared<const TableInfo>(std::move(stored), BytesView(), kNoVersion, kNoVersion);
}

// Of a table with what jobs have left.
TablePtr MakeOfJobs(unsigned char place, std::string_view name) {
  return Make(place, name, {{"table", KeyType::kUuid}, {"job", KeyType::kUuid}}, {{"number", KeyType::kNumber}},
              TtlSpec{std::string(kJobRowEnd)});
}

const std::array<TablePtr, 7>& All() {
  static const std::array<TablePtr, 7> kTables = {
      Make(0, "_names", {{"scope", KeyType::kUuid}}, {{"name", KeyType::kText}}),
      Make(1, "_projects", {{"project", KeyType::kUuid}}, {}),
      Make(2, "_datasets", {{"project", KeyType::kUuid}}, {{"dataset", KeyType::kUuid}}),
      Make(3, "_tables", {{"project", KeyType::kUuid}, {"dataset", KeyType::kUuid}}, {{"table", KeyType::kUuid}}),
      Make(4, "_numbers", {{"number", KeyType::kNumber}}, {}),
      MakeOfJobs(5, "_findings"),
      MakeOfJobs(6, "_journal"),
  };
  return kTables;
}

}  // namespace

const TablePtr& NamesTable() { return All()[0]; }
const TablePtr& ProjectsTable() { return All()[1]; }
const TablePtr& DatasetsTable() { return All()[2]; }
const TablePtr& TablesTable() { return All()[3]; }
const TablePtr& NumbersTable() { return All()[4]; }
const TablePtr& FindingsTable() { return All()[5]; }
const TablePtr& JournalTable() { return All()[6]; }

std::span<const TablePtr> SystemTables() { return All(); }

KeyRange CatalogRange() { return {NamesTable()->range().start, TablesTable()->range().end}; }

}  // namespace kvarts
