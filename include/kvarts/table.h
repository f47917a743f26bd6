// Tables: rows that are documents, under a declared key, with indexes that change in the same commit as their row. They
// stand in datasets, and those in projects (docs/tables.md).
//
//   auto orders = db.project("acme").dataset("shop").table("orders");
//   orders.Create(R"({"key": {"partition": ["customer"], "sort": [{"name": "n", "type": "number"}]},
//                     "indexes": [{"name": "by_state", "partition": ["state"]}]})");
//   orders.Put({{"customer", "ada"}, {"n", 1}, {"state", "open"}});
//   orders.Patch({"ada", 1}, Update().Set("state", "paid").Increment("changes", 1));
//   orders.Find({.partition = {"paid"}, .index = "by_state"});
//
// Project, Dataset and Table are names that calls are made by. Making one reads nothing, and nothing needs to be there
// yet. They are copied freely, must be gone before their database is, and are for one thread at a time each.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvarts/document.h"
#include "kvarts/durability.h"
#include "kvarts/result.h"
#include "kvarts/time.h"
#include "kvarts/version.h"

namespace kvarts {

class TableService;
class Transaction;

// The key of a row: the values of its fields, those of the partition first.
class Key {
 public:
  Key(std::initializer_list<Item> values) : Key(std::span(values.begin(), values.size())) {}
  explicit Key(std::span<const Item> values) : size_(values.size()) {
    if (size_ <= few_.size()) {
      std::copy(values.begin(), values.end(), few_.begin());
    } else {
      many_.assign(values.begin(), values.end());
    }
  }

  std::span<const Item> values() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
  size_t size_;
  std::array<Item, 4> few_;
  std::vector<Item> many_;  // instead, when they are more
};

struct Row {
  Document document;
  // Of the commit that wrote it. Of a row that an index has answered alone, since it includes what was asked for, of
  // the commit that wrote its entry, which is no version for RowOptions::if_version; who wrote it is not known then.
  Version version;
  std::optional<Timestamp> expiry;  // the instant at which it is gone
  std::string updated_by;
  std::string trace;
  uint32_t schema_version = 0;  // of the table, when it was written; 0: there was none
};

// What must hold for a write, and what it answers with. Conditions are about what was there before the transaction,
// wherever in it the write stands.
struct RowOptions {
  std::optional<Version> if_version = {};
  bool if_absent = false;
  bool if_present = false;
  std::string_view where = {};  // a condition on the fields of the row that is there (docs/expressions.md)

  bool make = false;        // of a patch: a row that is not there is made of its key first; else it is `not_found`
  bool missing_ok = false;  // of a deletion: that there is no row is as good; else it is `not_found`

  enum class Returning : uint8_t { kNothing, kBefore, kAfter };
  Returning returning = Returning::kNothing;
  std::optional<Durability> durability = {};  // Options::durability if not given
};

struct Written {
  Version version;
  // The row before or after the write, if that was asked for and there was one.
  std::optional<Document> document;
};

// Changes of fields at paths. They are all of the row as it was, so their order does not matter.
class Update {
 public:
  Update();
  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  Update& Set(std::string_view path, const Item& value);
  Update& SetIfMissing(std::string_view path, const Item& value);
  Update& Remove(std::string_view path);
  // A number, exactly; what is missing counts as 0.
  Update& Increment(std::string_view path, const Item& by);
  // One element to a list; what is missing counts as an empty one.
  Update& Append(std::string_view path, const Item& element);
  Update& Prepend(std::string_view path, const Item& element);
  // `set` is Document::Set.
  Update& AddToSet(std::string_view path, const Document& set);
  Update& RemoveFromSet(std::string_view path, const Document& set);

 private:
  friend struct UpdateAccess;
  struct Parts;
  Update& Add(uint8_t op, std::string_view path, const Item& value);

  std::unique_ptr<Parts> parts_;
};

// Rows of one partition, in the order of the table's key or of an index.
struct Query {
  // The values of the partition fields, in their order; of a local index those of the table.
  std::vector<Item> partition = {};
  std::string index = {};       // empty: by the table's own key
  std::vector<Item> sort = {};  // values of the leading sort fields
  // Of the sort field behind those: from where to where, or what its text or binary begins with.
  std::optional<Item> from = {};
  bool from_inclusive = true;
  std::optional<Item> to = {};
  bool to_inclusive = true;
  std::optional<Item> prefix = {};

