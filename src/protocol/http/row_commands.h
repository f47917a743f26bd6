// Commands about rows, as HTTP gives them: with the names of their table, and of a path with the key as texts, which
// have types once the table is known. They are carried out over a transaction, with others or alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "encoding/json_writer.h"
#include "model/table/rows.h"
#include "model/table/tables.h"

namespace kvarts::http {

struct TableCommand {
  // Which document the answer shows.
  enum class Return : uint8_t { kNone, kBefore, kAfter };

  TablePath table;
  RowCommand command;
  // Of a path: the fields of the key. What else says the key must agree.
  std::vector<std::string> key_texts = {};
  Return shows = Return::kNone;

  // Whether the answer, or whether there is one, tells of what was there.
  bool Reads() const;
};

// What became of one.
struct RowResult {
  TablePtr table;
  Bytes key;           // a document, if the command had it as texts
  RowOutcome outcome;  // if something is to be shown of it
  bool past = false;   // the row that was written has already expired
};

// The tables of many, as one transaction uses them; before anything else is read.
class UsedTables {
 public:
  UsedTables(Tables& tables, Txn& txn) : tables_(tables), txn_(txn) {}
  Result<TablePtr> Use(const TablePath& path);

 private:
  Tables& tables_;
  Txn& txn_;
  std::map<std::string, TablePtr> known_;
};
Status ApplyRow(Txn& txn, const TablePtr& table, const TableCommand& command, RowResult* result);

// The members of an object: "key", and what the command has asked for: "before" or "after", null if there is none, and
// of what is there now its "expiry".
void WriteRowResult(JsonWriter& json, const TableCommand& command, const RowResult& result);
// About how large that is.
size_t ResultBytes(const RowResult& result);

}  // namespace kvarts::http
