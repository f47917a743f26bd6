// The jobs of the catalog: what is erased or moved key by key, in chunks. Each chunk reads the catalog in its own
// transaction, so it goes by what is declared when it is committed. The bytes are in FORMAT.md.
#pragma once

#include <string>

#include "core/job.h"
#include "core/job_runner.h"
#include "encoding/key_range.h"
#include "model/catalog/namespace_table.h"

namespace kvarts {

// Erases the keys of a namespace in a range of the user's, and leaves those of others; then the namespace itself, if it
// is being dropped. Its unit is a key looked at.
struct EraseKeys {
  std::string name;
  KeyRange range;
  bool drop = false;
};
JobSpec EraseKeysJob(const EraseKeys& erase);

// Erases what is older than namespaces keep it. Its unit is a place looked at.
JobSpec RetentionJob();
inline constexpr const char* kRetentionKind = "namespace_retention";

// Moves what lies under a prefix into a namespace, each chunk in one commit. Its unit is a key looked at; what became
// of them stands in its cursor.
struct MoveKeys {
  Bytes source;
  std::string target;
  Bytes target_prefix;
};
JobSpec MoveKeysJob(const MoveKeys& move);

struct MoveReport {
  Bytes next;  // where it goes on
  uint64_t moved = 0;
  uint64_t unfit = 0;  // left where they are: they do not follow the namespace's rules
  uint64_t taken = 0;  // left where they are: the key is there already
  // The first that was left, and why.
  Bytes first_left;
  std::string why;
};
// Of a job "namespace_move", at any time.
Result<MoveReport> ReadMoveReport(const JobRecord& job);

// For the transactions of the catalog.
void EraseForGood(Txn& txn, const KeyRange& user_range);
void EraseNamespace(Txn& txn, std::string_view name);
// Whether a range of keys that agree up to the namespace's retention field can hold only keys of its own.
bool OwnsBuckets(const NamespaceTable& table, const Namespace& space);

}  // namespace kvarts