  bool reverse = false;
  std::string filter = {};               // a condition (docs/expressions.md)
  std::vector<std::string> fields = {};  // paths, and nothing else; none: the whole row
  size_t limit = 100;
  size_t max_bytes = 1 << 20;  // of the documents of a page; one row always fits
  std::string cursor = {};     // of the page before, with the same query
};

// All rows of a table, page by page, in the order of keys.
struct TableScan {
  std::string filter = {};
  std::vector<std::string> fields = {};
  size_t limit = 1000;
  size_t max_bytes = 1 << 20;
  std::string cursor = {};  // of the page before, or from Table::Split
};

struct Rows {
  std::vector<Row> rows;
  std::optional<std::string> cursor;  // for the next page; nothing when this was the last
  uint64_t examined = 0;              // rows or index entries that were looked at
};

// Names in their order, and whether there are more behind the last.
struct Names {
  std::vector<std::string> names;
  bool more = false;
};

// What a table is asked and told inside of Database::Transact, by Table::In. `returning` and `durability` of options
// are not looked at. Tables of _system are read outside of transactions only.
class TableInTransaction {
 public:
  Result<std::optional<Row>> Get(const Key& key);
  Result<Rows> Find(const Query& query);
  Status Put(const Document& row, const RowOptions& options = {});
  Status Patch(const Key& key, const Update& update, const RowOptions& options = {});
  Status Merge(const Key& key, const Document& patch, const RowOptions& options = {});
  Status Delete(const Key& key, const RowOptions& options = {});

 private:
  friend class Table;
  struct Parts;
  TableInTransaction(class Table& table, Transaction& transaction) : table_(table), transaction_(transaction) {}

  class Table& table_;
  Transaction& transaction_;
};

class Table {
 public:
  Table(const Table& other);
  Table& operator=(const Table& other);
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;
  ~Table();

  // With a declaration as JSON: key, indexes, ttl, retention, schema, profile. `already_exists` if there is one.
  Status Create(std::string_view declaration);
  // {"ttl": …, "retention": …, "schema": …}: what can be changed of a table; null takes one away, but a retention,
  // of which {"keep": seconds} changes how long it keeps.
  Status Alter(std::string_view change);
  Status Rename(std::string_view new_name);
  // It is gone with the commit; what was in it goes by the job whose id is returned.
  Result<std::string> Drop();
  // Who it is and what was declared of it, with the state of its indexes, as JSON.
  Result<std::string> Describe();

  // Each returns the id of a job (Database::WaitForJob). An index is kept by every write at once and read when its job
  // is done; at most `throttle` rows a second are added to it, if that is not 0.
  Result<std::string> CreateIndex(std::string_view name, std::string_view declaration, uint32_t throttle = 0);
  Result<std::string> DropIndex(std::string_view name);
  // Compares every index with the rows. What differs is rows of _system/_catalog/_findings.
  Result<std::string> Verify(uint32_t throttle = 0);
  // Mends what such a job has found, or without one whatever differs.
  Result<std::string> Repair(std::string_view verified = {}, uint32_t throttle = 0);
  Result<std::string> UndoRepair(std::string_view repair);

  Result<std::optional<Row>> Get(const Key& key);
  // At one point in time, in the order of the keys.
  Result<std::vector<std::optional<Row>>> GetMany(std::span<const Key> keys);
  Result<Rows> Find(const Query& query);
  Result<Rows> Scan(const TableScan& scan = {});
  // Cursors at which as many can begin to scan, or fewer, who together read all rows.
  Result<std::vector<std::string>> Split(size_t parts, const TableScan& scan = {});

  // `row` has at least the fields of the key. It takes the place of what is there.
  Result<Written> Put(const Document& row, const RowOptions& options = {});
  Result<Written> Patch(const Key& key, const Update& update, const RowOptions& options = {});
  // A JSON merge patch (RFC 7396): fields replace fields, null removes.
  Result<Written> Merge(const Key& key, const Document& patch, const RowOptions& options = {});
  Result<Written> Delete(const Key& key, const RowOptions& options = {});

  // The same calls as part of a transaction, which may use any number of tables, and keys beside them. This must
  // outlive what it returns.
  TableInTransaction In(Transaction& transaction) { return {*this, transaction}; }

 private:
  friend class Dataset;
  friend class TableInTransaction;
  struct Impl;
  explicit Table(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

class Dataset {
 public:
  Table table(std::string_view name) const;

  Status Create();
  Status Rename(std::string_view new_name);
  // It must have no tables.
  Status Drop();
  Result<Names> ListTables(std::string_view after = {}, size_t limit = 1000) const;

 private:
  friend class Project;
  Dataset(TableService& service, std::string project, std::string_view name)
      : service_(&service), project_(std::move(project)), name_(name) {}

  TableService* service_;
  std::string project_;
  std::string name_;
};

class Project {
 public:
  Dataset dataset(std::string_view name) const { return {*service_, name_, name}; }

  Status Create();
  Status Rename(std::string_view new_name);
  // It must have no datasets.
  Status Drop();
  Result<Names> ListDatasets(std::string_view after = {}, size_t limit = 1000) const;

 private:
  friend class Database;
  Project(TableService& service, std::string_view name) : service_(&service), name_(name) {}

  TableService* service_;
  std::string name_;
};

// Work that goes on behind the calls that started it.
struct Job {
  std::string id;
  std::string kind;
  std::string state;  // queued, running, paused, done, failed or cancelled
  uint64_t done = 0;
  std::optional<uint64_t> total;
  std::string error;  // of one that failed
};

}  // namespace kvarts
