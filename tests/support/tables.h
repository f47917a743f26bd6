// Tables on every engine, for the tests of the model and of what stands on it. Rows are written as JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/job_runner.h"
#include "encoding/document_json.h"
#include "model/table/query.h"
#include "model/table/rows.h"
#include "model/table/tables.h"
#include "support/stores.h"

namespace kvarts::test {

class TablesFixture : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    OpenTables();
  }
  void TearDown() override {
    tables_.reset();
    StoreTest::TearDown();
  }

  Tables& tables() { return *tables_; }
  void RestartAll() {
    tables_.reset();
    Restart();
    OpenTables();
  }
  // New and empty, with these limits.
  void OpenAllWith(const Limits& limits) {
    tables_.reset();
    OpenWith(limits);
    OpenTables();
  }

  static TablePath At(std::string table) { return {"acme", "shop", std::move(table)}; }
  static Bytes Document(std::string_view json) {
    Result<Bytes> document = DocumentFromJson(json);
    EXPECT_TRUE(document) << document.error() << " " << json;
    return document ? *std::move(document) : Bytes();
  }
  static TableSpec SpecOf(std::string_view json) {
    JsonReader reader(json);
    TableSpec spec = ReadTableSpec(reader);
    const Status read = reader.Finish();
    EXPECT_TRUE(read) << read.error() << " " << json;
    return spec;
  }
  static IndexSpec IndexOf(std::string_view json) {
    JsonReader reader(json);
    IndexSpec spec = ReadIndexSpec(reader);
    const Status read = reader.Finish();
    EXPECT_TRUE(read) << read.error() << " " << json;
    return spec;
  }
  // A table in acme/shop, which is made with the first one.
  TablePtr MustCreate(std::string name, std::string_view spec) {
    if (!tables().GetProject("acme").has_value()) {
      EXPECT_TRUE(tables().CreateProject("acme"));
      EXPECT_TRUE(tables().CreateDataset({"acme", "shop"}));
    }
    auto table = tables().CreateTable(At(std::move(name)), SpecOf(spec));
    EXPECT_TRUE(table) << table.error();
    return table ? *table : nullptr;
  }

  // Commands on one table, in one transaction; the outcome of the last.
  Result<RowOutcome> Apply(const std::string& table, const std::vector<RowCommand>& commands) {
    RowOutcome outcome;
    const auto ran = store().RunBody([&](Txn& txn) -> Status {
      KVARTS_TRY(const TablePtr info, tables().Use(txn, At(table)));
      RowWriter writer(txn, *info);
      for (const RowCommand& command : commands) {
        outcome = {};
        KVARTS_CHECK_OK(writer.Apply(command, &outcome));
      }
      return {};
    });
    if (!ran.has_value()) return ran.error();
    return outcome;
  }
  static RowCommand Putting(std::string_view row, RowCondition condition = {}) {
    return PutRow{Document(row), std::move(condition)};
  }
  RowOutcome MustPut(const std::string& table, std::string_view row) { return MustApply(table, Putting(row)); }
  RowOutcome MustApply(const std::string& table, const RowCommand& command) {
    auto outcome = Apply(table, {command});
    EXPECT_TRUE(outcome) << outcome.error();
    return outcome ? *std::move(outcome) : RowOutcome();
  }
  Error MustFail(const std::string& table, const RowCommand& command) {
    const auto outcome = Apply(table, {command});
    EXPECT_FALSE(outcome);
    return outcome ? Error(ErrorCode::kInternal, "it went through") : outcome.error();
  }

  // The row as JSON, or "nothing".
  std::string RowText(const std::string& table, std::string_view key) {
    const auto info = tables().Find(At(table));
    if (!info.has_value()) return info.error().ToString();
    const Bytes fields = Document(key);
    const DocumentView view(fields);
    const auto read = GetRows(engine(), **info, {&view, 1});
    if (!read.has_value()) return read.error().ToString();
    return read->rows[0] ? DocumentToJson(DocumentView(read->rows[0]->document)) : "nothing";
  }
  Result<RowPage> Ask(const std::string& table, const RowQuery& query) {
    KVARTS_TRY(const TablePtr info, tables().Find(At(table)));
    return QueryRows(engine(), *info, query, {});
  }
  // What a field of the rows of a query holds, in their order.
  std::vector<std::string> FieldOf(const std::string& table, const RowQuery& query, std::string_view field) {
    const auto page = Ask(table, query);
    EXPECT_TRUE(page) << page.error();
    std::vector<std::string> values;
    if (!page.has_value()) return values;
    for (const FoundRow& row : page->rows) {
      const auto value = DocumentView(row.document).Find(field);
      values.push_back(value ? DocumentToJson(*value) : "nothing");
    }
    return values;
  }
  // How many keys an index has stored that have not expired.
  size_t EntryCount(const std::string& table, std::string_view index) {
    const auto info = tables().Find(At(table));
    EXPECT_TRUE(info) << info.error();
    ScanRequest request;
    request.range = KeyRange::Prefix((*info)->IndexNamed(index)->prefix);
    return Entries(*NewView(), request).size();
  }

  // Turns of a runner until there is nothing to do.
  int RunJobs() {
    JobRunner runner(store(), tables().JobKinds());
    int turns = 0;
    while (turns < 10'000) {
      const auto turn = runner.TakeTurn();
      EXPECT_TRUE(turn) << turn.error();
      if (!turn || !turn->worked) break;
      ++turns;
    }
    return turns;
  }

 private:
  void OpenTables() {
    auto opened = Tables::Open(store());
    ASSERT_TRUE(opened) << opened.error();
    tables_ = *std::move(opened);
  }

  std::unique_ptr<Tables> tables_;
};

}  // namespace kvarts::test
