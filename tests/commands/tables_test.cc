// project, dataset, table, index and row, through a server, on a directory and on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "commands/served_store.h"
#include "support/below_model.h"
#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class TableCommands : public CommandsOnEveryWay {
 protected:
  static constexpr const char* kOrders = "acme/shop/orders";

  // A dataset for tables.
  void Shop() const {
    Done({"project", "create", "acme"});
    Done({"dataset", "create", "acme/shop"});
  }
  // Orders of two customers.
  void Orders() const {
    Shop();
    Done({"table", "create", kOrders, "--key", "customer", "--sort", "n:number", "--index",
          R"({"name":"by_state","partition":["state"],"sort":[{"path":"total","order":"desc"}]})"});
    Done({"row", "put", kOrders, "-"},
         R"({"customer":"ada","n":1,"state":"open","total":10})"
         "\n"
         R"({"customer":"ada","n":2,"state":"paid","total":30,"note":"} \" {"})"
         "\n"
         R"({"customer":"ada","n":10,)"
         "\n"
         R"( "state":"open","total":20}{"customer":"bob","n":1,"state":"open","total":15})"
         "\n\n");
  }
  static inline const TablePath kPath = {"acme", "shop", "orders"};
  // Does damage to the store below the model; a server is stopped for that.
  void Damage(const std::function<void(BelowModel&)>& damage) {
    server_.reset();
    {
      BelowModel below(GetParam() == Way::kShards ? cli::Place{.data = {}, .shards = ShardsFileFor(data_)}
                                                  : cli::Place{.data = data_, .shards = {}});
      damage(below);
    }
    if (GetParam() == Way::kServer) server_ = Serve();
  }
  // One field of each line, with blanks between.
  static std::string Totals(const std::string& lines) {
    std::string totals;
    for (const std::string& line : LinesOf(lines)) {
      const size_t at = line.find("\"total\":");
      totals += at == std::string::npos ? " -" : " " + line.substr(at + 8, line.find_first_of(",}", at) - at - 8);
    }
    return totals.empty() ? totals : totals.substr(1);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, TableCommands, kEveryWay, &WayName);

TEST_P(TableCommands, ProjectsAndDatasetsAreMadeListedRenamedAndDropped) {
  EXPECT_EQ(Done({"project", "create", "acme"}), "created acme\n");
  EXPECT_EQ(Run({"project", "create", "acme"}).code, 5);
  EXPECT_EQ(Done({"project", "create", "acme", "--if-missing"}), "acme was there\n");
  EXPECT_EQ(Done({"dataset", "create", "acme/shop"}), "created acme/shop\n");
  EXPECT_EQ(Run({"dataset", "create", "none/shop"}).code, 4);
  EXPECT_THAT(LinesOf(Done({"dataset", "list", "acme"})),
              ElementsAre(MatchesRegex("name +id +created"), MatchesRegex("shop +[-0-9a-f]{36} +2.*Z")));
  EXPECT_THAT(Done({"dataset", "show", "acme/shop"}), AllOf(ContainsRegex("name +shop\n"), ContainsRegex("id +")));
  EXPECT_EQ(Run({"project", "drop", "acme"}).code, 5) << "there is a dataset in it";
  EXPECT_EQ(Done({"project", "rename", "acme", "apex"}), "renamed acme to apex\n");
  EXPECT_EQ(Done({"dataset", "rename", "apex/shop", "store"}), "renamed apex/shop to store\n");
  EXPECT_EQ(Done({"dataset", "drop", "apex/store"}), "done\n");
  EXPECT_EQ(Run({"dataset", "show", "apex/store"}).code, 4);
  Done({"project", "drop", "apex"});
  EXPECT_EQ(Run({"project", "show", "apex"}).code, 4);
}

TEST_P(TableCommands, ListsForProgramsHaveALineForEach) {
  Shop();
  for (const char* name : {"b", "a", "c"}) Done({"table", "create", std::string("acme/shop/") + name, "--key", "id"});
  const std::vector<std::string> lines = LinesOf(Done({"table", "list", "acme/shop", "--json"}));
  EXPECT_THAT(lines,
              ElementsAre(StartsWith(R"({"name":"a",)"), StartsWith(R"({"name":"b",)"), StartsWith(R"({"name":"c",)")));
  for (const std::string& line : lines) EXPECT_TRUE(IsJson(line)) << line;
}

