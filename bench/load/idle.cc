#include "load/idle.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/socket.h"

namespace kvarts::load {
namespace {

constexpr int kPatienceMs = 10'000;

void Ask(int fd, const Protocol& protocol, const Operation& operation) {
  std::string request;
  protocol.AppendRequest(operation, &request);
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    GiveUp("a request does not go out");
  }
  std::string in;
  char block[16 << 10];
  while (true) {
    pollfd wanted = {fd, POLLIN, 0};
    if (poll(&wanted, 1, kPatienceMs) != 1) GiveUp("there is no answer");
    const ssize_t n = recv(fd, block, sizeof(block), 0);
    if (n <= 0) GiveUp("the server closed a connection");
    in.append(block, static_cast<size_t>(n));
    const Answer answer = protocol.Look(operation.kind, in);
    if (answer.verdict == Verdict::kPartial) continue;
    if (answer.verdict != Verdict::kGood || answer.closes) GiveUp(fmt::format("not as expected: {:.200}", in));
    return;
  }
}

}  // namespace

IdleConnections::IdleConnections(const Settings& settings, uint32_t connections) {
  const KeyChooser chooser(settings.workload);
  Workload workload(settings.workload, chooser, 0, 1);
  const auto protocol = settings.protocol();
  for (uint32_t i = 0; i < connections; ++i) {
    fds_.push_back(Connect(settings.host, settings.port));
    if (fds_.back() < 0) GiveUp(fmt::format("the server accepts no more than {} connections", i));
    const auto operation = workload.Next();
    if (operation.has_value()) Ask(fds_.back(), *protocol, *operation);
  }
}

IdleConnections::~IdleConnections() {
  for (const int fd : fds_) close(fd);
}

}  // namespace kvarts::load
