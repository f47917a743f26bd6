// Keys: the commands of commands.h as functions over a transaction.
#pragma once

#include "core/txn.h"
#include "model/catalog/guard.h"
#include "model/keys/commands.h"

namespace kvarts::keys {

// A transaction, and what holds its writes against the namespaces. The guard is entered before anything is read.
struct Writer {
  Txn& txn;
  CatalogGuard& guard;
};

// Carries a command out. Commands of one transaction see what those before them wrote; conditions are of the state
// before all of them. `outcome` may be null.
Status Apply(Writer writer, const Command& command, Outcome* outcome);

// That none of the commands of a commit adds to what an earlier one makes no counter: `invalid_argument`. What was
// there before is not looked at, since an add reads nothing.
Status CheckAdds(std::span<const Command> commands);

Status ApplyPut(Writer writer, const Put& put, Outcome* outcome);
Status ApplyDelete(Writer writer, const Delete& command);
Status ApplyTouch(Writer writer, const Touch& touch, Outcome* outcome);
Status ApplyIncrement(Writer writer, const Increment& increment, Outcome* outcome);
Status ApplyAppend(Writer writer, const Append& append, Outcome* outcome);
Status ApplyAdd(Writer writer, const Add& add);
Status ApplyDeleteRange(Writer writer, const DeleteRange& command);

// What a commit asks of keys that it does not write, or of a range.
struct Requirement {
  Bytes key = {};
  Condition condition = {};
  // Nothing in the range was written after the version.
  std::optional<KeyRange> range = {};
  Version unchanged_since = {};
};
Status Require(Txn& txn, const Requirement& requirement);

}  // namespace kvarts::keys
