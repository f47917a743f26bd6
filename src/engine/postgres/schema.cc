#include "engine/postgres/schema.h"

#include <charconv>

namespace kvarts::postgres {
namespace {

Status Did(const std::expected<Rows, Failure>& outcome) {
  if (!outcome.has_value()) return outcome.error().error;
  return {};
}

Result<int> FoundVersion(Connection& connection, Deadline deadline) {
  const auto there = connection.Simple(kFindSchema, deadline);
  if (!there.has_value()) return there.error().error;
  if (there->size() == 0) return 0;
  int version = 0;
  if (there->Text(0, 0) == "1") {
    const auto found = connection.Simple(kFindSchemaVersion, deadline);
    if (!found.has_value()) return found.error().error;
    if (found->size() == 1) {
      const BytesView text = found->Text(0, 0);
      std::from_chars(text.data(), text.data() + text.size(), version);
    }
  }
  if (version > 0) return version;
  return Error(ErrorCode::kUnavailable, "the schema kvarts of the database is not one of ours");
}

Status Check(int version, const Schema& schema) {
  if (version <= schema.version()) return {};
  return Error(ErrorCode::kUnavailable, "the database has a schema of a later Kvarts",
               {{"schema_version", std::to_string(version)}, {"known", std::to_string(schema.version())}});
}

// What has to be said to get from the version that is there to ours.
std::string StatementsFrom(int version, const Schema& schema) {
  return version == 0 ? MakeSchemaSql(schema.make, schema.functions, schema.version())
                      : RaiseSchemaSql(schema.steps, schema.functions, version, schema.version());
}

}  // namespace

Schema CurrentSchema() { return {kSchema, kSchemaSteps, kSchemaFunctions}; }

Status MakeSchema(const std::string& target, const Schema& schema, Deadline deadline) {
  KVARTS_TRY(const auto connection, Connection::Open(target, {}, deadline));
  KVARTS_TRY(int version, FoundVersion(*connection, deadline));
  if (version >= schema.version()) return Check(version, schema);
  KVARTS_CHECK_OK(Did(connection->Simple(kBeginToMakeSchema, deadline)));
  KVARTS_TRY(version, FoundVersion(*connection, deadline));  // somebody else may have been first
  if (version >= schema.version()) return Check(version, schema);
  return Did(connection->Simple(StatementsFrom(version, schema), deadline));
}

Status FindSchema(const std::string& target, const Schema& schema, Deadline deadline) {
  KVARTS_TRY(const auto connection, Connection::Open(target, {}, deadline));
  KVARTS_TRY(const int version, FoundVersion(*connection, deadline));
  if (version == 0) return Error(ErrorCode::kNotFound, "there is no store in the database");
  if (version >= schema.version()) return Check(version, schema);
  return Error(ErrorCode::kUnavailable,
               "the database has a schema of an earlier Kvarts: a server of this one takes it on",
               {{"schema_version", std::to_string(version)}, {"known", std::to_string(schema.version())}});
}

}  // namespace kvarts::postgres
