// Keys: the commands of commands.h as functions over a transaction.
#pragma once

#include "core/txn.h"
#include "model/keys/commands.h"

namespace kvarts::keys {

// Carries a command out. Commands of one transaction see what those before them wrote; conditions are of the state before
// all of them. `outcome` may be null.
Status Apply(Txn& txn, const Command& command, Outcome* outcome);

Status ApplyPut(Txn& txn, const Put& put, Outcome* outcome);
Status ApplyDelete(Txn& txn, const Delete& command);
Status ApplyTouch(Txn& txn, const Touch& touch, Outcome* outcome);
Status ApplyIncrement(Txn& txn, const Increment& increment, Outcome* outcome);
Status ApplyAppend(Txn& txn, const Append& append, Outcome* outcome);
Status ApplyAdd(Txn& txn, const Add& add);
Status ApplyDeleteRange(Txn& txn, const DeleteRange& command);

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
