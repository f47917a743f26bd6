// Tables as a program that embeds Kvarts uses them, on both engines.
#include "kvarts/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kvarts/database.h"
#include "support/commits.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Returning = RowOptions::Returning;

constexpr const char* kOrders = R"({"key": {"partition": ["customer"], "sort": [{"name": "n", "type": "number"}]},
                                    "indexes": [{"name": "by_state", "partition": ["state"]},
                                                {"name": "by_mail", "partition": ["mail"], "unique": true}]})";

enum class Where { kMemory, kRocksDb };

class TableTest : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    Open();
    ASSERT_TRUE(db().project("acme").Create());
    ASSERT_TRUE(db().project("acme").dataset("shop").Create());
    const Status created = Orders().Create(kOrders);
    ASSERT_TRUE(created) << created.error();
  }
  void Open() {
    db_.reset();
    const Options options{.durability = Durability::kNone};
    auto opened =
        GetParam() == Where::kMemory ? Database::OpenInMemory(options) : Database::Open(temp_ / "data", options);
    ASSERT_TRUE(opened) << opened.error();
    db_.emplace(*std::move(opened));
  }
  Database& db() { return *db_; }
  Dataset Shop() { return db().project("acme").dataset("shop"); }
  Table Orders() { return Shop().table("orders"); }

  static std::string JsonOf(const Result<std::optional<Row>>& row) {
    if (!row.has_value()) return row.error().ToString();
    return *row ? (*row)->document.ToJson() : "nothing";
  }
  // A field of all rows of a query, page by page.
  std::vector<std::string> FieldOf(Table table, Query query, std::string_view field) {
    std::vector<std::string> values;
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = table.Find(query);
      EXPECT_TRUE(page) << page.error();
      if (!page.has_value()) break;
      for (const Row& row : page->rows) values.push_back(row.document.At(field)->ToJson());
      if (!page->cursor) break;
      query.cursor = *page->cursor;
    }
    return values;
  }
  std::string StateAfter(const Result<std::string>& job) {
    EXPECT_TRUE(job) << job.error();
    if (!job.has_value()) return "none";
    const auto ended = db().WaitForJob(*job, Duration::Seconds(60));
    EXPECT_TRUE(ended) << ended.error();
    return ended.has_value() ? ended->state : "none";
  }

 private:
  TempDir temp_;
  std::optional<Database> db_;
};
INSTANTIATE_TEST_SUITE_P(On, TableTest, testing::Values(Where::kMemory, Where::kRocksDb),
                         [](const auto& where) { return where.param == Where::kMemory ? "memory" : "rocksdb"; });

TEST_P(TableTest, PutsGetsAndDeletesRowsInOneLine) {
  const auto put = db().project("acme").dataset("shop").table("orders").Put({{"customer", "ada"}, {"n", 1}});
  ASSERT_TRUE(put) << put.error();
  const auto row = db().project("acme").dataset("shop").table("orders").Get({"ada", 1});
  ASSERT_TRUE(row) << row.error();
  ASSERT_TRUE(row->has_value());
  EXPECT_EQ((*row)->document, (Document{{"n", 1}, {"customer", "ada"}}));
  EXPECT_EQ((*row)->version, put->version);
  EXPECT_FALSE((*row)->expiry);
  ASSERT_TRUE(Orders().Delete({"ada", 1}));
  EXPECT_EQ(JsonOf(Orders().Get({"ada", 1})), "nothing");
  EXPECT_EQ(CodeOf(Orders().Delete({"ada", 1})), "not_found");
  EXPECT_TRUE(Orders().Delete({"ada", 1}, {.missing_ok = true}));
}

