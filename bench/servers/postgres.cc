#include "servers/postgres.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "load/socket.h"
#include "servers/command.h"
#include "servers/process.h"

namespace kvarts::load {
namespace {

constexpr char kScript[] = KVARTS_SOURCE_DIR "/scripts/local-cluster";

// pgbench's time begins before it connects, which takes a while with many clients; its rate does not contain that.
constexpr uint32_t kConnectSeconds = 2;

// The newest PostgreSQL of Debian's packages, which is the one that local-cluster starts. PATH has a wrapper at best.
std::string NewestPrograms() {
  int newest = 0;
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string name = version.path().filename();
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (std::filesystem::exists(version.path() / "bin/pgbench")) newest = std::max(newest, number);
  }
  if (newest == 0) GiveUp("there is no pgbench; tools/install bench installs it");
  return fmt::format("/usr/lib/postgresql/{}/bin/", newest);
}

// The first server that the file names.
std::string FirstTarget(const std::string& shards_file) {
  std::ifstream file(shards_file);
  for (std::string line; std::getline(file, line);) {
    const size_t begin = line.find('"');
    const size_t end = line.rfind('"');
    if (begin != end) return line.substr(begin + 1, end - begin - 1);
  }
  GiveUp("no server is named in " + shards_file);
}

// Zero for a process that has ended: whoever waited for it has its time.
int64_t LivingNanos(pid_t pid) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Of the children that a process waited for.
int64_t EndedChildrenNanos(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  std::getline(in, stat);
  // Behind the name, which may have anything in it: 13 fields, then the times of children, user and system.
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) GiveUp("PostgreSQL has ended");
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 13; ++i) fields >> skipped;
  int64_t user = 0;
  int64_t system = 0;
  fields >> user >> system;
  return (user + system) * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

// The figure in a line of pgbench's report.
double FigureBehind(const std::string& report, std::string_view label) {
  const size_t at = report.find(label);
  if (at == report.npos) GiveUp("pgbench says: " + report);
  return std::stod(report.substr(at + label.size()));
}

}  // namespace

PostgresServer::PostgresServer(const std::string& dir, const std::vector<std::string>& settings)
    : dir_(dir), programs_(NewestPrograms()) {
  StartKeeper();
  std::vector<std::string> command = {kScript, "up", "--dir", dir_, "--replicas", "0"};
  for (const std::string& setting : settings) command.insert(command.end(), {"--set", setting});
  RunCommand(command);
  target_ = FirstTarget(ShardsFile());
  if (!(std::ifstream(dir_ + "/0-primary/postmaster.pid") >> postmaster_)) GiveUp("PostgreSQL has no process");
}

PostgresServer::~PostgresServer() {
  close(keeper_fd_);
  waitpid(keeper_, nullptr, 0);
}

void PostgresServer::StartKeeper() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) GiveUp("there are no pipes left");
  keeper_ = fork();
  if (keeper_ < 0) GiveUp("a process cannot be started");
  if (keeper_ != 0) {
    close(ends[0]);
    keeper_fd_ = ends[1];
    return;
  }
  setsid();  // what is typed at a terminal to end the benchmark is not for this one
  close(ends[1]);
  char nothing = 0;
  while (read(ends[0], &nothing, 1) < 0) {
  }
  BecomeCommand({kScript, "down", "--dir", dir_});
}

void PostgresServer::Execute(const std::vector<std::string>& statements) const {
  std::vector<std::string> command = {programs_ + "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", target_};
  for (const std::string& statement : statements) command.insert(command.end(), {"-c", statement});
  RunCommand(command);
}

PgbenchRun PostgresServer::RunPgbench(std::string_view script, const PgbenchSettings& settings) const {
  const std::string file = dir_ + "/pgbench.sql";
  std::ofstream(file) << script;
  std::vector<std::string> command = {programs_ + "pgbench", "-n", "-M", "prepared", "-f", file};
  command.insert(command.end(), {"-c", std::to_string(settings.clients), "-j", std::to_string(settings.threads)});
  if (settings.seconds == 0) {
    command.insert(command.end(), {"-t", "1"});
  } else {
    command.insert(command.end(), {"-T", std::to_string(settings.seconds + kConnectSeconds)});
  }
  for (const std::string& variable : settings.variables) command.insert(command.end(), {"-D", variable});
  command.push_back(target_);
  const CommandRun run = RunCommand(command);
  PgbenchRun result;
  result.rate = FigureBehind(run.output, "tps = ");
  result.transactions = static_cast<uint64_t>(FigureBehind(run.output, "transactions actually processed: "));
  result.cpu_nanos = run.cpu_nanos;
  if (FigureBehind(run.output, "failed transactions: ") != 0) GiveUp("pgbench says: " + run.output);
  return result;
}

int64_t PostgresServer::CpuNanos() const {
  int64_t sum = LivingNanos(postmaster_);
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", postmaster_));
  for (pid_t child = 0; children >> child;) sum += LivingNanos(child);
  return sum + EndedChildrenNanos(postmaster_);
}

void PostgresServer::WaitUntilIdle() const {
  load::WaitUntilIdle([this] { return CpuNanos(); });
}

}  // namespace kvarts::load
