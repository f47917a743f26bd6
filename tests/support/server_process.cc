#include "support/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace kvarts::test {
namespace {

constexpr const char* kBinary = KVARTS_BINARY_DIR "/kvarts";
constexpr std::chrono::seconds kPatience(30);
constexpr auto kPoll = std::chrono::milliseconds(5);

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void Redirect(const std::string& path, int flags, int to) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(126);
}

[[noreturn]] void Become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

int CodeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> options) {
  const auto named = [&options](const char* name) { return std::ranges::find(options, name) != options.end(); };
  std::vector<std::string> words = {kBinary, "serve", "--log-format", "json"};
  if (!named("--listen")) words.insert(words.end(), {"--listen", "127.0.0.1:0"});
  if (!named("--data")) words.insert(words.end(), {"--data", files_ / "data"});
  words.insert(words.end(), options.begin(), options.end());
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    Redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    Redirect(files_ / "log", O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
    Become(words);
  }
  AwaitAddresses();
}

ServerProcess::~ServerProcess() {
  if (code_ >= 0) return;
  Signal(SIGKILL);
  Wait();
}

void ServerProcess::AwaitAddresses() {
  constexpr std::string_view kField = "\"addresses\":\"";
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (Running() && std::chrono::steady_clock::now() < give_up) {
    const std::string log = Log();
    const size_t at = log.find(kField);
    if (at == std::string::npos || log.find('\n', at) == std::string::npos) {
      std::this_thread::sleep_for(kPoll);
      continue;
    }
    std::istringstream list(log.substr(at + kField.size(), log.find('"', at + kField.size()) - at - kField.size()));
    for (std::string address; std::getline(list, address, ',');) {
      addresses_.push_back(address.substr(address.find_first_not_of(' ')));
    }
    return;
  }
  throw std::runtime_error("the server does not serve: " + Log());
}

bool ServerProcess::Running() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, WNOHANG) == pid_) code_ = CodeOf(status);
  return code_ < 0;
}

void ServerProcess::Signal(int number) const {
  if (code_ < 0) kill(pid_, number);
}

int ServerProcess::Wait() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, 0) == pid_) code_ = CodeOf(status);
  return code_;
}

std::string ServerProcess::Log() const { return Contents(files_ / "log"); }

bool ServerProcess::AwaitLog(const std::string& text) const {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (Log().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

ProgramRun RunProgram(const std::vector<std::string>& words, const std::string& input) {
  const TempDir files;
  std::ofstream(files / "in", std::ios::binary) << input;
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    Redirect(files / "in", O_RDONLY, STDIN_FILENO);
    Redirect(files / "out", O_WRONLY | O_CREAT, STDOUT_FILENO);
    Redirect(files / "err", O_WRONLY | O_CREAT, STDERR_FILENO);
    Become(words);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {CodeOf(status), Contents(files / "out"), Contents(files / "err")};
}

}  // namespace kvarts::test
