#include "servers/redis.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "load/socket.h"

namespace kvarts::load {
namespace {

constexpr int kPatienceMs = 600'000;  // what is asked may take long: that is what is measured

std::string RequestOf(const std::vector<std::string>& words) {
  std::string request = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) request += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return request;
}

void WaitFor(int fd, short events) {
  pollfd waits{fd, events, 0};
  if (poll(&waits, 1, kPatienceMs) != 1) GiveUp("a server does not answer");
}

void SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else {
      WaitFor(fd, POLLOUT);
    }
  }
}

// Reads on until there is as much as is wanted.
void ReceiveUntil(int fd, std::string* in, const auto& enough) {
  char block[64 << 10];
  while (!enough()) {
    WaitFor(fd, POLLIN);
    const ssize_t got = recv(fd, block, sizeof(block), 0);
    if (got == 0) GiveUp("a server ended the connection");
    if (got > 0) in->append(block, static_cast<size_t>(got));
  }
}

}  // namespace

ServerProcess StartRedis(const std::string& dir, AppendOnly append_only) {
  std::filesystem::create_directories(dir);
  const uint16_t port = FreePort();
  std::vector<std::string> command = {
      "redis-server", "--port", std::to_string(port), "--bind",  "127.0.0.1",    "--save", "",
      "--dir",        dir,      "--loglevel",         "warning", "--appendonly", "no"};
  if (append_only != AppendOnly::kOff) {
    command.back() = "yes";
    command.insert(command.end(), {"--appendfsync", append_only == AppendOnly::kAlways ? "always" : "everysec",
                                   "--auto-aof-rewrite-percentage", "0"});
  }
  ServerProcess server(command, dir + "/log", port);
  server.WaitUntilListening();
  // It listens before it has read what it had written.
  while (Ask(port, {"PING"}) != "+PONG") usleep(10'000);
  return server;
}

std::string Ask(uint16_t port, const std::vector<std::string>& words) {
  const int fd = Connect("127.0.0.1", port);
  if (fd < 0) GiveUp("a server accepts no connection");
  SendAll(fd, RequestOf(words));
  std::string in;
  ReceiveUntil(fd, &in, [&] { return in.find("\r\n") != in.npos; });
  const size_t line = in.find("\r\n");
  std::string answer = in.substr(0, line);
  if (answer[0] == '$' && answer != "$-1") {
    const size_t size = std::stoul(answer.substr(1));
    ReceiveUntil(fd, &in, [&] { return in.size() >= line + 2 + size; });
    answer = in.substr(line + 2, size);
  }
  close(fd);
  return answer;
}

double RunRedisBenchmark(uint16_t port, const std::string& test, uint32_t connections, uint32_t pipeline, uint64_t keys,
                         uint64_t requests, size_t value_bytes) {
  const std::string command = fmt::format("redis-benchmark -p {} -t {} -c {} -P {} -r {} -n {} -d {} --csv 2>/dev/null",
                                          port, test, connections, pipeline, keys, requests, value_bytes);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) GiveUp("redis-benchmark cannot be started");
  std::string said;
  for (char block[4096]; std::fgets(block, sizeof(block), pipe) != nullptr;) said = block;
  const bool good = pclose(pipe) == 0;
  // "GET","123456.78",…
  const size_t at = said.find("\",\"");
  if (!good || at == said.npos) GiveUp("redis-benchmark says: " + said);
  return std::strtod(said.c_str() + at + 3, nullptr);
}

}  // namespace kvarts::load
