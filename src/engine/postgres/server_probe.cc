#include "engine/postgres/server_probe.h"

#include <algorithm>
#include <charconv>

namespace kvarts::postgres {
namespace {

template <class Number>
Number NumberIn(BytesView text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Status ReadServer(const Rows& rows, Observation* seen) {
  enum {
    kInRecovery,
    kSystemId,
    kStarted,
    kTimeline,
    kFlushed,
    kReplayed,
    kAge,
    kSetting,
    kStandbys,
    kWaitedFor,
    kDatabase,
    kDatabaseId
  };
  if (rows.size() != 1 || rows.IsNull(0, kTimeline) || rows.IsNull(0, kReplayed)) {
    return Error(ErrorCode::kUnavailable, "the server does not know yet where it is");
  }
  seen->in_recovery = rows.Text(0, kInRecovery) == "t";
  seen->system_id = rows.Text(0, kSystemId);
  seen->started_us = NumberIn<int64_t>(rows.Text(0, kStarted));
  seen->timeline = NumberIn<uint32_t>(rows.Text(0, kTimeline));
  seen->flushed = NumberIn<uint64_t>(rows.Text(0, kFlushed));
  seen->replayed = NumberIn<uint64_t>(rows.Text(0, kReplayed));
  if (!rows.IsNull(0, kAge)) {
    seen->replay_age = std::chrono::milliseconds(std::max<int64_t>(0, NumberIn<int64_t>(rows.Text(0, kAge))));
  }
  seen->synchronous_standbys = rows.Text(0, kSetting);
  seen->standbys = NumberIn<int>(rows.Text(0, kStandbys));
  seen->waited_for = NumberIn<int>(rows.Text(0, kWaitedFor));
  seen->database = rows.Text(0, kDatabase);
  seen->database_id = NumberIn<uint32_t>(rows.Text(0, kDatabaseId));
  return {};
}

Status ReadMeta(const Rows& rows, Observation* seen) {
  for (int row = 0; row < rows.size(); ++row) {
    const BytesView name = rows.Text(row, 0);
    const BytesView value = rows.Text(row, 1);
    if (name == "schema_version") seen->schema_version = NumberIn<int>(value);
    if (name == "store") seen->store_id = value;
    if (name != "timeline") continue;
    // Of this cluster: data that were restored into another one have its timelines no more.
    const size_t slash = value.find('/');
    if (slash != BytesView::npos && value.substr(0, slash) == seen->system_id) {
      seen->noted_timeline = NumberIn<uint32_t>(value.substr(slash + 1));
    }
  }
  if (seen->schema_version > 0) return {};
  return Error(ErrorCode::kUnavailable, "the schema kvarts of the database is not one of ours");
}

Status Did(const std::expected<Rows, Failure>& outcome) {
  if (!outcome.has_value()) return outcome.error().error;
  return {};
}

}  // namespace

Result<Observation> Observe(Connection& connection, Deadline deadline) {
  if (connection.server_version() < kOldestServer) {
    return Error(ErrorCode::kUnavailable, "the server is too old",
                 {{"version", std::to_string(connection.server_version())}, {"oldest", std::to_string(kOldestServer)}});
  }
  Observation seen;
  seen.at = std::chrono::steady_clock::now();
  const auto server = connection.Simple(kAskServer, deadline);
  if (!server.has_value()) return server.error().error;
  KVARTS_CHECK_OK(ReadServer(*server, &seen));
  const auto made = connection.Simple(kAskWhetherMade, deadline);
  if (!made.has_value()) return made.error().error;
  if (made->Text(0, 0) != "t") return seen;
  const auto meta = connection.Simple(kAskMeta, deadline);
  if (!meta.has_value()) return meta.error().error;
  KVARTS_CHECK_OK(ReadMeta(*meta, &seen));
  if (seen.schema_version > kSchemaVersion) return seen;
  const auto fence = connection.Simple(kAskFence, deadline);
  if (!fence.has_value()) return fence.error().error;
  if (fence->size() == 1 && !fence->IsNull(0, 0)) seen.fenced_by = NumberIn<uint32_t>(fence->Text(0, 0));
  // A replica that has what was noted on a timeline is on that one, whatever else it says.
  if (seen.in_recovery) seen.timeline = std::max(seen.timeline, seen.noted_timeline);
  return seen;
}

Status Fence(Connection& connection, uint32_t timeline, Deadline deadline) {
  return Did(connection.Simple(FenceSql(timeline), deadline));
}

Status LiftFence(Connection& connection, Deadline deadline) { return Did(connection.Simple(LiftFenceSql(), deadline)); }

Status NoteTimeline(Connection& connection, const Observation& primary, Deadline deadline) {
  return Did(connection.Simple(NoteTimelineSql(primary.system_id, primary.timeline), deadline));
}

Result<std::string> ServerName(const std::string& target) {
  char* problem = nullptr;
  PQconninfoOption* const options = PQconninfoParse(target.c_str(), &problem);
  if (options == nullptr) {
    std::string message = problem == nullptr ? "" : problem;
    PQfreemem(problem);
    while (message.ends_with('\n')) message.pop_back();
    return Error(ErrorCode::kInvalidArgument, "libpq cannot read how to reach a server",
                 {{"message", std::move(message)}});
  }
  std::string host;
  std::string port = "5432";
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (keyword == "host" || (keyword == "hostaddr" && host.empty())) host = option->val;
    if (keyword == "port") port = option->val;
  }
  PQconninfoFree(options);
  if (host.contains(',')) {
    return Error(ErrorCode::kInvalidArgument, "a server is one host: several are several servers", {{"host", host}});
  }
  return (host.empty() ? "localhost" : host) + ":" + port;
}

}  // namespace kvarts::postgres