TEST_P(TableCommands, TablesAreDeclaredShownAlteredAndDropped) {
  Shop();
  std::ofstream(temp_ / "schema.json") << R"({"type":"object","properties":{"n":{"type":"number"}}})"
                                       << "\n";
  EXPECT_EQ(Done({"table", "create", "acme/shop/events", "--key", "tenant", "--sort", "at:timestamp:desc", "--ttl",
                  "90d", "--ttl-field", "until", "--schema", temp_ / "schema.json", "--index",
                  R"({"name":"by_kind","partition":["kind"]})"}),
            "created acme/shop/events\n");
  EXPECT_THAT(Done({"table", "show", "acme/shop/events"}),
              AllOf(ContainsRegex("key +tenant:text\n"), ContainsRegex("sort +at:timestamp:desc\n"),
                    HasSubstr(R"({"field":"until","default":7776000)"), ContainsRegex("by_kind +kind .*ready\n")));
  EXPECT_TRUE(IsJson(Done({"table", "show", "acme/shop/events", "--json"})));
  EXPECT_EQ(Run({"row", "put", "acme/shop/events", "a", "2026-07-05T10:15:30Z", R"({"n":"x"})"}).code, 1);
  EXPECT_EQ(Done({"table", "alter", "acme/shop/events", "--no-ttl", "--no-schema"}), "altered acme/shop/events\n");
  Done({"row", "put", "acme/shop/events", "a", "2026-07-05T10:15:30Z", R"({"n":"x"})"});
  EXPECT_THAT(Done({"table", "show", "acme/shop/events"}), Not(HasSubstr("ttl")));
  std::ofstream(temp_ / "none.json") << R"({"minimun":1})";
  EXPECT_EQ(Run({"table", "alter", "acme/shop/events", "--schema", temp_ / "none.json"}).err,
            "kvarts: the schema has a keyword that is not supported (field schema, keyword minimun, schema path "
            "/minimun, did you mean minimum)\n");
  EXPECT_EQ(Done({"table", "rename", "acme/shop/events", "facts"}), "renamed acme/shop/events to facts\n");
  EXPECT_EQ(Run({"table", "show", "acme/shop/events"}).code, 4);
  EXPECT_THAT(Done({"table", "drop", "acme/shop/facts", "--wait"}), MatchesRegex("job [-0-9a-f]{36} is done\n"));
  EXPECT_EQ(Run({"table", "drop", "acme/shop/facts"}).code, 4);
}

TEST_P(TableCommands, ATableMayBeDeclaredByAFile) {
  Shop();
  std::ofstream(temp_ / "spec.json") << R"({"key":{"partition":["id"]},"profile":"ingest"})";
  Done({"table", "create", "acme/shop/log", "--spec", temp_ / "spec.json"});
  EXPECT_THAT(Done({"table", "show", "acme/shop/log"}), ContainsRegex("profile +ingest\n"));
  EXPECT_EQ(Run({"table", "create", "acme/shop/log", "--spec", temp_ / "spec.json"}).code, 5);
  EXPECT_EQ(Done({"table", "create", "acme/shop/log", "--spec", "-", "--if-missing"},
                 R"({"key":{"partition":["id"]},"profile":"ingest"})"),
            "acme/shop/log was there\n");
  // It stays as it is, whatever is declared of it now.
  Done({"table", "alter", "acme/shop/log", "--ttl", "30d"});
  const std::string was = Done({"table", "show", "acme/shop/log", "--json"});
  EXPECT_EQ(Done({"table", "create", "acme/shop/log", "--key", "id", "--if-missing"}), "acme/shop/log was there\n");
  EXPECT_EQ(Done({"table", "create", "acme/shop/log", "--key", "other", "--if-missing", "--json"}), was);
}

