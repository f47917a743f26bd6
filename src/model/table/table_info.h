// A table as the catalog has it: who it is, what was declared of it, which indexes it has and how far they are. It does
// not change; a change makes a new one, with a new version.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "core/job_record.h"
#include "core/seen_version.h"
#include "document/projection.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "model/table/ids.h"
#include "model/table/table_spec.h"

namespace kvarts {

enum class IndexState : uint8_t {
  kBuilding,  // every write keeps it, and a job adds the rows from before; nobody reads it yet
  kReady,
  kDropping,  // nobody keeps or reads it any more, and a job takes its entries away
};
std::string_view IndexStateName(IndexState state);
std::optional<IndexState> ParseIndexState(std::string_view name);

struct TableIndex {
  IndexSpec spec;
  IndexNumber number;
  IndexState state = IndexState::kReady;
  std::optional<JobId> job = {};  // the one that builds it or takes it away
  // What every key of its entries begins with.
  Bytes prefix = {};
  // What of a row its entries hold; of Included::Kind::kSome.
  std::optional<Projection> included = {};

  std::string_view name() const { return spec.name; }
  // Whether writes keep it.
  bool maintained() const { return state != IndexState::kDropping; }
};

class TableInfo {
 public:
  // What the catalog keeps; everything else follows from it.
  struct Stored {
    ProjectId project;
    DatasetId dataset;
    TableId id;
    std::string name;
    TableNumber number;
    TableSpec spec;  // without its indexes, which are below
    std::vector<TableIndex> indexes = {};
    uint64_t next_index = 1;      // the number of the index that is made next
    uint32_t schema_version = 0;  // grows when the schema changes; 0: there never was one
    Duration longest_keep = {};   // of all that the retention ever said
  };

  // As found at `seen_at` under `catalog_key`, with this version.
  TableInfo(Stored stored, BytesView catalog_key, Version version, Version seen_at);

  const Stored& stored() const { return stored_; }
  const TableSpec& spec() const { return stored_.spec; }
  const KeySpec& key() const { return stored_.spec.key; }
  const std::vector<TableIndex>& indexes() const { return stored_.indexes; }
  // Null when there is none.
  const TableIndex* IndexNamed(std::string_view name) const;
  // Whether any of them is kept by writes.
  bool has_indexes() const { return has_indexes_; }
  Version version() const { return version_; }

  // What every key of its rows begins with.
  BytesView rows() const { return rows_; }
  // Everything of the table: rows and entries.
  KeyRange range() const;

  // That the table is still this one: what a transaction rests on that goes by it.
  Precondition Unchanged() const;
  // It was seen unchanged at a later version.
  void SeenAt(Version version) const { seen_at_.Raise(version); }

 private:
  Stored stored_;
  Bytes catalog_key_;
  Version version_;
  Bytes rows_;
  bool has_indexes_ = false;
  mutable SeenVersion seen_at_;
};

using TablePtr = std::shared_ptr<const TableInfo>;

// (7, table, index): what the keys of an index begin with; of the rows, with kRowsNumber.
KeyBuffer IndexPrefix(TableNumber table, IndexNumber index);

}  // namespace kvarts
