#include "support/postgres_database.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "engine/postgres/dialect.h"
#include "engine/postgres/schema.h"

namespace kvarts::test {
namespace {

const char* Server() { return std::getenv("KVARTS_TEST_POSTGRES"); }

// The locks on the databases by number. They are of the database that the environment names, where the engine has none.
constexpr const char* kTake =
    "SELECT n FROM generate_series(1, 1000) AS n WHERE pg_try_advisory_lock(1802920308, n) LIMIT 1";

// Whoever is still connected belongs to a test that has ended.
constexpr const char* kEndOthers =
    "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()";

// What a schema is like that nobody has changed since it was made, by these statements: its comment.
std::string Shape() {
  return fmt::format(
      "('{:x} ' || (SELECT md5(string_agg(s.shape, ' ' ORDER BY s.shape)) FROM ("
      "SELECT format('%s %s %s %s', relname, relnatts, relchecks, relhastriggers) FROM pg_class "
      "WHERE relnamespace = to_regnamespace('kvarts') UNION ALL "
      "SELECT format('%s %s', oid, xmin) FROM pg_proc WHERE pronamespace = to_regnamespace('kvarts')) AS s(shape)))",
      std::hash<std::string>()(std::string(postgres::kSchema).append(postgres::kSchemaFunctions)));
}

// A table that is truncated is as a new one, except for what was found out about its columns, which no plan of ours
// needs. Those that always have a row or two need not be.
constexpr const char* kEmpty = R"sql(
DO $$
DECLARE
  v_used text;
BEGIN
  SELECT string_agg(oid::regclass::text, ', ') INTO v_used FROM pg_class
   WHERE relnamespace = 'kvarts'::regnamespace AND relkind = 'r' AND relname NOT IN ('meta', 'state', 'noting')
     AND pg_relation_size(oid) > 0;
  IF v_used IS NOT NULL THEN
    EXECUTE 'TRUNCATE ' || v_used;
  END IF;
END $$;
DELETE FROM kvarts.meta WHERE name NOT IN ('schema_version', 'store');
DELETE FROM kvarts.state;
INSERT INTO kvarts.state DEFAULT VALUES;
DELETE FROM kvarts.noting;
SELECT setval('kvarts.clock', 0, false))sql";

}  // namespace

std::string PostgresDatabase::Missing() {
  if (Server() != nullptr) return {};
  return "there is no PostgreSQL server to test on: ./test starts one, as do scripts/local-cluster up and "
         "eval \"$(scripts/local-cluster env)\"";
}

PostgresDatabase::PostgresDatabase(Holding holding) {
  if (Server() == nullptr) throw std::runtime_error(Missing());
  const std::string server = Server();
  lock_ = Connect(server);
  const std::string name = "kvarts_test_" + Ask(lock_.get(), kTake);
  if (Ask(lock_.get(), fmt::format("SELECT 1 FROM pg_database WHERE datname = '{}'", name)).empty()) {
    Ask(lock_.get(), "CREATE DATABASE " + name);
  }
  target_ = fmt::format("{} dbname={}", server, name);
  const Connection inside = Connect(target_);
  Ask(inside.get(), kEndOthers);
  const bool intact =
      Ask(inside.get(), "SELECT obj_description(to_regnamespace('kvarts'), 'pg_namespace') = " + Shape()) == "t";
  if (intact && holding == Holding::kEmptyStore) {
    Ask(inside.get(), kEmpty);
    return;
  }
  Ask(inside.get(), "SET client_min_messages = warning; DROP SCHEMA IF EXISTS kvarts CASCADE");
  if (holding == Holding::kNothing) return;
  const Status made = postgres::MakeSchema(target_, postgres::CurrentSchema(), postgres::In(std::chrono::seconds(60)));
  if (!made.has_value()) throw std::runtime_error(made.error().ToString());
  Ask(inside.get(), "DO $$ BEGIN EXECUTE format('COMMENT ON SCHEMA kvarts IS %L', " + Shape() + "); END $$");
}

PostgresDatabase::Connection PostgresDatabase::Connect(const std::string& target) {
  Connection connection(PQconnectdb(target.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection.get()));
  return connection;
}

std::string PostgresDatabase::Ask(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(connection));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

std::shared_ptr<void> PostgresDatabase::HoldCommit() const {
  std::shared_ptr<PGconn> connection = Connect(target_);
  Ask(connection.get(), "BEGIN");
  Ask(connection.get(), "SELECT pg_current_xact_id(), pg_advisory_xact_lock_shared(1262902610, 2)");
  return connection;
}

std::string ShardsFileFor(const std::string& data) {
  DatabaseFor(data);
  return data + ".shards.toml";
}

PostgresDatabase& DatabaseFor(const std::string& data) {
  static std::map<std::filesystem::path, std::unique_ptr<PostgresDatabase>> databases;
  std::erase_if(databases, [](const auto& entry) { return !std::filesystem::exists(entry.first); });
  const std::string file = data + ".shards.toml";
  std::unique_ptr<PostgresDatabase>& database = databases[file];
  if (!database) {
    database = std::make_unique<PostgresDatabase>();
    std::ofstream(file) << "[shard.0]\nservers = [\"" << database->target() << "\"]\n";
  }
  return *database;
}

}  // namespace kvarts::test
