// Any body is refused or becomes commands, and commands are carried out as a whole or leave nothing.
// links: kvarts_protocol_http kvarts_engine_memory
#include <cstdint>

#include "engine/memory/memory_engine.h"
#include "model/catalog/catalog.h"
#include "protocol/http/bodies.h"
#include "protocol/http/items.h"
#include "protocol/http/row_bodies.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

// A store that is there for all inputs.
struct Ground {
  std::unique_ptr<Engine> engine = OpenMemoryEngine({});
  std::unique_ptr<Store> store = *Store::Open(*engine);
  std::unique_ptr<Catalog> catalog = *Catalog::Open(*store);
  std::unique_ptr<Tables> tables = *Tables::Open(*store);

  Ground() {
    JsonReader json(R"({"key":{"partition":["id"]},"indexes":[{"name":"i","partition":["a"],"unique":true}]})");
    Expect(tables->CreateProject("p").has_value() && tables->CreateDataset({"p", "d"}).has_value() &&
               tables->CreateTable({"p", "d", "t"}, ReadTableSpec(json)).has_value(),
           "there is a table");
  }
};

void Carry(Ground& ground, const http::CommitBody& body) {
  const Version before = ground.engine->LastVersion();
  RunOptions options;
  options.durability = Durability::kNone;
  const auto ran = ground.store->RunBody(
      [&](Txn& txn) -> Status {
        http::UsedTables used(*ground.tables, txn);
        std::vector<TablePtr> tables;
        for (const http::TableCommand& row : body.rows) {
          KVARTS_TRY(TablePtr table, used.Use(row.table));
          tables.push_back(std::move(table));
        }
        KVARTS_TRY(CatalogGuard guard, ground.catalog->Guard(txn));
        for (const auto& requirement : body.requirements) KVARTS_CHECK_OK(keys::Require(txn, requirement));
        for (const auto& command : body.commands) {
          keys::Outcome outcome;
          KVARTS_CHECK_OK(keys::Apply({txn, guard}, command, &outcome));
          // Whatever was written can be shown.
          Bytes shown;
          JsonWriter json(&shown);
          http::WriteItem(json, keys::KeyOf(command), outcome.header, outcome.value);
        }
        for (size_t i = 0; i < tables.size(); ++i) {
          http::RowResult result;
          KVARTS_CHECK_OK(http::ApplyRow(txn, tables[i], body.rows[i], &result));
          Bytes shown;
          JsonWriter json(&shown);
          json.BeginObject();
          http::WriteRowResult(json, body.rows[i], result);
          json.EndObject();
        }
        return {};
      },
      options);
  if (!ran.has_value()) Expect(ground.engine->LastVersion() == before, "what failed wrote nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Ground ground;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (const auto commit = http::ParseCommitBody(body, 100); commit.has_value()) Carry(ground, *commit);
  if (auto put = http::ParsePutBody(body); put.has_value()) {
    put->key = "key";
    Carry(ground, {{}, {*put}});
  }
  if (const auto patch = http::ParsePatchBody(body); patch.has_value()) Carry(ground, {{}, {*patch}});
  if (const auto keys = http::ParseKeysBody(body, 10); keys.has_value()) Expect(keys->size() <= 10, "the limit holds");
  IgnoreError(http::ParseRangeBody(body));
  if (auto batch = http::ParseRowBatch(body, 100); batch.has_value()) Carry(ground, {.rows = *std::move(batch)});
  if (const auto query = http::ParseRowQuery(body, {.usual = 10, .at_most = 20, .max_bytes = 1000});
      query.has_value()) {
    Expect(query->limit <= 20 && query->max_bytes <= 1000, "the bounds hold");
    const auto table = ground.tables->Find({"p", "d", "t"});
    IgnoreError(QueryRows(*ground.engine, **table, *query, {}));
  }
  if (const auto keys = http::ParseRowKeys(body, 10); keys.has_value())
    Expect(keys->keys.size() <= 10, "the limit holds");
  IgnoreError(http::ParseRowPatch(body));
  IgnoreError(http::ParseSplit(body));
  return 0;
}
