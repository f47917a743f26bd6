// What is declared of a table: its key, its indexes, how long its rows live, what they must look like. It is given and
// kept as JSON (docs/tables.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "document/condition.h"
#include "document/path.h"
#include "document/projection.h"
#include "document/schema.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "engine/engine.h"
#include "model/table/key_spec.h"

namespace kvarts {

// A field of an index: what of a row it is sorted by.
struct IndexField {
  DocumentPath path;
  // Nothing: any type that a key can hold. Of a row that has something else there, it is as if it had nothing; with a
  // type, such a row is refused.
  std::optional<KeyType> type = {};
  Order order = Order::kAscending;
  // Of texts, before they are sorted: without space around them, in lower case.
  bool trim = false;
  bool lower = false;

  friend bool operator==(const IndexField&, const IndexField&) = default;
};

// What of a row its entry in an index holds, besides the row's key.
struct Included {
  enum class Kind : uint8_t { kKey, kAll, kSome };
  Kind kind = Kind::kKey;
  std::vector<DocumentPath> paths = {};  // of kSome; the fields of the index and of the row's key are there in any case

  friend bool operator==(const Included&, const Included&) = default;
};

struct IndexSpec {
  static constexpr size_t kMaxFields = 16;
  static constexpr size_t kMaxIncluded = 100;

  std::string name;
  // A local index sorts the rows of each partition of the table; a global one has partitions of its own.
  bool local = false;
  bool unique = false;
  // A row that lacks one of the fields has no entry; otherwise it has one with null there.
  bool sparse = true;
  std::vector<IndexField> partition;    // of a global one, at least one
  std::vector<IndexField> sort;         // of a local one, at least one
  std::optional<Condition> where = {};  // rows for which it does not hold have no entry
  Included included = {};

  friend bool operator==(const IndexSpec&, const IndexSpec&) = default;
};

// When rows go.
struct TtlSpec {
  // A field of the row that has the time, as a timestamp or as seconds since 1970. A row that has none, or something
  // else there, lives as long as others.
  std::string field;
  std::optional<Duration> standard = {};  // of rows whose field says nothing

  friend bool operator==(const TtlSpec&, const TtlSpec&) = default;
};

// Rows of a time bucket that go together: all of them end at the same instant, some time after their bucket has, and
// are taken away as ranges of keys. What was kept longer when a row was written is kept for that row.
struct RetentionSpec {
  std::string field;  // of the key, a timestamp
  Duration bucket = Duration::Seconds(24 * 60 * 60);
  Duration keep = {};

  // Where the bucket of a time begins; they are counted from 1970 on.
  Timestamp BucketOf(Timestamp time) const;
  // When rows of a time end.
  Timestamp EndOf(Timestamp time) const;

  friend bool operator==(const RetentionSpec&, const RetentionSpec&) = default;
};

// What a change says of a retention that is there; the rest of it stays.
struct RetentionChange {
  std::optional<std::string> field = {};
  std::optional<Duration> bucket = {};
  Duration keep = {};

  RetentionSpec Of(RetentionSpec retention) const;
};

struct TableSpec {
  static constexpr size_t kMaxIndexes = 64;

  KeySpec key;
  std::vector<IndexSpec> indexes = {};
  std::optional<TtlSpec> ttl = {};
  std::optional<RetentionSpec> retention = {};
  std::optional<DocumentSchema> schema = {};  // what a row must look like
  Profile profile = Profile::kLookup;

  friend bool operator==(const TableSpec&, const TableSpec&) = default;
};

// What is wrong is said by the reader.
TableSpec ReadTableSpec(JsonReader& json);
// `other(name)` takes a field that is not the declaration's, and says whether it has. An index whose name is known
// need not say it.
IndexSpec ReadIndexSpec(JsonReader& json, const std::function<bool(std::string_view)>& other = {},
                        std::string_view known_name = {});
// Parts of a declaration, by themselves.
TtlSpec ReadTtlSpec(JsonReader& json);
RetentionSpec ReadRetentionSpec(JsonReader& json);
RetentionChange ReadRetentionChange(JsonReader& json);
std::optional<DocumentSchema> ReadTableSchema(JsonReader& json);
// The fields of an object that is open.
void WriteTableSpec(const TableSpec& spec, JsonWriter* json);
void WriteIndexSpec(const IndexSpec& spec, JsonWriter* json);

// What names of projects, datasets, tables and indexes may be: 1 to 255 of A–Z a–z 0–9 _ . -, not beginning with a dot.
inline constexpr size_t kMaxCatalogNameBytes = 255;
Status CheckCatalogName(std::string_view name);

// The fields that entries of an index hold, of Included::Kind::kSome: what was named, the fields of the row's key, and
// those of the index as the row has them, but for those of each element of a list.
Result<Projection> IncludedFields(const IndexSpec& index, const KeySpec& key);

// That the declaration makes sense as a whole: `invalid_argument` with what does not.
Status CheckTableSpec(const TableSpec& spec);
Status CheckIndexSpec(const IndexSpec& index, const KeySpec& key);

}  // namespace kvarts
