// What the real server tells systemd, which is a socket of the test's here. The engine plays no part.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

class SystemdTest : public ::testing::Test {
 protected:
  SystemdTest() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::string path = dir_ / "notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", "1000000", 1);
  }
  ~SystemdTest() override {
    close(socket_);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
  }

  // Whether a message that begins so comes; others are passed over.
  bool Hears(const std::string& begin) const {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < give_up) {
      pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, 100) <= 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
      if (got > 0 && std::string_view(buffer.data(), static_cast<size_t>(got)).starts_with(begin)) return true;
    }
    return false;
  }

  TempDir dir_;
  const int socket_;
};

TEST_F(SystemdTest, HearsFromTheBeginningToTheEnd) {
  ServerProcess server({"--engine", "memory", "--drain-timeout", "5m"});
  EXPECT_TRUE(Hears("READY=1\nSTATUS=serving " + server.address()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Hears("WATCHDOG=1")) << i;
  server.Signal(SIGTERM);
  EXPECT_TRUE(Hears("STOPPING=1\n"));
  EXPECT_TRUE(Hears("EXTEND_TIMEOUT_USEC=330000000"));
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(SystemdTest, AMisspeltVariableIsLogged) {
  setenv("KVARTS_LOPS", "2", 1);
  const ServerProcess server({"--engine", "memory"});
  unsetenv("KVARTS_LOPS");
  EXPECT_TRUE(server.AwaitLog("did you mean KVARTS_LOOPS?"));
}

}  // namespace
}  // namespace kvarts::test
