// A tour of the embedded database: what a reader can copy into a program of their own.
#include <iostream>

#include "kvarts/database.h"

using kvarts::Database;
using kvarts::Duration;
using kvarts::ErrorCode;
using kvarts::Range;
using kvarts::Result;
using kvarts::Status;
using kvarts::Transaction;

namespace {

// Moves an amount between two accounts, or changes nothing.
Status Transfer(Database& db, const std::string& from, const std::string& to, int amount) {
  return db.Transact([&](Transaction& txn) -> Status {
    KVARTS_TRY(const auto source, txn.Get(from));
    KVARTS_TRY(const auto target, txn.Get(to));
    const int has = source ? std::stoi(source->value) : 0;
    if (has < amount) return kvarts::Error(ErrorCode::kPreconditionFailed, "the account does not cover it");
    KVARTS_CHECK_OK(txn.Put(from, std::to_string(has - amount)));
    return txn.Put(to, std::to_string((target ? std::stoi(target->value) : 0) + amount));
  });
}

Status Tour(const std::string& dir) {
  KVARTS_TRY(Database db, Database::Open(dir));

  // Put and get. Every value has a version, which is also the time of its commit.
  KVARTS_CHECK_OK(db.Put("user:1", "Ada"));
  KVARTS_TRY(const auto user, db.Get("user:1"));
  std::cout << "user:1 is " << user->value << ", written " << user->version.time().ToString() << "\n";

  // Compare and swap: the second attempt was made with an old version.
  KVARTS_TRY(const auto version, db.Replace("user:1", "Ada Lovelace", user->version));
  const auto stale = db.Replace("user:1", "somebody else", user->version);
  std::cout << "stale write: " << stale.error() << "\n";

  // Time to live: gone for every reader at its instant.
  KVARTS_CHECK_OK(db.Put("session:7", "token", {.ttl = Duration::Seconds(30)}));

  // Scan, page by page.
  KVARTS_CHECK_OK(db.Put("user:2", "Grace"));
  KVARTS_TRY(const auto page, db.Scan(Range::Prefix("user:"), {.limit = 10}));
  for (const auto& entry : page.entries) std::cout << entry.key << " = " << entry.value << "\n";

  // Watch what changes from here on.
  KVARTS_TRY(const auto watch, db.WatchPrefix("account:"));

  // A transaction over several keys, all or nothing.
  KVARTS_CHECK_OK(db.Put("account:ada", "100"));
  KVARTS_CHECK_OK(Transfer(db, "account:ada", "account:grace", 30));
  std::cout << "too much: " << Transfer(db, "account:ada", "account:grace", 1000).error() << "\n";

  while (true) {
    KVARTS_TRY(const auto change, watch->Next(Duration::Millis(100)));
    if (!change) break;
    std::cout << "changed: " << change->key << " = " << change->value << "\n";
  }

  // Counters add up without being read.
  KVARTS_CHECK_OK(db.Add("visits", 1));
  KVARTS_TRY(const auto visits, db.GetCounter("visits"));
  std::cout << "visits: " << visits << "\n";

  // Create only what is not there, delete only what is known.
  KVARTS_TRY(const auto created, db.Create("lock:1", "me"));
  KVARTS_CHECK_OK(db.DeleteIf("lock:1", created));
  KVARTS_CHECK_OK(db.DeleteIf("user:1", version));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status done = Tour(argc > 1 ? argv[1] : "tour-data");
  if (!done.has_value()) std::cerr << done.error() << "\n";
  return done.has_value() ? 0 : 1;
}
