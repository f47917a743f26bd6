// Databases for tests on the PostgreSQL server that KVARTS_TEST_POSTGRES names, as libpq writes it: "host=… port=…
// user=… passfile=…". The user must be a superuser there. ./test starts a cluster and says where it is;
// `scripts/local-cluster up` and `eval "$(scripts/local-cluster env)"` do the same by hand.
//
// To make a database and drop it costs far more than emptying one does, so they are kept and used again, one process
// after the other: the first that nobody holds a lock on is taken, and made when all are held. It is emptied when it is
// taken, not when it is given back, so a test that crashes leaves nothing behind that matters. So is the schema in it,
// which is made again only when it is not as this program would make it.
#pragma once

#include <postgresql/libpq-fe.h>

#include <memory>
#include <string>

namespace kvarts::test {

class PostgresDatabase {
 public:
  enum class Holding {
    kNothing,     // no schema of ours
    kEmptyStore,  // one that has just been made
  };

  // A database that is nobody else's as long as this object lives. Throws when there is none to be had.
  explicit PostgresDatabase(Holding holding = Holding::kEmptyStore);

  // Why there are no databases; empty when the environment names a server.
  static std::string Missing();

  // As libpq writes it.
  const std::string& target() const { return target_; }
  // What the server answers to SQL on a connection of its own: the first column of the first row.
  std::string Ask(const std::string& sql) const { return Ask(Connect(target_).get(), sql); }
  // A commit of somebody else's that has changed nothing yet, on its way until what is returned goes.
  std::shared_ptr<void> HoldCommit() const;

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Connection = std::unique_ptr<PGconn, Finish>;

  static Connection Connect(const std::string& target);
  // The first column of the first row; empty when there is none.
  static std::string Ask(PGconn* connection, const std::string& sql);

  Connection lock_;  // held by its session
  std::string target_;
};

// The file for --shards of a server whose --data is this folder: it names a database that is the same for the same
// folder. The folder it lies in must be there, and the database goes after it does.
std::string ShardsFileFor(const std::string& data);
// The same database.
PostgresDatabase& DatabaseFor(const std::string& data);

}  // namespace kvarts::test