TEST_P(TableCommands, WhatARetentionKeepsCanBeChanged) {
  Shop();
  Done(
      {"table", "create", "acme/shop/log", "--spec", "-"},
      R"({"key":{"partition":[{"name":"day","type":"timestamp"}]},"retention":{"field":"day","bucket":60,"keep":60}})");
  Done({"table", "alter", "acme/shop/log", "--keep", "2h"});
  EXPECT_THAT(Done({"table", "show", "acme/shop/log", "--json"}),
              HasSubstr(R"("retention":{"field":"day","bucket":60,"keep":7200})"));
}

TEST_P(TableCommands, RowsArePutReadPatchedAndDeleted) {
  Orders();
  EXPECT_EQ(Done({"row", "get", kOrders, "ada", "2"}),
            R"({"n":2,"note":"} \" {","state":"paid","total":30,"customer":"ada"})"
            "\n");
  EXPECT_EQ(Done({"row", "get", kOrders, "ada", "2", "--fields", "total,state"}), R"({"state":"paid","total":30})"
                                                                                  "\n");
  EXPECT_THAT(Done({"row", "get", kOrders, "ada", "2", "--json"}),
              AllOf(StartsWith(R"({"key":{"customer":"ada","n":2},"value":{)"), HasSubstr("\"version\":")));
  EXPECT_THAT(Done({"row", "put", kOrders, "eve", "-5", R"({"total":1})"}),
              MatchesRegex("put eve -5, version [0-9]{19}\n"));
  EXPECT_THAT(
      LinesOf(Done({"row", "patch", kOrders, "eve", "-5", R"({"note":"x","total":null})", "--return", "after"})),
      ElementsAre(StartsWith("patched eve -5, version "), R"({"n":-5,"note":"x","customer":"eve"})"));
  Done({"row", "patch", kOrders, "zoe", "1", "--update", "--make", "-"}, R"({"increment":{"total":7}})");
  EXPECT_EQ(Totals(Done({"row", "get", kOrders, "zoe", "1"})), "7");
  EXPECT_THAT(Done({"row", "delete", kOrders, "zoe", "1"}), StartsWith("deleted zoe 1, version "));
  for (const char* command : {"get", "delete"}) EXPECT_EQ(Run({"row", command, kOrders, "zoe", "1"}).code, 4);
}

TEST_P(TableCommands, ConditionsOfRowsThatDoNotHoldEndWithFive) {
  Orders();
  const std::string row = R"({"total":1})";
  EXPECT_EQ(Run({"row", "put", kOrders, "ada", "1", row, "--if-absent"}).code, 5);
  EXPECT_EQ(Run({"row", "put", kOrders, "ada", "1", row, "--if-version", "17"}).code, 5);
  EXPECT_EQ(Run({"row", "delete", kOrders, "ada", "1", "--where", "total > 10"}).code, 5);
  EXPECT_EQ(Totals(Done({"row", "get", kOrders, "ada", "1"})), "10");
  Done({"row", "delete", kOrders, "ada", "1", "--where", "total <= 10"});
}

TEST_P(TableCommands, QueriesReadAPartitionInOrder) {
  Orders();
  const std::vector<std::string> ada = {"row", "query", kOrders, "--partition", "customer=ada"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), ada.begin(), ada.end());
    return Totals(Done(words));
  };
  EXPECT_EQ(with({}), "10 30 20") << "numbers sort as numbers";
  EXPECT_EQ(with({"--reverse", "--limit", "2"}), "20 30");
  EXPECT_EQ(with({"--from", "2"}), "30 20");
  EXPECT_EQ(with({"--after", "2"}), "20");
  EXPECT_EQ(with({"--to", "2"}), "10 30");
  EXPECT_EQ(with({"--before", "2"}), "10");
  EXPECT_EQ(with({"--sort", "2"}), "30");
  EXPECT_EQ(with({"--filter", "state = \"open\"", "--fields", "total"}), "10 20");
  const std::vector<std::string> open = {"row", "query", kOrders, "--index", "by_state", "--partition", "state=open"};
  EXPECT_EQ(Totals(Done(open)), "20 15 10");
  EXPECT_THAT(Done({"row", "query", kOrders, "--partition", "customer=nobody"}), IsEmpty());
}