TEST_P(TableTest, HoldsWritesToTheirConditions) {
  Table orders = Orders();
  const auto first = orders.Put({{"customer", "ada"}, {"n", 1}, {"state", "open"}}, {.if_absent = true});
  ASSERT_TRUE(first) << first.error();
  EXPECT_EQ(CodeOf(orders.Put({{"customer", "ada"}, {"n", 1}}, {.if_absent = true})), "precondition_failed");
  EXPECT_EQ(CodeOf(orders.Put({{"customer", "ada"}, {"n", 2}}, {.if_present = true})), "precondition_failed");
  EXPECT_EQ(CodeOf(orders.Delete({"ada", 1}, {.where = "state = \"paid\""})), "precondition_failed");
  EXPECT_EQ(CodeOf(orders.Delete({"ada", 1}, {.where = "state ="})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Delete({"ada", 1}, {.if_version = first->version, .if_present = true})), "invalid_argument");
  const auto second = orders.Patch({"ada", 1}, Update().Set("state", "paid"),
                                   {.if_version = first->version, .returning = Returning::kAfter});
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ(second->document->ToJson(), R"({"n":1,"state":"paid","customer":"ada"})");
  EXPECT_EQ(CodeOf(orders.Delete({"ada", 1}, {.if_version = first->version})), "precondition_failed");
  const auto gone = orders.Delete({"ada", 1}, {.if_version = second->version, .returning = Returning::kBefore});
  ASSERT_TRUE(gone) << gone.error();
  EXPECT_EQ(gone->document->Text("state"), "paid");
}

TEST_P(TableTest, PatchesFieldsAndMerges) {
  Table orders = Orders();
  const Update update = std::move(Update()
                                      .Increment("total", Number{"12.50"})
                                      .Append("lines", Document{{"sku", "x-1"}})
                                      .AddToSet("tags", Document::Set({"a", "b"}))
                                      .SetIfMissing("state", "open"));
  EXPECT_EQ(CodeOf(orders.Patch({"ada", 1}, update)), "not_found");
  ASSERT_TRUE(orders.Patch({"ada", 1}, update, {.make = true}));
  ASSERT_TRUE(orders.Patch({"ada", 1}, Update().Increment("total", -2).Prepend("lines", nullptr).Remove("state")));
  EXPECT_EQ(JsonOf(orders.Get({"ada", 1})),
            R"({"n":1,"tags":{"$set":["a","b"]},"lines":[null,{"sku":"x-1"}],"total":10.5,"customer":"ada"})");
  ASSERT_TRUE(orders.Merge({"ada", 1}, {{"lines", nullptr}, {"total", 3}}));
  ASSERT_TRUE(orders.Patch({"ada", 1}, Update().RemoveFromSet("tags", Document::Set({"a", "b"}))));
  EXPECT_EQ(JsonOf(orders.Get({"ada", 1})), R"({"n":1,"total":3,"customer":"ada"})");
  // What is no update is found before anything is read.
  EXPECT_EQ(CodeOf(orders.Patch({"ada", 1}, Update().Set("a..b", 1))), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Patch({"ada", 1}, Update().Increment("n", "one"))), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Patch({"ada", 1}, Update().Set("n", 2))), "invalid_argument");  // of the key
}

TEST_P(TableTest, FindsRowsByKeyAndByIndex) {
  Table orders = Orders();
  for (int n = 0; n < 25; ++n) {
    ASSERT_TRUE(orders.Put({{"customer", "ada"}, {"n", n}, {"state", n % 2 == 0 ? "open" : "paid"}}));
  }
  ASSERT_TRUE(orders.Put({{"customer", "grace"}, {"n", 100}, {"state", "open"}}));
  EXPECT_EQ(FieldOf(orders, {.partition = {"ada"}, .limit = 7}, "n").size(), 25U);
  EXPECT_THAT(FieldOf(orders, {.partition = {"ada"}, .from = 21, .from_inclusive = false}, "n"),
              ElementsAre("22", "23", "24"));
  EXPECT_THAT(FieldOf(orders, {.partition = {"ada"}, .to = 2, .reverse = true}, "n"), ElementsAre("2", "1", "0"));
  EXPECT_EQ(FieldOf(orders, {.partition = {"open"}, .index = "by_state", .limit = 5}, "n").size(), 14U);
  EXPECT_THAT(FieldOf(orders, {.partition = {"paid"}, .index = "by_state", .filter = "n > 20", .fields = {"n"}}, "n"),
              ElementsAre("21", "23"));
  EXPECT_EQ(CodeOf(orders.Find({.partition = {"ada", "x"}})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Find({.partition = {"ada"}, .index = "none"})), "not_found");

  const auto parts = orders.Split(4);
  ASSERT_TRUE(parts) << parts.error();
  size_t found = 0;
  for (const std::string& part : *parts) {
    TableScan scan{.limit = 10, .cursor = part};
    while (true) {
      const auto page = orders.Scan(scan);
      ASSERT_TRUE(page) << page.error();
      found += page->rows.size();
      if (!page->cursor) break;
      scan.cursor = *page->cursor;
    }
  }
  EXPECT_EQ(found, 26U);

  const Key wanted[] = {{"grace", 100}, {"grace", 7}, {"ada", 3}};
  const auto many = orders.GetMany(wanted);
  ASSERT_TRUE(many) << many.error();
  EXPECT_EQ((*many)[0]->document.Text("state"), "open");
  EXPECT_FALSE((*many)[1]);
  EXPECT_EQ((*many)[2]->document.Int("n"), 3);
}

