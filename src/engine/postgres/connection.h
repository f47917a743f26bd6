// A connection to a PostgreSQL server. Used by one thread at a time.
//
// Statements are prepared when it opens, and go out in pipeline mode: several may be sent before the first answer is
// read, and one Sync ends a flight. Every wait has an end: a server that does not answer in time is given up, and the
// connection with it, since nobody can tell what it would answer next.
#pragma once

#include <poll.h>
#include <postgresql/libpq-fe.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/postgres/dialect.h"
#include "engine/postgres/wire.h"

namespace kvarts::postgres {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline In(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// Until one of the events of poll(2); false at the deadline.
bool AwaitSocket(int descriptor, short events, Deadline deadline);

// One statement of a flight.
struct Call {
  const Statement* statement;
  Params params;
  // The transaction ends behind it, with a Sync of its own: what follows is not part of it, and sees what came of it.
  bool ends = false;
};

// What went wrong with a flight.
struct Failure {
  Error error;
  std::string sqlstate;  // of what the server said; empty when it said nothing
  bool sent = false;     // the server may have done it, all the same
  // What the calls answered whose transactions had ended before: these were done.
  std::vector<Rows> ended = {};
};

class Connection {
 public:
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `unavailable` with what the server or the network says. Prepares `statements`. The server gives up one that takes
  // longer than `longest`, unless that is zero; a commit's wait for replicas is not counted.
  static Result<std::unique_ptr<Connection>> Open(const std::string& target,
                                                  std::span<const Statement* const> statements, Deadline deadline,
                                                  std::chrono::milliseconds longest = {});

  // Sends the calls with one Sync behind them, and takes their answers. The calls are one transaction, unless some end
  // it, or begin and end some themselves.
  std::expected<std::vector<Rows>, Failure> Fly(std::span<const Call> calls, Deadline deadline);
  std::expected<Rows, Failure> Fly(const Statement& statement, Params params, Deadline deadline);
  // For who cannot wait. Any number of flights may be under way, of one call each; Fly is not for such a connection.
  int descriptor() const { return PQsocket(raw_.get()); }
  // Sends the call with a Sync behind it, as far as that goes now. Here and below: false when it is broken.
  bool Depart(const Call& call);
  // Whether something is left to be sent, and sending it as far as that goes now.
  bool unsent() const { return unsent_; }
  bool SendOn();
  // Takes what has arrived.
  bool Receive();
  // The answer to the first that is under way; nothing: it is not there yet. After a failure the others may still be
  // answered, if it is usable.
  std::expected<std::optional<Rows>, Failure> TryLand();

  // Statements without parameters, as they are, outside a pipeline: to make a schema.
  std::expected<Rows, Failure> Simple(const std::string& sql, Deadline deadline);

  // Not once it has failed in a way that leaves answers behind.
  bool usable() const { return usable_; }
  // Whether no transaction is left open.
  bool idle() const { return PQtransactionStatus(raw_.get()) == PQTRANS_IDLE; }
  // It is closed and not used again: something of the session may be left that nobody knows of.
  void Abandon() { usable_ = false; }
  // Once the server has said that it takes no writes: it is a replica, or another took its place.
  bool misplaced() const { return misplaced_; }
  // Whether an idle connection still stands, as far as this side has heard. Does not wait.
  bool Alive();
  // Whether the server warned, since it was asked last, that a commit did not wait for its replicas.
  bool TakeCancelledWait() { return std::exchange(cancelled_wait_, false); }
  int server_version() const { return PQserverVersion(raw_.get()); }
  // Which session of the server it is, as nothing else is or will be; empty for one that has prepared nothing.
  const std::string& session() const { return session_; }

  // Writes what libpq says to the server and hears from it; null: no more.
  void Trace(FILE* file);

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  explicit Connection(PGconn* raw) : raw_(raw) {}

  static void OnNotice(void* self, const PGresult* notice);
  bool SendCall(const Call& call);
  bool Wait(bool write, Deadline deadline) {
    return AwaitSocket(descriptor(), static_cast<short>(write ? POLLOUT : POLLIN), deadline);
  }
  bool Flush(Deadline deadline);
  bool Await(Deadline deadline);  // until an answer can be taken without waiting
  std::expected<std::vector<Rows>, Failure> Land(size_t syncs, Deadline deadline);
  Status Prepare(std::span<const Statement* const> statements, Deadline deadline);
  Failure Lost(const char* text, bool sent);
  Failure Refused(const PGresult* result);

  std::unique_ptr<PGconn, Finish> raw_;
  bool usable_ = true;
  bool misplaced_ = false;
  bool cancelled_wait_ = false;
  std::string session_;
  // Of flights by Depart.
  bool unsent_ = false;
  Rows landed_;  // of the first, whose end is not there yet
  std::optional<Failure> refused_;
};

// An error that the server reported, as one of ours.
Error FromServer(std::string_view sqlstate, std::string_view message);

}  // namespace kvarts::postgres