TEST_P(TableCommands, WhatIsNoQueryIsSaidBeforeItIsAsked) {
  Orders();
  EXPECT_EQ(Run({"row", "query", kOrders}).code, 2);
  EXPECT_EQ(Run({"row", "query", kOrders, "--partition", "customer=a", "--from", "1", "--after", "1"}).code, 2);
  EXPECT_EQ(Run({"row", "query", kOrders, "--partition", "customer=a", "--index", "none"}).code, 4);
  const Ran typo = Run({"row", "query", kOrders, "--partition", "custmer=a"});
  EXPECT_EQ(typo.code, 1);
  EXPECT_THAT(typo.err, HasSubstr("did you mean customer?"));
  const Ran type = Run({"row", "query", kOrders, "--partition", "customer=a", "--from", "x"});
  EXPECT_EQ(type.code, 1);
  EXPECT_THAT(type.err, StartsWith("kvarts: a value is of another type (field n, expected a number"));
  const Ran filter = Run({"row", "query", kOrders, "--partition", "customer=a", "--filter", "z >"});
  EXPECT_EQ(filter.code, 1);
  EXPECT_EQ(filter.err, "kvarts: a path, a literal or size() was expected (field filter, condition z >, position 3)\n");
}

TEST_P(TableCommands, AScanGoesThroughAllPagesAndFeedsAPut) {
  Shop();
  for (const char* name : {"acme/shop/a", "acme/shop/b"}) Done({"table", "create", name, "--key", "id:number"});
  std::string rows;
  for (int i = 0; i < 120; ++i) rows += "{\"id\":" + std::to_string(i) + "}\n";
  EXPECT_EQ(Done({"row", "put", "acme/shop/a", "-", "--durability", "none"}, rows), "put 120 rows\n");
  const Ran cut = Run({"row", "scan", "acme/shop/a"});
  EXPECT_THAT(LinesOf(cut.out), SizeIs(100));
  EXPECT_EQ(cut.err, "kvarts: these are the first 100 rows, and there are more: --limit N or --all\n");
  OnTerminal seen(Words({"row", "scan", "acme/shop/a"}));
  EXPECT_THAT(seen.Await("--limit N or --all"), HasSubstr("these are the first 100 rows, and there are more"));
  EXPECT_EQ(seen.Wait(), 0);
  const std::string all = Done({"row", "scan", "acme/shop/a", "--all"});
  Done({"row", "put", "acme/shop/b", "-", "--durability", "none"}, all);
  EXPECT_EQ(Done({"row", "scan", "acme/shop/b", "--all"}), all);
  EXPECT_EQ(Done({"row", "scan", "acme/shop/a", "--filter", "id = 119"}), "{\"id\":119}\n");
}

TEST_P(TableCommands, RowsOfTheInputThatAreNoneSayWhere) {
  Orders();
  const Ran refused = Run({"row", "put", kOrders, "-"}, "{\"customer\":\"x\",\"n\":1}\n{\"customer\":\"x\"}\n");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, StartsWith("kvarts: 1 row was put; refused is the one that ends on line 2\n"));
  for (const char* input : {"[1]\n", "{\"customer\":\"y\"", "17"}) {
    EXPECT_EQ(Run({"row", "put", kOrders, "-"}, input).code, 1) << input;
  }
}