TEST_P(TableTest, TakesPartInTransactions) {
  Table orders = Orders();
  ASSERT_TRUE(Shop().table("totals").Create(R"({"key": {"partition": ["customer"]}})"));
  Table totals = Shop().table("totals");
  const auto place = [&](int n, bool fails) {
    return db().Transact([&](Transaction& txn) -> Status {
      auto in_orders = orders.In(txn);
      KVARTS_CHECK_OK(in_orders.Put({{"customer", "ada"}, {"n", n}, {"state", "open"}}, {.if_absent = true}));
      KVARTS_CHECK_OK(totals.In(txn).Patch({"ada"}, Update().Increment("orders", 1), {.make = true}));
      KVARTS_CHECK_OK(txn.Put("last", std::to_string(n)));
      // It sees its own writes, by an index too.
      KVARTS_TRY(const auto own, in_orders.Get({"ada", n}));
      if (!own) return Error(ErrorCode::kInternal, "its own row is not there");
      KVARTS_TRY(const Rows open, in_orders.Find({.partition = {"open"}, .index = "by_state"}));
      if (open.rows.empty()) return Error(ErrorCode::kInternal, "its own entry is not there");
      if (fails) return Error(ErrorCode::kPreconditionFailed, "no");
      return {};
    });
  };
  const Status placed = place(1, false);
  ASSERT_TRUE(placed) << placed.error();
  EXPECT_EQ(CodeOf(place(2, true)), "precondition_failed");
  EXPECT_EQ(CodeOf(place(1, false)), "precondition_failed");
  EXPECT_EQ((*totals.Get({"ada"}))->document.Int("orders"), 1);
  EXPECT_EQ((*db().Get("last"))->value, "1");
  EXPECT_EQ(JsonOf(orders.Get({"ada", 2})), "nothing");
}

