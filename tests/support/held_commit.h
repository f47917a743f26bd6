// A commit that another process has made up to its last step: it has its locks and its version, and nobody sees it.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "engine/postgres/connection.h"
#include "engine/postgres/group.h"

namespace kvarts::test {

class HeldCommit {
 public:
  // At the server's time, unless one is given.
  HeldCommit(const std::string& target, const Commit& commit, std::optional<Timestamp> now = std::nullopt) {
    auto opened = postgres::Connection::Open(target, postgres::AllStatements(), Soon());
    if (!opened) throw std::runtime_error(opened.error().ToString());
    connection_ = *std::move(opened);
    Simple("BEGIN");
    const postgres::Snapshots none;
    const postgres::KnownFollowed nobody;  // so the server finds out
    postgres::Group group(none, nobody);
    group.Add(commit);
    const auto given = now ? std::optional(now->micros) : std::nullopt;
    const auto rows = connection_->Fly(postgres::kCommit, group.Commits(given, 0).params, Soon());
    if (!rows) throw std::runtime_error(rows.error().error.ToString());
    version_ = postgres::VerdictOf(*rows, 0).version;
  }

  Version version() const { return version_; }
  void End() { Simple("COMMIT"); }

 private:
  static postgres::Deadline Soon() { return postgres::In(std::chrono::seconds(10)); }
  void Simple(const std::string& sql) {
    const auto done = connection_->Simple(sql, Soon());
    if (!done) throw std::runtime_error(done.error().error.ToString());
  }

  std::unique_ptr<postgres::Connection> connection_;
  Version version_;
};

}  // namespace kvarts::test
