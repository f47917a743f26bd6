// What journald gets, told by a socket in its place. libsystemd knows one path only, so each test runs in a process
// with a /run of its own, which root may have; without that the tests skip themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "base/log_sinks.h"

namespace kvarts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr int kNotAllowed = 77;
constexpr int kPatienceMillis = 10'000;

// NAME=value, or for values of several lines NAME, a length of eight bytes and the value; each ended by a line feed.
Fields Parse(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const size_t end = text.find_first_of("=\n");
    const std::string name(text.substr(0, end));
    if (end == text.npos) return {};
    size_t size = 0;
    if (text[end] == '=') {
      text.remove_prefix(end + 1);
      size = text.find('\n');
    } else {
      size = LoadLittle<uint64_t>(text.data() + end + 1);
      text.remove_prefix(end + 1 + sizeof(uint64_t));
    }
    fields.emplace_back(name, text.substr(0, size));
    text.remove_prefix(size + 1);
  }
  return fields;
}

class Journal {
 public:
  // In the place of journald's.
  Journal() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::filesystem::create_directories("/run/systemd/journal");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "/run/systemd/journal/socket");
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Journal() { close(socket_); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The next entry; `by_file`: it came as a file, because it is too large for a message.
  Fields Next(bool* by_file) {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatienceMillis) <= 0) return {};
    std::string text(1 << 20, '\0');
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{text.data(), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    *by_file = header != nullptr && header->cmsg_type == SCM_RIGHTS;
    if (*by_file) text = Contents(header);
    return Parse(text);
  }

 private:
  static std::string Contents(const cmsghdr* header) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof(file));
    struct stat status {};
    fstat(file, &status);
    std::string text(static_cast<size_t>(status.st_size), '\0');
    EXPECT_EQ(pread(file, text.data(), text.size(), 0), status.st_size);
    close(file);
    return text;
  }

  const int socket_;
};

// Runs a test in a process with a /run of its own.
void WithOwnRun(const std::function<void()>& body) {
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    const bool own = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                     mount("kvarts-test", "/run", "tmpfs", 0, "size=1m") == 0;
    if (!own) _exit(kNotAllowed);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
    GTEST_SKIP() << "SKIPPED: no /run of our own can be had here, so the journal is not tested";
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "failed as said above, or ended by a signal";
}

TEST(JournalSink, DeliversEveryField) {
  WithOwnRun([] {
    Journal journal;
    {
      const Logging logging(LogLevel::kInfo, MakeLogSink(LogFormat::kJournald));
      Log(LogLevel::kWarning, "a request was slow", {{"path", "/keys/a b"}, {"ms", 12}, {"lines", "one\ntwo"}});
      Log(LogLevel::kInfo, "serving");
    }
    bool by_file = true;
    EXPECT_THAT(journal.Next(&by_file),
                ElementsAre(std::pair("MESSAGE", "a request was slow path=\"/keys/a b\" ms=12 lines=one\\x0atwo"),
                            std::pair("PRIORITY", "4"), std::pair("SYSLOG_IDENTIFIER", "kvarts"),
                            std::pair("KVARTS_TEXT", "a request was slow"), std::pair("KVARTS_PATH", "/keys/a b"),
                            std::pair("KVARTS_MS", "12"), std::pair("KVARTS_LINES", "one\ntwo")));
    EXPECT_FALSE(by_file);
    EXPECT_THAT(journal.Next(&by_file),
                ElementsAre(std::pair("MESSAGE", "serving"), std::pair("PRIORITY", "6"),
                            std::pair("SYSLOG_IDENTIFIER", "kvarts"), std::pair("KVARTS_TEXT", "serving")));
  });
}

TEST(JournalSink, DeliversWhatNoMessageHolds) {
  WithOwnRun([] {
    Journal journal;
    const std::string large(32 << 20, 'x');
    const auto sink = MakeLogSink(LogFormat::kJournald);
    sink->Write({.time = {}, .level = LogLevel::kError, .text = "large", .fields = {{"value", large, true}}});
    bool by_file = false;
    const Fields fields = journal.Next(&by_file);
    EXPECT_TRUE(by_file);
    ASSERT_EQ(fields.size(), 5U);
    EXPECT_EQ(fields[1], std::pair(std::string("PRIORITY"), std::string("3")));
    EXPECT_TRUE(fields[4].first == "KVARTS_VALUE" && fields[4].second == large);
    // The largest entry that the log itself makes.
    const LogEntry::Field field{"f", std::string(kMaxLogValueBytes, 'y'), true};
    sink->Write({.time = {},
                 .level = LogLevel::kInfo,
                 .text = "the largest",
                 .fields = std::vector<LogEntry::Field>(kMaxLogFields, field)});
    EXPECT_EQ(journal.Next(&by_file).size(), 4 + kMaxLogFields);
  });
}

TEST(JournalSink, AJournalThatIsGoneIsNobodysConcern) {
  WithOwnRun([] {
    const auto sink = MakeLogSink(LogFormat::kJournald);
    const LogEntry entry{.time = {}, .level = LogLevel::kInfo, .text = "x", .fields = {}};
    sink->Write(entry);
    // It comes back.
    Journal journal;
    sink->Write(entry);
    bool by_file = false;
    EXPECT_THAT(journal.Next(&by_file), testing::Not(IsEmpty()));
  });
}

}  // namespace
}  // namespace kvarts