// What happens to a table between two runs of a transaction that uses it: the second goes by what is there then.
TEST_P(TableTest, ATransactionThatIsRunAgainFindsItsTableAnew) {
  struct Case {
    const char* name;
    std::function<void()> between;
    std::string code;
    const char* row_of_orders;
    const char* row_of_sales;
  };
  const char* const kWritten = R"({"n":1,"state":"new","customer":"ada"})";
  const char* const kNone = "not_found";
  const auto rename = [this](const char* from, const char* to) { EXPECT_TRUE(Shop().table(from).Rename(to)); };
  const Case cases[] = {
      {"renamed", [&] { rename("orders", "sales"); }, "not_found", kNone, "nothing"},
      {"renamed there and back",
       [&] {
         rename("orders", "sales");
         rename("sales", "orders");
       },
       "ok", kWritten, kNone},
      {"another in its place",
       [&] {
         rename("orders", "sales");
         EXPECT_TRUE(Orders().Create(kOrders));
       },
       "ok", kWritten, "nothing"},
      {"another with another key in its place",
       [&] {
         rename("orders", "sales");
         EXPECT_TRUE(Orders().Create(R"({"key": {"partition": ["id"]}})"));
       },
       "invalid_argument", "invalid_argument", "nothing"},
  };
  for (const bool reads : {false, true}) {
    for (const Case& one : cases) {
      SCOPED_TRACE(std::string(one.name) + (reads ? ", reading first" : ""));
      Table orders = Orders();
      ASSERT_FALSE(orders.Get({"ada", 1})->has_value());  // and it is known from now on
      int runs = 0;
      const Status ran = db().Transact([&](Transaction& txn) -> Status {
        ++runs;
        auto in_orders = orders.In(txn);
        if (reads) KVARTS_CHECK_OK(in_orders.Get({"ada", 1}));
        if (!reads) KVARTS_CHECK_OK(in_orders.Put({{"customer", "ada"}, {"n", 2}}));
        if (runs == 1) one.between();
        KVARTS_CHECK_OK(txn.Put("runs", std::to_string(runs)));
        return in_orders.Put({{"customer", "ada"}, {"n", 1}, {"state", "new"}});
      });
      EXPECT_EQ(CodeOf(ran), one.code);
      EXPECT_EQ(runs, 2);
      EXPECT_EQ((*db().Get("runs")).has_value(), ran.has_value());
      const auto shown = [](const Result<std::optional<Row>>& row) {
        return row.has_value() ? JsonOf(row) : std::string(CodeOf(row));
      };
      EXPECT_EQ(shown(orders.Get({"ada", 1})), one.row_of_orders);
      EXPECT_EQ(shown(Shop().table("sales").Get({"ada", 1})), one.row_of_sales);
      ASSERT_TRUE(db().Delete("runs"));
      for (const char* name : {"orders", "sales"}) {
        const auto dropped = Shop().table(name).Drop();
        EXPECT_TRUE(dropped || CodeOf(dropped) == "not_found");
      }
      ASSERT_TRUE(Orders().Create(kOrders));
    }
  }
}

TEST_P(TableTest, LosesNoUpdateOfManyThreads) {
  ASSERT_TRUE(Orders().Put({{"customer", "ada"}, {"n", 1}, {"hits", 0}}));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      Table orders = Orders();
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(db().Transact([&](Transaction& txn) -> Status {
          KVARTS_TRY(const auto row, orders.In(txn).Get({"ada", 1}));
          return orders.In(txn).Merge({"ada", 1}, {{"hits", *row->document.Int("hits") + 1}});
        }));
      }
    });
  }
  threads.clear();
  EXPECT_EQ((*Orders().Get({"ada", 1}))->document.Int("hits"), 200);
}

TEST_P(TableTest, NamesTheRowThatHasAUniqueValue) {
  Table orders = Orders();
  ASSERT_TRUE(orders.Put({{"customer", "ada"}, {"n", 1}, {"mail", "a@example.org"}}));
  const auto taken = orders.Put({{"customer", "grace"}, {"n", 2}, {"mail", "a@example.org"}});
  EXPECT_EQ(CodeOf(taken), "already_exists");
  EXPECT_EQ(taken.error().field("index"), "by_mail");
  EXPECT_THAT(std::string(taken.error().field("row")), HasSubstr("ada"));
  EXPECT_EQ(JsonOf(orders.Get({"grace", 2})), "nothing");
}

TEST_P(TableTest, BuildsDropsVerifiesAndRepairsIndexes) {
  Table orders = Orders();
  for (int n = 0; n < 100; ++n) ASSERT_TRUE(orders.Put({{"customer", "ada"}, {"n", n}, {"size", n % 3}}));
  EXPECT_EQ(StateAfter(orders.CreateIndex("by_size", R"({"partition": ["size"]})")), "done");
  EXPECT_EQ(FieldOf(orders, {.partition = {0}, .index = "by_size"}, "n").size(), 34U);
  EXPECT_THAT(*orders.Describe(), HasSubstr(R"("name":"by_size")"));
  EXPECT_EQ(CodeOf(orders.CreateIndex("by_size", R"({"partition": ["size"]})")), "already_exists");
  EXPECT_EQ(StateAfter(orders.Verify()), "done");
  const auto repair = orders.Repair();
  EXPECT_EQ(StateAfter(repair), "done");
  EXPECT_EQ(StateAfter(orders.UndoRepair(*repair)), "done");
  EXPECT_EQ(CodeOf(orders.UndoRepair("nonsense")), "invalid_argument");
  EXPECT_EQ(StateAfter(orders.DropIndex("by_size")), "done");
  EXPECT_EQ(CodeOf(orders.Find({.partition = {0}, .index = "by_size"})), "not_found");
}

