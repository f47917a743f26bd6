// The catalog: projects, datasets and tables by their names.
#include "model/table/tables.h"

#include <gmock/gmock.h>

#include <thread>

#include "support/tables.h"

namespace kvarts::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kPlain = R"({"key": {"partition": ["id"]}})";

class TablesTest : public TablesFixture {
 protected:
  std::vector<std::string> NamesOf(const Result<NamesPage>& page) {
    EXPECT_TRUE(page) << page.error();
    std::vector<std::string> names;
    if (page.has_value()) {
      for (const NamedId& named : page->names) names.push_back(named.name);
    }
    return names;
  }
};
KVARTS_ON_EVERY_ENGINE(TablesTest);

TEST_P(TablesTest, BeginsWithItsOwnTablesAndNothingElse) {
  EXPECT_THAT(NamesOf(tables().ListProjects("", 10)), ElementsAre());
  const auto names = tables().Find({"_system", "_catalog", "_names"});
  ASSERT_TRUE(names) << names.error();
  EXPECT_EQ((*names)->stored().id.ToString(), "ffffffff-ffff-0000-0000-000000000000");
  EXPECT_EQ(tables().Find({"_system", "_catalog", "_tables"}).value()->stored().id.ToString(),
            "ffffffff-ffff-0000-0000-000000000003");
  EXPECT_EQ(tables().Find({"_system", "_catalog", "other"}).error().code(), ErrorCode::kNotFound);
}

TEST_P(TablesTest, ATableIsFoundByItsNames) {
  const TablePtr made = MustCreate("orders", kPlain);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->stored().name, "orders");
  EXPECT_GE(made->stored().number, kFirstTableNumber);
  const TablePtr found = tables().Find(At("orders")).value();
  EXPECT_EQ(found->stored().id, made->stored().id);
  EXPECT_EQ(found->spec(), made->spec());
  EXPECT_EQ(tables().Find(At("other")).error().ToString(), "not_found: there is no such table (name=other)");
  EXPECT_EQ(tables().Find({"acme", "other", "orders"}).error().ToString(),
            "not_found: there is no such dataset (name=other)");
  EXPECT_EQ(tables().Find({"other", "shop", "orders"}).error().ToString(),
            "not_found: there is no such project (name=other)");
}

TEST_P(TablesTest, IsThereAfterARestart) {
  if (!GetParam().persistent) GTEST_SKIP();
  const TablePtr made = MustCreate("orders", R"({
    "key": {"partition": [{"name": "tenant", "max_length": 10}], "sort": [{"name": "at", "type": "timestamp", "order": "desc"}]},
    "ttl": {"field": "until", "default": 60},
    "schema": {"type": "object", "required": ["tenant"]},
    "indexes": [{"name": "by_mail", "partition": [{"path": "mail", "lower": true, "trim": true}], "unique": true,
                 "where": "active = true", "include": ["total"]}]})");
  RestartAll();
  const TablePtr found = tables().Find(At("orders")).value();
  EXPECT_EQ(found->stored().id, made->stored().id);
  EXPECT_EQ(found->stored().number, made->stored().number);
  EXPECT_EQ(found->spec(), made->spec());
  ASSERT_EQ(found->indexes().size(), 1u);
  EXPECT_EQ(found->indexes()[0].spec, made->indexes()[0].spec);
  EXPECT_EQ(found->indexes()[0].state, IndexState::kReady);
}

TEST_P(TablesTest, ANameIsTakenOnceInItsScope) {
  MustCreate("orders", kPlain);
  EXPECT_EQ(tables().CreateProject("acme").error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(tables().CreateDataset({"acme", "shop"}).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(tables().CreateTable(At("orders"), SpecOf(kPlain)).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(tables().CreateDataset({"acme", "other"}));
  EXPECT_TRUE(tables().CreateTable({"acme", "other", "orders"}, SpecOf(kPlain)));
}

TEST_P(TablesTest, OfManyWhoCreateANameAtOnceOneWins) {
  constexpr int kThreads = 6;
  ASSERT_TRUE(tables().CreateProject("acme"));
  ASSERT_TRUE(tables().CreateDataset({"acme", "shop"}));
  std::atomic<int> won{0};
  std::atomic<int> lost{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const auto made = tables().CreateTable(At("orders"), SpecOf(kPlain));
        if (made.has_value()) ++won;
        if (!made.has_value() && made.error().code() == ErrorCode::kAlreadyExists) ++lost;
      });
    }
  }
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, kThreads - 1);
}