TEST_P(TableCommands, IndexesAreMadeOnlineAndDropped) {
  Orders();
  EXPECT_THAT(Done({"index", "create", kOrders, "by_total", "--partition", "total:number", "--wait"}),
              MatchesRegex("job [-0-9a-f]{36} is done\n"));
  EXPECT_EQ(Totals(Done({"row", "query", kOrders, "--index", "by_total", "--partition", "total=15"})), "15");
  EXPECT_THAT(Done({"index", "list", kOrders}),
              AllOf(ContainsRegex("by_state +state +total:desc "), ContainsRegex("by_total +total:number .*ready")));
  EXPECT_THAT(Done({"index", "show", kOrders, "by_total"}), HasSubstr("by_total"));
  const Ran unique = Run({"index", "create", kOrders, "one", "--partition", "state", "--unique", "--wait"});
  EXPECT_EQ(unique.code, 1) << unique.out;
  EXPECT_THAT(unique.err, HasSubstr("`kvarts index show acme/shop/orders one` lists them"));
  EXPECT_THAT(Done({"index", "show", kOrders, "one"}), HasSubstr("\"customer\":\"ada\"")) << "who is in its way";
  Done({"index", "drop", kOrders, "by_total", "--wait"});
  EXPECT_EQ(Run({"row", "query", kOrders, "--index", "by_total", "--partition", "total=15"}).code, 4);
  EXPECT_EQ(Run({"index", "create", kOrders, "by_state", "--partition", "other"}).code, 5) << "another of the name";
  Done({"index", "create", kOrders, "local", R"({"local":true,"sort":["total"]})", "--wait"});
  EXPECT_EQ(Totals(Done({"row", "query", kOrders, "--index", "local", "--partition", "customer=ada"})), "10 20 30");
}

TEST_P(TableCommands, RowsThatLackTheFieldsOfAnIndexAreInItIfThatIsSaid) {
  Orders();
  Done({"index", "create", kOrders, "sparse", "--partition", "note", "--wait"});
  EXPECT_EQ(Run({"row", "query", kOrders, "--index", "sparse", "--partition", "note=null"}).code, 1);
  Done({"index", "create", kOrders, "all", "--partition", "note", "--not-sparse", "--wait"});
  EXPECT_THAT(LinesOf(Done({"row", "query", kOrders, "--index", "all", "--partition", "note=null"})), SizeIs(3));
}

TEST_P(TableCommands, IndexesAreHeldAgainstTheirRowsAndMended) {
  Orders();
  EXPECT_THAT(LinesOf(Done({"table", "verify", kOrders, "--wait"})),
              ElementsAre(MatchesRegex("job .{36} is done"), "compared 4 rows with 4 entries: nothing differs"));
  const std::string repaired = Done({"table", "repair", kOrders, "--throttle", "100000", "--wait"});
  ASSERT_THAT(repaired, MatchesRegex("job .{36} is done\nmended 0 entries\n"));
  Done({"table", "repair", kOrders, "--undo", repaired.substr(4, 36), "--wait"});
  EXPECT_EQ(Done({"table", "findings", kOrders, repaired.substr(4, 36)}), "");
  EXPECT_EQ(Run({"table", "findings", kOrders, "0197f0a2-7c1e-7b52-9d7c-5a4c8a4b1f00"}).code, 4);
  EXPECT_NE(Run({"table", "repair", kOrders, "--undo", "nonsense"}).code, 0);
  EXPECT_EQ(Run({"table", "repair", kOrders, "--undo", "x", "--throttle", "5"}).code, 2);
  EXPECT_EQ(Run({"table", "verify", "acme/shop/none"}).code, 4);
}