TEST_P(TableTest, FollowsWhatBecomesOfATable) {
  Table orders = Orders();
  Table other = Orders();
  ASSERT_TRUE(other.Put({{"customer", "ada"}, {"n", 1}}));
  EXPECT_EQ(CodeOf(orders.Create(kOrders)), "already_exists");
  ASSERT_TRUE(orders.Rename("sales"));
  // The old name leads nowhere any more, for those who have used it, too.
  EXPECT_EQ(CodeOf(other.Get({"ada", 1})), "not_found");
  EXPECT_EQ(CodeOf(other.Put({{"customer", "ada"}, {"n", 2}})), "not_found");
  EXPECT_EQ(JsonOf(orders.Get({"ada", 1})), R"({"n":1,"customer":"ada"})");
  EXPECT_THAT(Shop().ListTables()->names, ElementsAre("sales"));
  // Another table under the name is not taken for it.
  ASSERT_TRUE(other.Create(R"({"key": {"partition": ["id"]}})"));
  EXPECT_EQ(CodeOf(other.Get({"ada", 1})), "invalid_argument");
  ASSERT_TRUE(other.Put({{"id", "x"}}));
  EXPECT_EQ(CodeOf(Shop().Drop()), "precondition_failed");
  EXPECT_EQ(StateAfter(orders.Drop()), "done");
  EXPECT_EQ(StateAfter(other.Drop()), "done");
  EXPECT_EQ(CodeOf(other.Get({"x"})), "not_found");

  ASSERT_TRUE(Shop().Rename("store"));
  EXPECT_THAT(db().project("acme").ListDatasets()->names, ElementsAre("store"));
  ASSERT_TRUE(db().project("acme").dataset("store").Drop());
  ASSERT_TRUE(db().project("acme").Rename("emca"));
  EXPECT_THAT(db().ListProjects()->names, ElementsAre("emca"));
  ASSERT_TRUE(db().project("emca").Drop());
  EXPECT_TRUE(db().ListProjects()->names.empty());
}

TEST_P(TableTest, RowsGoAtTheirInstantAndTheirEntriesWithThem) {
  ASSERT_TRUE(Orders().Alter(R"({"ttl": {"field": "until"}})"));
  Table orders = Orders();
  const Timestamp soon{db().Now().micros + 300'000};
  ASSERT_TRUE(orders.Put({{"customer", "ada"}, {"n", 1}, {"state", "open"}, {"until", soon}}));
  EXPECT_EQ((*orders.Get({"ada", 1}))->expiry, soon);
  while (db().Now() <= soon) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(JsonOf(orders.Get({"ada", 1})), "nothing");
  EXPECT_TRUE(FieldOf(orders, {.partition = {"open"}, .index = "by_state"}, "n").empty());
  EXPECT_EQ(CodeOf(orders.Alter(R"({"key": {}})")), "invalid_argument");
}

TEST_P(TableTest, RefusesWhatDoesNotFitTheKey) {
  Table orders = Orders();
  EXPECT_EQ(CodeOf(orders.Get({"ada"})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Get({"ada", "one"})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Get({7, 1})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Get({"\xff", 1})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Delete({"ada"})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Put({{"customer", "ada"}})), "invalid_argument");
  EXPECT_EQ(CodeOf(orders.Put({{"customer", "\xff"}, {"n", 1}})), "invalid_argument");
  EXPECT_EQ(CodeOf(Shop().table("none").Get({"x"})), "not_found");
  EXPECT_EQ(CodeOf(db().project("_system").dataset("_catalog").table("_tables").Put(Document())), "permission_denied");
  EXPECT_EQ(CodeOf(db().project("a b").Create()), "invalid_argument");
  EXPECT_EQ(CodeOf(db().WaitForJob("x")), "invalid_argument");
}

TEST_P(TableTest, TakesManyKeysAsItTakesOne) {
  Table orders = Orders();
  ASSERT_TRUE(orders.Put({{"customer", "ada"}, {"n", 1}}));
  const Key good[] = {{"ada", 1}, {"ada", 2}, {"ada", 1}};
  const auto found = orders.GetMany(good);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 3U);
  EXPECT_TRUE((*found)[0] && !(*found)[1] && (*found)[2]);
  EXPECT_TRUE(orders.GetMany({})->empty());
  for (const Key& key : {Key{"ada"}, Key{"ada", "one"}, Key{7, 1}, Key{"\xff", 1}, Key{"ada", 1, 2}}) {
    const Key keys[] = {{"ada", 1}, key};
    const auto many = orders.GetMany(keys);
    const auto one = orders.Get(key);
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().ToString(), one.error().ToString());
  }
}