TEST_P(TablesTest, RenamingKeepsWhatThingsAre) {
  const TablePtr made = MustCreate("orders", kPlain);
  MustPut("orders", R"({"id": "1", "n": 1})");
  ASSERT_TRUE(tables().RenameTable(At("orders"), "sales"));
  ASSERT_TRUE(tables().RenameDataset({"acme", "shop"}, "store"));
  ASSERT_TRUE(tables().RenameProject("acme", "globex"));
  EXPECT_EQ(tables().Find(At("orders")).error().code(), ErrorCode::kNotFound);
  const TablePtr found = tables().Find({"globex", "store", "sales"}).value();
  EXPECT_EQ(found->stored().id, made->stored().id);
  EXPECT_EQ(found->stored().name, "sales");
  const Bytes key = Document(R"({"id": "1"})");
  const DocumentView view(key);
  EXPECT_TRUE(GetRows(engine(), *found, {&view, 1}).value().rows[0].has_value());
}

TEST_P(TablesTest, ARenamedOneCannotTakeANameThatIsTaken) {
  MustCreate("orders", kPlain);
  MustCreate("sales", kPlain);
  EXPECT_EQ(tables().RenameTable(At("orders"), "sales").error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(tables().RenameTable(At("orders"), "orders"));
  EXPECT_TRUE(tables().Find(At("orders")));
}

TEST_P(TablesTest, NamesAreListedPageByPage) {
  for (const char* name : {"b", "a", "d", "c"}) ASSERT_TRUE(tables().CreateProject(name));
  const auto first = tables().ListProjects("", 3);
  EXPECT_THAT(NamesOf(first), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(first->more);
  const auto rest = tables().ListProjects("c", 3);
  EXPECT_THAT(NamesOf(rest), ElementsAre("d"));
  EXPECT_FALSE(rest->more);
}

TEST_P(TablesTest, NamesHaveAForm) {
  for (const char* name : {"", ".x", "a/b", "a b", "ä", "_system"}) EXPECT_FALSE(tables().CreateProject(name)) << name;
  EXPECT_TRUE(tables().CreateProject(std::string(255, 'a')));
  EXPECT_EQ(tables().CreateProject(std::string(256, 'a')).error().code(), ErrorCode::kInvalidArgument);
}

TEST_P(TablesTest, WhatHasSomethingInItIsNotDropped) {
  MustCreate("orders", kPlain);
  EXPECT_EQ(tables().DropProject("acme").error().code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(tables().DropDataset({"acme", "shop"}).error().code(), ErrorCode::kPreconditionFailed);
  ASSERT_TRUE(tables().DropTable(At("orders")));
  EXPECT_TRUE(tables().DropDataset({"acme", "shop"}));
  EXPECT_TRUE(tables().DropProject("acme"));
  EXPECT_EQ(tables().GetProject("acme").error().code(), ErrorCode::kNotFound);
}

TEST_P(TablesTest, ADroppedTableIsGoneAtOnceAndItsRowsByAJob) {
  const TablePtr made = MustCreate("orders", kPlain);
  for (int i = 0; i < 20; ++i) MustPut("orders", R"({"id": ")" + std::to_string(i) + R"("})");
  ASSERT_TRUE(tables().DropTable(At("orders")));
  EXPECT_EQ(tables().Find(At("orders")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MustFail("orders", Putting(R"({"id": "new"})")).code(), ErrorCode::kNotFound);
  RunJobs();
  ScanRequest all;
  all.range = made->range();
  EXPECT_TRUE(Entries(*NewView(), all).empty());
  const TablePtr again = MustCreate("orders", kPlain);
  EXPECT_NE(again->stored().number, made->stored().number);
  EXPECT_EQ(RowText("orders", R"({"id": "1"})"), "nothing");
}

// A write that was begun before the table was dropped must not end behind it.
TEST_P(TablesTest, NothingIsWrittenIntoATableThatWasDropped) {
  const TablePtr made = MustCreate("orders", kPlain);
  bool dropped = false;
  const auto ran = store().RunBody([&](Txn& txn) -> Status {
    KVARTS_TRY(const TablePtr table, tables().Use(txn, At("orders")));
    if (!std::exchange(dropped, true)) {
      std::jthread([&] { EXPECT_TRUE(tables().DropTable(At("orders"))); }).join();
    }
    return RowWriter(txn, *table).Put({Document(R"({"id": "1"})")}, nullptr);
  });
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code(), ErrorCode::kNotFound);
  RunJobs();
  ScanRequest all;
  all.range = made->range();
  EXPECT_TRUE(Entries(*NewView(), all).empty());
}

TEST_P(TablesTest, WhatADeclarationMayNotSay) {
  MustCreate("orders", kPlain);
  for (
      const char* spec : {
          R"({"key": {"partition": ["id", "id"]}})",
          R"({"key": {"partition": ["id"], "sort": ["id"]}})",
          R"({"key": {"partition": [{"name": "id", "type": "number", "max_length": 3}]}})",
          R"({"key": {"partition": [{"name": "id", "type": "number", "pattern": "x"}]}})",
          R"({"key": {"partition": [{"name": "id", "min_length": 4, "max_length": 3}]}})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "local": true}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "sort": ["a"]}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "local": true, "partition": ["a"], "sort": ["b"]}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "partition": ["a[*]", "b[*]"]}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "partition": [{"path": "a", "type": "number", "lower": true}]}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "partition": ["a"]}, {"name": "i", "partition": ["b"]}]})",
          R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "partition": ["a"], "include": ["x", "x.y"]}]})",
      }) {
    const auto made = tables().CreateTable(At("other"), SpecOf(spec));
    ASSERT_FALSE(made) << spec;
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument) << spec;
  }
}

