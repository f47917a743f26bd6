// A tour of tables in the embedded database: what a reader can copy into a program of their own.
#include <iostream>

#include "kvarts/database.h"

using kvarts::Database;
using kvarts::Document;
using kvarts::Duration;
using kvarts::ErrorCode;
using kvarts::Number;
using kvarts::Status;
using kvarts::Table;
using kvarts::Transaction;
using kvarts::Update;

namespace {

// What is there from an earlier run is as good.
Status MakeOnce(const Status& made) {
  return !made.has_value() && made.error().code() != ErrorCode::kAlreadyExists ? made : Status();
}

Status Tour(const std::string& dir) {
  KVARTS_TRY(Database db, Database::Open(dir));
  KVARTS_CHECK_OK(MakeOnce(db.project("acme").Create()));
  KVARTS_CHECK_OK(MakeOnce(db.project("acme").dataset("shop").Create()));

  // A table declares its key; its indexes change in the same commit as the row.
  Table orders = db.project("acme").dataset("shop").table("orders");
  KVARTS_CHECK_OK(MakeOnce(orders.Create(R"({
      "key": {"partition": ["customer"], "sort": [{"name": "n", "type": "number"}]},
      "indexes": [{"name": "by_state", "partition": ["state"], "sort": [{"path": "total", "order": "desc"}]}]})")));

  // Rows are documents.
  KVARTS_CHECK_OK(orders.Put({{"customer", "ada"}, {"n", 1}, {"state", "open"}, {"total", Number{"12.50"}}}));
  KVARTS_CHECK_OK(orders.Put({{"customer", "ada"}, {"n", 2}, {"state", "open"}, {"total", 99}}));
  KVARTS_CHECK_OK(
      orders.Patch({"ada", 1}, Update().Increment("total", Number{"2.50"}).Append("lines", Document{{"sku", "x-1"}})));
  KVARTS_TRY(const auto row, orders.Get({"ada", 1}));
  std::cout << "row: " << row->document.ToJson() << ", written " << row->version.time().ToString() << "\n";

  // A condition on the fields of the row that is there.
  const auto refused = orders.Delete({"ada", 1}, {.where = "total > 20"});
  std::cout << "refused: " << refused.error() << "\n";

  // By key and by index, page by page.
  KVARTS_TRY(const auto open, orders.Find({.partition = {"open"}, .index = "by_state", .limit = 10}));
  for (const auto& found : open.rows) std::cout << "open: " << *found.document.Decimal("total") << "\n";

  // Any number of tables, and keys beside them, in one commit.
  const Status paid = db.Transact([&](Transaction& txn) -> Status {
    KVARTS_CHECK_OK(orders.In(txn).Merge({"ada", 2}, {{"state", "paid"}}));
    return txn.Add("orders paid", 1);
  });
  KVARTS_CHECK_OK(paid);

  // Another index, while the table is in use.
  const auto job = orders.CreateIndex("by_sku", R"({"partition": ["lines[*].sku"]})");
  if (job.has_value()) KVARTS_CHECK_OK(db.WaitForJob(*job, Duration::Seconds(60)));
  KVARTS_TRY(const auto with_sku, orders.Find({.partition = {"x-1"}, .index = "by_sku"}));
  std::cout << "rows with x-1: " << with_sku.rows.size() << "\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status done = Tour(argc > 1 ? argv[1] : "tables-data");
  if (!done.has_value()) std::cerr << done.error() << "\n";
  return done.has_value() ? 0 : 1;
}
