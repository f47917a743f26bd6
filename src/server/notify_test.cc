#include "server/notify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/temp_dir.h"

namespace kvarts {
namespace {

using testing::StartsWith;

// Listens as systemd does.
class NotifyTest : public testing::Test {
 protected:
  NotifyTest() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    const std::string path = dir_ / "notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~NotifyTest() override {
    close(socket_);
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }

  std::string Heard() {
    std::array<char, 4096> buffer{};
    const ssize_t n = recv(socket_, buffer.data(), buffer.size(), 0);
    return n < 0 ? "nothing" : std::string(buffer.data(), static_cast<size_t>(n));
  }

  test::TempDir dir_;
  int socket_;
};

TEST_F(NotifyTest, SaysWhatAServerDoes) {
  NotifyReady("serving on 127.0.0.1:7700");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=serving on 127.0.0.1:7700");
  NotifyReloading();
  EXPECT_THAT(Heard(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  NotifyStopping("draining");
  EXPECT_EQ(Heard(), "STOPPING=1\nSTATUS=draining");
  NotifyExtendTimeout(Duration::Seconds(2));
  EXPECT_EQ(Heard(), "EXTEND_TIMEOUT_USEC=2000000");
  NotifyAlive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
}

TEST_F(NotifyTest, AStatusStaysOnItsLine) {
  NotifyStopping("a\nREADY=1");
  EXPECT_EQ(Heard(), "STOPPING=1\nSTATUS=a\\x0aREADY=1");
}

TEST_F(NotifyTest, SaysNothingWhenNobodyAsked) {
  unsetenv("NOTIFY_SOCKET");
  NotifyReady("x");
  EXPECT_EQ(Heard(), "nothing");
}

TEST_F(NotifyTest, TheWatchdogIsFedTwiceAsOftenAsItMust) {
  EXPECT_EQ(WatchdogInterval(), std::nullopt);
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(WatchdogInterval(), Duration::Seconds(15));
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(WatchdogInterval(), std::nullopt) << "meant for another process";
}

}  // namespace
}  // namespace kvarts
