// The generator against a small server in the same process, which answers, stalls or hangs up as a test needs it.
#include "load/generator.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "load/http_protocol.h"

namespace kvarts::load {
namespace {

constexpr char kGood[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Accepts connections one after the other, a thread for each. `answer` gives what is sent for a connection's nth
// request; nothing ends the connection.
class TestServer {
 public:
  using AnswerTo = std::function<std::string(int request)>;

  explicit TestServer(AnswerTo answer) : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] {
      for (int fd = accept(listener_, nullptr, nullptr); fd >= 0; fd = accept(listener_, nullptr, nullptr)) {
        connections_.emplace_back([this, fd] { Serve(fd); });
      }
    });
  }
  ~TestServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (std::thread& connection : connections_) connection.join();
    close(listener_);
  }

  uint16_t port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void Serve(int fd) {
    std::string in;
    char block[4096];
    int mine = 0;
    for (ssize_t n = recv(fd, block, sizeof(block), 0); n > 0; n = recv(fd, block, sizeof(block), 0)) {
      in.append(block, static_cast<size_t>(n));
      for (size_t end = in.find("\r\n\r\n"); end != in.npos; end = in.find("\r\n\r\n")) {
        in.erase(0, end + 4);
        ++requests_;
        const std::string answer = answer_(mine++);
        if (answer.empty() || send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) {
          close(fd);
          return;
        }
      }
    }
    close(fd);
  }

  const AnswerTo answer_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

Settings SettingsFor(const TestServer& server) {
  Settings settings;
  settings.port = server.port();
  settings.connections = 3;
  settings.requests = 100;
  settings.workload.keys = 10;
  settings.protocol = [] { return std::make_unique<HttpProtocol>(HttpSettings{}); };
  return settings;
}

TEST(Generator, MakesAsManyRequestsAsItIsTold) {
  const TestServer server([](int) { return kGood; });
  for (const uint32_t threads : {1, 2}) {
    for (const uint32_t pipeline : {1, 4}) {
      Settings settings = SettingsFor(server);
      settings.threads = threads;
      settings.pipeline = pipeline;
      const int before = server.requests();
      const Report report = MakeLoad(settings);
      EXPECT_EQ(report.answers, 100U);
      EXPECT_EQ(report.latency.count(), 100U);
      EXPECT_EQ(report.Errors(false), 0U);
      EXPECT_EQ(server.requests() - before, 100);
      EXPECT_EQ(report.bytes_received, 100 * (sizeof(kGood) - 1));
    }
  }
}

TEST(Generator, AFillEndsWhenEveryKeyIsPut) {
  const TestServer server([](int) { return kGood; });
  for (const uint64_t keys : {1, 5, 8, 9}) {
    Settings settings = SettingsFor(server);
    settings.connections = 1;
    settings.pipeline = 4;
    settings.requests = 0;
    settings.workload.keys = keys;
    settings.workload.fill_batch = 1;
    const Report report = MakeLoad(settings);
    EXPECT_EQ(report.answers, keys);
    EXPECT_EQ(report.Errors(false), 0U);
  }
}

TEST(Generator, AnswersLargerThanABufferAreTakenWhole) {
  const std::string body(300'000, 'x');
  const TestServer server([&](int) { return "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + body; });
  Settings settings = SettingsFor(server);
  settings.pipeline = 2;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers, 100U);
  EXPECT_GT(report.bytes_received, 100 * body.size());
}

TEST(Generator, OtherAnswersAreErrors) {
  const TestServer server([](int request) {
    return request % 2 == 0 ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                            : "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n";
  });
  Settings settings = SettingsFor(server);
  settings.connections = 1;
  Report report = MakeLoad(settings);
  EXPECT_EQ(report.missing, 50U);
  EXPECT_EQ(report.unexpected, 50U);
  EXPECT_EQ(report.Errors(false), 100U);
  EXPECT_EQ(report.answers, 0U);
  EXPECT_TRUE(report.first_error.starts_with("HTTP/1.1 404"));
  settings.allow_missing = true;
  report = MakeLoad(settings);
  EXPECT_EQ(report.answers, 50U);
  EXPECT_EQ(report.Errors(true), 50U);
}

TEST(Generator, ServersShareTheConnections) {
  const TestServer first([](int) { return kGood; });
  const TestServer second([](int) { return kGood; });
  Settings settings = SettingsFor(first);
  settings.more_ports = {second.port()};
  settings.connections = 4;
  settings.requests = 4;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers, 4U);
  EXPECT_EQ(first.requests(), 2);
  EXPECT_EQ(second.requests(), 2);
}

TEST(Generator, AServerThatHangsUpIsAskedAnew) {
  const TestServer server([](int request) { return request < 9 ? kGood : ""; });
  Settings settings = SettingsFor(server);
  settings.connections = 1;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers, 90U);
  EXPECT_EQ(report.broken, 10U);
  EXPECT_EQ(report.reconnects, 10U);
}

TEST(Generator, AnOpenLoopKeepsItsRate) {
  const TestServer server([](int) { return kGood; });
  Settings settings = SettingsFor(server);
  settings.requests = 0;
  settings.seconds = 0.5;
  settings.rate = 400;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers + report.unsent, 200U);
  EXPECT_GT(report.answers, 100U);
}

TEST(Generator, AServerThatIsTooSlowForTheRateLeavesRequestsUnsent) {
  const TestServer server([](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return kGood;
  });
  Settings settings = SettingsFor(server);
  settings.requests = 0;
  settings.seconds = 0.3;
  settings.rate = 1000;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers + report.unsent, 300U);
  EXPECT_GT(report.unsent, 200U);
}

// One stall of 200 ms on the only connection: in an open loop all who were due meanwhile have waited.
TEST(Generator, InAnOpenLoopAStallIsFeltByAllWhoWereDue) {
  const TestServer server([](int request) {
    if (request == 50) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return kGood;
  });
  Settings settings = SettingsFor(server);
  settings.connections = 1;
  settings.requests = 300;
  settings.rate = 1000;
  const Report report = MakeLoad(settings);
  EXPECT_EQ(report.answers, 300U);
  EXPECT_GT(report.latency.max(), 190'000'000U);
  // 100 of the 300 were due in the first half of the stall.
  EXPECT_GT(report.latency.Quantile(0.8), 50'000'000U);

  settings.rate = 0;
  const Report closed = MakeLoad(settings);
  EXPECT_GT(closed.latency.max(), 190'000'000U);
  EXPECT_LT(closed.latency.Quantile(0.8), 50'000'000U);
}

}  // namespace
}  // namespace kvarts::load