TEST_P(TablesTest, ASchemaThatChangesHasANewVersion) {
  MustCreate("orders", R"({"key": {"partition": ["id"]}, "schema": {"required": ["n"]}})");
  MustPut("orders", R"({"id": "1", "n": 1})");
  const Error missing = MustFail("orders", Putting(R"({"id": "2"})"));
  EXPECT_EQ(missing.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(missing.field("keyword"), "required");
  Tables::TableChange change;
  change.schema = std::optional<DocumentSchema>();
  const auto altered = tables().AlterTable(At("orders"), change);
  ASSERT_TRUE(altered) << altered.error();
  EXPECT_EQ((*altered)->stored().schema_version, 2u);
  MustPut("orders", R"({"id": "2"})");
}

TEST_P(TablesTest, AChangeThatChangesNothingDisturbsNobody) {
  MustCreate("orders", R"({"key": {"partition": ["id"]}, "ttl": {"field": "until"}, "schema": {"required": ["n"]}})");
  const Version before = tables().Find(At("orders")).value()->version();
  const TableSpec same = tables().Find(At("orders")).value()->spec();
  for (const Tables::TableChange& change :
       {Tables::TableChange{},
        Tables::TableChange{.ttl = same.ttl, .retention = same.retention, .schema = same.schema}}) {
    const auto altered = tables().AlterTable(At("orders"), change);
    ASSERT_TRUE(altered) << altered.error();
    EXPECT_EQ((*altered)->version(), before);
  }
  const auto altered = tables().AlterTable(At("orders"), {.ttl = TtlSpec{.field = "ends"}});
  ASSERT_TRUE(altered) << altered.error();
  EXPECT_GT((*altered)->version(), before);
  EXPECT_EQ((*altered)->spec().ttl->field, "ends");
}

}  // namespace
}  // namespace kvarts::test
