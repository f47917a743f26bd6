#include "commands/served_store.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace kvarts::test {
namespace {

constexpr std::chrono::seconds kPatience(60);

bool Answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error("the path of the socket is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool good = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(probe);
  return good;
}

}  // namespace

ServerProcess::ServerProcess(const std::string& data, std::vector<std::string> options)
    : data_(data), options_(std::move(options)) {
  Start();
}

void ServerProcess::Start() {
  std::vector<std::string> words = {"serve", "--listen", address(), "--data", data_, "--log-level", "error"};
  words.insert(words.end(), options_.begin(), options_.end());
  process_ = std::make_unique<ChildProcess>(KVARTS_BINARY_DIR "/kvarts", words);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!Answers(socket_)) {
    if (!process_->Running() || std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error("the server does not serve");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void ServerProcess::KillAndRestart() {
  process_->Kill();
  process_->Wait();
  Start();
}

std::string WayName(const testing::TestParamInfo<Way>& info) {
  return info.param == Way::kServer ? "server" : "directory";
}

CommandsOnBothWays::CommandsOnBothWays() {
  if (GetParam() == Way::kServer) server_ = std::make_unique<ServerProcess>(temp_ / "data");
}

std::vector<std::string> CommandsOnBothWays::Words(std::vector<std::string> words) const {
  if (server_) {
    words.insert(words.end(), {"--server", server_->address()});
  } else {
    words.insert(words.end(), {"--data", temp_ / "data"});
  }
  return words;
}

Ran CommandsOnBothWays::Run(const std::vector<std::string>& words, const std::string& input) const {
  return RunKvarts(Words(words), input);
}

std::string CommandsOnBothWays::Done(const std::vector<std::string>& words, const std::string& input) const {
  const Ran ran = Run(words, input);
  EXPECT_EQ(ran.code, 0) << words.front() << ": " << ran.err;
  EXPECT_EQ(ran.err, "") << words.front();
  return ran.out;
}

}  // namespace kvarts::test