TEST_P(TableCommands, DriftIsFoundAndMended) {
  Orders();
  Damage([](BelowModel& below) {
    below.Erase(below.FirstEntry(kPath, "by_state"));  // of open, with the highest total
    below.PutRow(kPath, R"({"customer":"ada","n":2,"state":"late","total":30})");
  });
  const Ran found = Run({"table", "verify", kOrders, "--wait"});
  EXPECT_EQ(found.code, 3) << found.err;
  EXPECT_THAT(LinesOf(found.out),
              ElementsAre(MatchesRegex("job .{36} is done"), R"(missing in by_state: {"n":2,"customer":"ada"})",
                          R"(missing in by_state: {"n":10,"customer":"ada"})",
                          R"(spurious in by_state: {"n":2,"customer":"ada"})"));
  const Ran json = Run({"table", "verify", kOrders, "--wait", "--json"});
  EXPECT_EQ(json.code, 3) << json.err;
  for (const std::string& line : LinesOf(json.out)) EXPECT_TRUE(IsJson(line)) << line;
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("kind":"missing","index":"by_state","row":{"n":10,"customer":"ada"})"),
                              HasSubstr(R"("kind":"spurious")")));
  const std::string verified = found.out.substr(4, 36);
  const Ran again = Run({"table", "findings", kOrders, verified});
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_EQ(again.out, found.out.substr(found.out.find('\n') + 1));
  const std::string repaired = Done({"table", "repair", kOrders, "--verified", verified, "--wait"});
  EXPECT_THAT(repaired, MatchesRegex("job .{36} is done\nmended 3 entries\n"));
  const std::string repair = repaired.substr(4, 36);
  EXPECT_THAT(Done({"table", "repair", kOrders, "--undo", repair, "--wait"}), HasSubstr("\nundone 3 entries\n"));
  EXPECT_THAT(Done({"table", "repair", kOrders, "--wait"}), HasSubstr("\nmended 3 entries\n"));
  EXPECT_THAT(LinesOf(Done({"table", "verify", kOrders, "--wait"})),
              ElementsAre(MatchesRegex("job .{36} is done"), "compared 4 rows with 4 entries: nothing differs"));
  EXPECT_EQ(Totals(Done({"row", "query", kOrders, "--index", "by_state", "--partition", "state=open"})), "20 15 10");

  // A row that cannot be read is for a person to mend.
  Damage([](BelowModel& below) { below.PutDamaged(kPath, R"({"customer":"bob","n":1})"); });
  EXPECT_THAT(Done({"table", "repair", kOrders, "--wait"}), HasSubstr("\nmended 0 entries, left 1\n"));
  const Ran damaged = Run({"table", "verify", kOrders, "--wait"});
  EXPECT_EQ(damaged.code, 3) << damaged.err;
  EXPECT_THAT(LinesOf(damaged.out), testing::Contains(R"(damaged row: {"n":1,"customer":"bob"})"));
}

TEST_P(TableCommands, ATerminalGetsTables) {
  Orders();
  OnTerminal query(Words({"row", "query", kOrders, "--partition", "customer=ada", "--fields", "total,state"}));
  const std::string shown = query.Await("3 rows");
  EXPECT_THAT(shown, ContainsRegex("customer +n +state +total"));
  EXPECT_THAT(shown, ContainsRegex("ada +10 +open +20"));
  EXPECT_EQ(query.Wait(), 0);
  OnTerminal get(Words({"row", "get", kOrders, "ada", "1"}));
  EXPECT_THAT(get.Await("version "), AllOf(ContainsRegex("customer +ada"), ContainsRegex("total +10")));
  EXPECT_EQ(get.Wait(), 0);
}

TEST(TableWords, WhatCannotBeMeantIsRefusedAtOnce) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const Ran ran = RunKvarts(words);
    EXPECT_EQ(ran.code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refusal({"table", "show", "orders"}), HasSubstr("as in acme/shop/orders: orders"));
  EXPECT_THAT(refusal({"dataset", "show", "a/b/c"}), HasSubstr("as in acme/shop"));
  refusal({"project", "show", "../x"});
  refusal({"table", "create", "a/b/c"});
  EXPECT_THAT(refusal({"table", "create", "a/b/c", "--key", "id:nmber"}), HasSubstr("did you mean number?"));
  refusal({"table", "create", "a/b/c", "--key", "id:text:number"});
  refusal({"table", "create", "a/b/c", "--key", "id:lower"});
  refusal({"table", "create", "a/b/c", "--key", "id", "--index", "{"});
  refusal({"table", "create", "a/b/c", "--spec", "f", "--ttl", "1d"});
  refusal({"table", "alter", "a/b/c"});
  refusal({"index", "create", "a/b/c", "i"});
  refusal({"index", "create", "a/b/c", "i", "{}", "--unique"});
  EXPECT_THAT(refusal({"row", "get", "a/b/c"}), HasSubstr("an argument is missing: KEY"));
  EXPECT_THAT(refusal({"row", "put", "a/b/c"}), HasSubstr("an argument is missing: ROW"));
  EXPECT_THAT(refusal({"row", "patch", "a/b/c", "1"}), HasSubstr("an argument is missing: CHANGE"));
  EXPECT_THAT(RunKvarts({"row", "help", "put"}).out, HasSubstr("TABLE [KEY]... ROW"));
}

}  // namespace
}  // namespace kvarts::test