TEST_P(TableTest, TakesEveryTypeOfKeyByPosition) {
  Table all = Shop().table("all");
  ASSERT_TRUE(all.Create(R"({"key": {"partition": [{"name": "at", "type": "timestamp", "order": "desc"}],
      "sort": [{"name": "b", "type": "binary"}, {"name": "t", "type": "bool"}, {"name": "u", "type": "uuid"},
               {"name": "code", "pattern": "[a-z]+", "max_length": 3}]}})"));
  const Timestamp at = *Timestamp::Parse("2026-07-05T10:15:30Z");
  constexpr const char* kUuid = "0190163d-8694-739b-aea5-966c26f8ad90";
  const Document row = {{"at", at}, {"b", Binary{{"\0\xff", 2}}}, {"t", true}, {"u", kUuid}, {"code", "abc"}};
  ASSERT_TRUE(all.Put(row));
  const Key same[] = {{at, Binary{{"\0\xff", 2}}, true, kUuid, "abc"},
                      {"2026-07-05T10:15:30Z", Binary{{"\0\xff", 2}}, true, kUuid, "abc"},
                      {row.Time("at").value(), Binary{*row.Bytes("b")}, *row.Bool("t"), *row.Text("u"), "abc"}};
  for (const Key& key : same) EXPECT_EQ(JsonOf(all.Get(key)), row.ToJson());
  EXPECT_EQ(JsonOf(all.Get({*row.At("at"), *row.At("b"), *row.At("t"), *row.At("u"), *row.At("code")})), row.ToJson());
  EXPECT_EQ(CodeOf(all.Get({at, Binary{"x"}, true, kUuid, "ABC"})), "invalid_argument");
  EXPECT_EQ(CodeOf(all.Get({at, Binary{"x"}, true, kUuid, "abcd"})), "invalid_argument");
  EXPECT_EQ(CodeOf(all.Get({at, "x", true, kUuid, "abc"})), "invalid_argument");
  EXPECT_EQ(CodeOf(all.Get({kNever, Binary{"x"}, true, kUuid, "abc"})), "invalid_argument");
}

TEST_P(TableTest, KeepsEverythingThroughARestart) {
  if (GetParam() == Where::kMemory) GTEST_SKIP() << "nothing outlives it";
  ASSERT_TRUE(Orders().Put({{"customer", "ada"}, {"n", 1}, {"state", "open"}}));
  const auto job = Orders().CreateIndex("by_n", R"({"partition": ["n"]})");
  ASSERT_TRUE(job) << job.error();
  Open();
  EXPECT_EQ(StateAfter(job), "done");
  EXPECT_EQ(FieldOf(Orders(), {.partition = {1}, .index = "by_n"}, "customer").size(), 1U);
}

}  // namespace
}  // namespace kvarts::test
