#include "support/local_cluster.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "engine/postgres/connection.h"
#include "support/programs.h"

namespace kvarts::test {
namespace {

void Order(const std::string& target, const std::string& sql) {
  const auto deadline = postgres::In(std::chrono::seconds(60));
  auto connection = postgres::Connection::Open(target, {}, deadline);
  if (!connection) throw std::runtime_error(connection.error().ToString());
  const auto done = (*connection)->Simple(sql, deadline);
  if (!done) throw std::runtime_error(done.error().error.ToString());
}

}  // namespace

LocalCluster::LocalCluster(int replicas, const std::string& settings, Origin origin)
    : own_(std::make_unique<TempDir>()), dir_(*own_ / "cluster") {
  // The servers may run as another user.
  std::filesystem::permissions(own_->path(), std::filesystem::perms(0755));
  const char* const shared = std::getenv("KVARTS_TEST_CLUSTER");
  const bool copied = origin == Origin::kCopied && shared != nullptr && *shared != '\0';
  Do("up --replicas " + std::to_string(replicas) + " " + settings +
     (copied ? fmt::format(" --like '{}'", shared) : ""));
  ReadTargets();
}

LocalCluster::~LocalCluster() {
  if (own_ == nullptr) return;
  try {
    Do("down");
  } catch (const std::exception&) {
    // The folder goes all the same.
  }
}

std::unique_ptr<LocalCluster> LocalCluster::Shared() {
  const char* const dir = std::getenv("KVARTS_TEST_CLUSTER");
  if (dir == nullptr || *dir == '\0') return nullptr;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(dir));
  cluster->ReadTargets();
  return cluster;
}

void LocalCluster::ReadTargets() {
  std::ifstream file(dir_ + "/shards.toml");
  for (std::string line; std::getline(file, line);) {
    const size_t begin = line.find('"');
    const size_t end = line.rfind('"');
    if (begin != end) targets_.push_back(line.substr(begin + 1, end - begin - 1));
  }
  if (targets_.empty()) throw std::runtime_error("there is no cluster in " + dir_);
}

std::vector<std::string> LocalCluster::MakeDatabase(const std::string& name) const {
  Order(targets_.front(), "CREATE DATABASE " + name);
  std::vector<std::string> targets;
  for (const std::string& target : targets_) targets.push_back(target + " dbname=" + name);
  return targets;
}

void LocalCluster::DropDatabase(const std::string& name) const {
  Order(targets_.front(), "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
}

void LocalCluster::Do(const std::string& command) const {
  const ProgramRun run =
      RunShell(std::string(KVARTS_SOURCE_DIR) + "/scripts/local-cluster " + command + " --dir " + dir_);
  if (run.code != 0) throw std::runtime_error(command + ": " + run.out);
}

std::vector<int> LocalCluster::Processes(const std::string& server) const {
  const ProgramRun run =
      RunShell("pid=$(head -n 1 " + dir_ + "/" + server + "/postmaster.pid) && echo $pid && pgrep -P $pid");
  std::istringstream words(run.out);
  std::vector<int> all;
  for (int pid = 0; words >> pid;) all.push_back(pid);
  return all;
}

}  // namespace kvarts::test
