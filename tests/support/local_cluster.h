// PostgreSQL servers that a test uses: those that were started for all tests, or a cluster of its own that it may
// break. scripts/local-cluster does the work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace kvarts::test {

class LocalCluster {
 public:
  enum class Origin {
    kCopied,  // cannot be told from the others that are, and is there sooner
    kNew,
  };

  // A cluster of its own, down with it. The settings are options of `up`: nothing that happens to the machine need be
  // survived, unless they say so.
  explicit LocalCluster(int replicas, const std::string& settings = "--set fsync=off", Origin origin = Origin::kCopied);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // What the environment names by KVARTS_TEST_CLUSTER, a primary with two replicas: nobody changes their roles. Null
  // when there is none, and then there may be no PostgreSQL at all.
  static std::unique_ptr<LocalCluster> Shared();

  // How libpq reaches the servers: the one that was made as the primary, then the replicas.
  const std::vector<std::string>& targets() const { return targets_; }
  // The same in a database that it makes. It goes with the cluster, or with DropDatabase.
  std::vector<std::string> MakeDatabase(const std::string& name) const;
  void DropDatabase(const std::string& name) const;

  // "kill 0-primary", "promote 0 1": a command of the script. Throws what it says when it fails.
  void Do(const std::string& command) const;
  // The process ids of a server, its postmaster the first.
  std::vector<int> Processes(const std::string& server) const;
  const std::string& dir() const { return dir_; }

 private:
  explicit LocalCluster(std::string dir) : dir_(std::move(dir)) {}
  void ReadTargets();

  std::unique_ptr<TempDir> own_;
  std::string dir_;
  std::vector<std::string> targets_;
};

}  // namespace kvarts::test
