#include "engine/postgres/schema.h"

#include <charconv>

namespace kvarts::postgres {
namespace {

Status Did(const std::expected<Rows, Failure>& outcome) {
  if (!outcome.has_value()) return outcome.error().error;
  return {};
}

Result<int> FoundVersion(Connection& connection, Deadline deadline) {
  // to_regclass would answer from what the server has cached, also when somebody else has made it since.
  const auto there = connection.Simple(
      "SELECT (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'meta')"
      " FROM pg_namespace n WHERE n.nspname = 'kvarts'",
      deadline);
  if (!there.has_value()) return there.error().error;
  if (there->size() == 0) return 0;
  int version = 0;
  if (there->Text(0, 0) == "1") {
    const auto found = connection.Simple("SELECT value FROM kvarts.meta WHERE name = 'schema_version'", deadline);
    if (!found.has_value()) return found.error().error;
    if (found->size() == 1) {
      const BytesView text = found->Text(0, 0);
      std::from_chars(text.data(), text.data() + text.size(), version);
    }
  }
  if (version > 0) return version;
  return Error(ErrorCode::kUnavailable, "the schema kvarts of the database is not one of ours");
}

Status Check(int version) {
  if (version <= kSchemaVersion) return {};
  return Error(ErrorCode::kUnavailable, "the database has a schema of a later Kvarts",
               {{"schema_version", std::to_string(version)}, {"known", std::to_string(kSchemaVersion)}});
}

}  // namespace

Status MakeSchema(const std::string& target, Deadline deadline) {
  KVARTS_TRY(const auto connection, Connection::Open(target, {}, deadline));
  KVARTS_TRY(int version, FoundVersion(*connection, deadline));
  if (version != 0) return Check(version);
  KVARTS_CHECK_OK(Did(connection->Simple("BEGIN; SELECT pg_advisory_xact_lock(1262902610, 0)", deadline)));
  KVARTS_TRY(version, FoundVersion(*connection, deadline));  // somebody else may have been first
  if (version != 0) return Check(version);
  KVARTS_CHECK_OK(Did(connection->Simple(std::string(kSchema), deadline)));
  const std::string note = "INSERT INTO kvarts.meta VALUES ('schema_version', '" + std::to_string(kSchemaVersion) +
                           "'), ('store', gen_random_uuid()::text); COMMIT";
  return Did(connection->Simple(note, deadline));
}

Status FindSchema(const std::string& target, Deadline deadline) {
  KVARTS_TRY(const auto connection, Connection::Open(target, {}, deadline));
  KVARTS_TRY(const int version, FoundVersion(*connection, deadline));
  if (version != 0) return Check(version);
  return Error(ErrorCode::kNotFound, "there is no store in the database");
}

}  // namespace kvarts::postgres
