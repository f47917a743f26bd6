#include "engine/postgres/connection.h"

#include <algorithm>
#include <cerrno>

namespace kvarts::postgres {
namespace {

using std::chrono::steady_clock;

int MillisUntil(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

std::string Trimmed(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::string StateOf(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

Failure FromResult(const PGresult* result) {
  const std::string state = StateOf(result);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return {FromServer(state, message == nullptr ? Trimmed(PQresultErrorMessage(result)) : message), state, false};
}

bool IsError(ExecStatusType status) {
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || status == PGRES_NONFATAL_ERROR;
}

}  // namespace

Error FromServer(std::string_view sqlstate, std::string_view message) {
  const auto error = [&](ErrorCode code, const char* text) {
    return Error(code, text, {{"sqlstate", std::string(sqlstate)}, {"message", std::string(message)}});
  };
  const std::string_view group = sqlstate.substr(0, 2);
  if (sqlstate == "40P01" || sqlstate == "40001")
    return error(ErrorCode::kConflict, "PostgreSQL gave the transaction up");
  if (sqlstate == "55P03" || sqlstate == kTooLong) {
    return error(ErrorCode::kOverloaded, "PostgreSQL did not get to it in time");
  }
  if (sqlstate == kFenced)
    return error(ErrorCode::kUnavailable, "the server does not take writes: another took its place");
  if (sqlstate == "25006") return error(ErrorCode::kUnavailable, "the server does not take writes: it is a replica");
  if (group == "53") return error(ErrorCode::kUnavailable, "PostgreSQL has run out of something");
  if (group == "57" || group == "08") return error(ErrorCode::kUnavailable, "the server ends the connection");
  if (group == "XX" || group == "58") return error(ErrorCode::kCorruption, "PostgreSQL reports an error of its own");
  if (sqlstate == "42501") return error(ErrorCode::kUnavailable, "the user of the database may not do this");
  if (group == "28" || group == "3D") return error(ErrorCode::kUnavailable, "PostgreSQL refuses the connection");
  return error(ErrorCode::kInternal, "PostgreSQL refuses a statement");
}

bool AwaitSocket(int descriptor, short events, Deadline deadline) {
  pollfd waited{.fd = descriptor, .events = events, .revents = 0};
  while (true) {
    const int ready = ::poll(&waited, 1, MillisUntil(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

Connection::~Connection() = default;

bool Connection::Alive() {
  // A server that ends a connection says why before: there may be something to read twice.
  for (int reads = 0; reads < 3; ++reads) {
    pollfd waited{.fd = PQsocket(raw_.get()), .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, 0) == 0) return true;
    if (PQconsumeInput(raw_.get()) == 0 || PQstatus(raw_.get()) == CONNECTION_BAD) break;
  }
  usable_ = false;
  return false;
}

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& target,
                                                     std::span<const Statement* const> statements, Deadline deadline,
                                                     std::chrono::milliseconds longest) {
  const auto refused = [](const PGconn* raw, const char* text) {
    return Error(ErrorCode::kUnavailable, text, {{"message", Trimmed(raw == nullptr ? "" : PQerrorMessage(raw))}});
  };
  // What the target says wins over what is said here first.
  const std::string whole = "application_name=kvarts client_encoding=UTF8 " + target;
  std::unique_ptr<Connection> connection(new Connection(PQconnectStart(whole.c_str())));
  PGconn* const raw = connection->raw_.get();
  if (raw == nullptr || PQstatus(raw) == CONNECTION_BAD) return refused(raw, "there is no connection to the server");
  PQsetNoticeReceiver(raw, OnNotice, connection.get());
  for (PostgresPollingStatusType step = PGRES_POLLING_WRITING; step != PGRES_POLLING_OK;) {
    if (step == PGRES_POLLING_FAILED) return refused(raw, "there is no connection to the server");
    if (!connection->Wait(step == PGRES_POLLING_WRITING, deadline)) {
      return refused(raw, "the server does not answer in time");
    }
    step = PQconnectPoll(raw);
  }
  if (PQsetnonblocking(raw, 1) != 0 || PQenterPipelineMode(raw) != 1) {
    return refused(raw, "the connection cannot be used");
  }
  if (!statements.empty()) {
    const auto planned = connection->Simple(Planning(longest), deadline);
    if (!planned.has_value()) return planned.error().error;
    if (planned->size() == 1) connection->session_ = planned->Text(0, 0);
    KVARTS_CHECK_OK(connection->Prepare(statements, deadline));
  }
  return connection;
}

void Connection::OnNotice(void* self, const PGresult* notice) {
  // "canceling wait for synchronous replication": the commit is on this server's disk, and may be nowhere else.
  if (StateOf(notice) == "01000") static_cast<Connection*>(self)->cancelled_wait_ = true;
}

bool Connection::Flush(Deadline deadline) {
  while (true) {
    const int left = PQflush(raw_.get());
    if (left == 0) return true;
    if (left < 0) return false;
    // The server may want to be read before it reads.
    pollfd waited{.fd = PQsocket(raw_.get()), .events = POLLIN | POLLOUT, .revents = 0};
    const int ready = ::poll(&waited, 1, MillisUntil(deadline));
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    if ((waited.revents & POLLIN) != 0 && PQconsumeInput(raw_.get()) == 0) return false;
  }
}

bool Connection::Await(Deadline deadline) {
  while (PQisBusy(raw_.get()) != 0) {
    if (!Wait(false, deadline) || PQconsumeInput(raw_.get()) == 0) return false;
  }
  return true;
}

Failure Connection::Lost(const char* text, bool sent) {
  usable_ = false;
  if (PQstatus(raw_.get()) == CONNECTION_BAD) text = "the connection broke";
  return {Error(ErrorCode::kUnavailable, text, {{"message", Trimmed(PQerrorMessage(raw_.get()))}}), "", sent};
}

Failure Connection::Refused(const PGresult* result) {
  Failure failure = FromResult(result);
  if (failure.sqlstate == kFenced || failure.sqlstate == "25006") misplaced_ = true;
  return failure;
}

Status Connection::Prepare(std::span<const Statement* const> statements, Deadline deadline) {
  if (statements.empty()) return {};
  PGconn* const raw = raw_.get();
  for (const Statement* statement : statements) {
    if (PQsendPrepare(raw, statement->name, statement->sql, 0, nullptr) == 0) return Lost("cannot send", false).error;
  }
  if (PQpipelineSync(raw) == 0 || !Flush(deadline))
    return Lost("the server does not take what it is sent", false).error;
  std::optional<Error> failed;
  for (size_t ended = 0; ended <= statements.size();) {
    if (!Await(deadline)) return Lost("the server does not answer in time", false).error;
    const Rows rows(PQgetResult(raw));
    if (rows.raw() == nullptr) continue;
    const ExecStatusType status = PQresultStatus(rows.raw());
    if (IsError(status) && !failed) failed = Refused(rows.raw()).error;
    ++ended;
    if (status == PGRES_PIPELINE_SYNC) break;
    if (PQstatus(raw) == CONNECTION_BAD) return Lost("the connection broke", false).error;
  }
  if (failed) return *failed;
  return {};
}

bool Connection::SendCall(const Call& call) {
  // Behind answers that were not awaited its own would be taken for theirs.
  if (!usable_) return false;
  const Params::Arrays with = call.params.arrays();
  return PQsendQueryPrepared(raw_.get(), call.statement->name, static_cast<int>(with.values.size()), with.values.data(),
                             with.lengths.data(), with.formats.data(), 1) != 0;
}

bool Connection::Depart(const Call& call) {
  usable_ = SendCall(call) && PQpipelineSync(raw_.get()) != 0;
  return SendOn();
}

bool Connection::SendOn() {
  if (!usable_) return false;
  const int left = PQflush(raw_.get());
  unsent_ = left > 0;
  usable_ = left >= 0;
  return usable_;
}

bool Connection::Receive() {
  usable_ = usable_ && PQconsumeInput(raw_.get()) != 0;
  return usable_;
}

std::expected<std::optional<Rows>, Failure> Connection::TryLand() {
  PGconn* const raw = raw_.get();
  while (PQisBusy(raw) == 0) {
    Rows rows(PQgetResult(raw));
    if (PQstatus(raw) == CONNECTION_BAD) return std::unexpected(Lost("the connection broke", true));
    if (rows.raw() == nullptr) continue;  // the end of one statement's answers
    const ExecStatusType status = PQresultStatus(rows.raw());
    if (status == PGRES_PIPELINE_SYNC) {
      if (refused_) return std::unexpected(*std::exchange(refused_, std::nullopt));
      return std::exchange(landed_, Rows());
    }
    if (IsError(status)) refused_ = Refused(rows.raw());
    landed_ = std::move(rows);
  }
  return std::nullopt;
}

std::expected<std::vector<Rows>, Failure> Connection::Fly(std::span<const Call> calls, Deadline deadline) {
  PGconn* const raw = raw_.get();
  size_t syncs = 0;
  for (const Call& call : calls) {
    if (!SendCall(call)) return std::unexpected(Lost("the server does not take what it is sent", syncs != 0));
    // From here on the server may have everything.
    if (!call.ends && &call != &calls.back()) continue;
    if (PQpipelineSync(raw) == 0) return std::unexpected(Lost("the server does not take what it is sent", true));
    ++syncs;
  }
  if (!Flush(deadline)) return std::unexpected(Lost("the server does not take what it is sent", true));
  return Land(syncs, deadline);
}

std::expected<std::vector<Rows>, Failure> Connection::Land(size_t syncs, Deadline deadline) {
  PGconn* const raw = raw_.get();
  std::vector<Rows> answers;
  size_t ended = 0;  // of the answers
  std::optional<Failure> failed;
  const auto fail = [&](Failure failure) {
    answers.resize(ended);
    failure.ended = std::move(answers);
    return std::unexpected(std::move(failure));
  };
  while (syncs != 0) {
    if (!Await(deadline)) return fail(Lost("the server does not answer in time", true));
    Rows rows(PQgetResult(raw));
    if (rows.raw() == nullptr) {
      if (PQstatus(raw) == CONNECTION_BAD) return fail(Lost("the connection broke", true));
      continue;  // the end of one statement's answers
    }
    const ExecStatusType status = PQresultStatus(rows.raw());
    if (status == PGRES_PIPELINE_SYNC) {
      --syncs;
      if (!failed) ended = answers.size();
      continue;
    }
    if (IsError(status)) {
      if (!failed) failed = Refused(rows.raw());
      if (PQstatus(raw) == CONNECTION_BAD) {
        usable_ = false;
        failed->sent = true;
        return fail(*std::move(failed));
      }
    }
    answers.push_back(std::move(rows));
  }
  if (failed) return fail(*std::move(failed));
  return answers;
}

std::expected<Rows, Failure> Connection::Fly(const Statement& statement, Params params, Deadline deadline) {
  const Call call{&statement, std::move(params)};
  auto answers = Fly(std::span(&call, 1), deadline);
  if (!answers.has_value()) return std::unexpected(std::move(answers).error());
  return std::move(answers->front());
}

std::expected<Rows, Failure> Connection::Simple(const std::string& sql, Deadline deadline) {
  PGconn* const raw = raw_.get();
  if (!usable_ || PQexitPipelineMode(raw) == 0 || PQsendQuery(raw, sql.c_str()) == 0 || !Flush(deadline)) {
    return std::unexpected(Lost("the server does not take what it is sent", true));
  }
  std::optional<Failure> failed;
  Rows last;
  while (true) {
    if (!Await(deadline)) return std::unexpected(Lost("the server does not answer in time", true));
    Rows rows(PQgetResult(raw));
    if (rows.raw() == nullptr) break;
    if (IsError(PQresultStatus(rows.raw())) && !failed) failed = Refused(rows.raw());
    last = std::move(rows);
  }
  if (PQstatus(raw) == CONNECTION_BAD || PQenterPipelineMode(raw) == 0) {
    usable_ = false;
    if (failed) failed->sent = true;
  }
  if (failed) return std::unexpected(*std::move(failed));
  return last;
}

void Connection::Trace(FILE* file) {
  if (file == nullptr) {
    PQuntrace(raw_.get());
    return;
  }
  PQtrace(raw_.get(), file);
  PQsetTraceFlags(raw_.get(), PQTRACE_SUPPRESS_TIMESTAMPS);
}

}  // namespace kvarts::postgres
