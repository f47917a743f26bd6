#include "base/log_sinks.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
// Where in our source an entry was sent from is nobody's concern.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>

#include "base/colours.h"
#include "base/shown.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

constexpr int kPollMillis = 100;

std::string_view ColourOf(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "\x1b[31m";
    case LogLevel::kWarning:
      return "\x1b[33m";
    case LogLevel::kInfo:
      return "\x1b[32m";
    default:
      return "\x1b[2m";
  }
}

std::string Upper(std::string_view name) {
  std::string upper(name);
  // journald takes no other signs in a name.
  for (char& c : upper) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::toupper(c)) : '_';
  return upper;
}

// A value as a word: controls escaped, in quotes where it would not end by itself.
void AppendValue(std::string* out, const LogEntry::Field& field) {
  if (!field.is_text) {
    out->append(field.value);
    return;
  }
  const std::string shown = Shown(field.value);
  if (!shown.empty() && shown.find_first_of(" \"=") == std::string::npos) {
    out->append(shown);
    return;
  }
  out->push_back('"');
  for (const char c : shown) {
    if (c == '"') out->push_back('\\');
    out->push_back(c);
  }
  out->push_back('"');
}

// "a request was slow method=GET ms=12".
std::string TextWithFields(const LogEntry& entry, std::string_view dim, std::string_view plain) {
  std::string out(entry.text);
  for (const LogEntry::Field& field : entry.fields) {
    out.append(" ").append(dim).append(field.name).append("=").append(plain);
    AppendValue(&out, field);
  }
  return out;
}

void AppendJsonText(std::string* out, std::string_view text) {
  // What is no UTF-8 has no place in JSON.
  const std::string shown = IsUtf8(text) ? std::string() : Shown(text);
  if (!shown.empty()) text = shown;
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

int PriorityOf(LogLevel level) {
  constexpr std::array<int, 5> kPriorities = {7, 6, 4, 3, 3};  // as syslog numbers them
  return kPriorities.at(static_cast<size_t>(level));
}

class FileSink final : public LogSink {
 public:
  FileSink(int fd, LogFormat format, bool colours) : fd_(fd), format_(format), colours_(colours) {}

  void Write(const LogEntry& entry) override {
    const std::string line = format_ == LogFormat::kJson ? LogJsonLine(entry) : LogTextLine(entry, colours_);
    std::string_view rest = line;
    while (!rest.empty()) {
      if (!AwaitRoom()) return;
      // A pipe that has room has room for this much, so that the call does not wait.
      const ssize_t n = write(fd_, rest.data(), std::min<size_t>(rest.size(), PIPE_BUF));
      if (n > 0) rest.remove_prefix(static_cast<size_t>(n));
      // A file that cannot be written has nobody to be told to.
      if (n < 0 && errno != EINTR && errno != EAGAIN) return;
    }
  }

  void Hurry() override { hurry_.store(true, std::memory_order_relaxed); }

 private:
  bool AwaitRoom() {
    pollfd polled{.fd = fd_, .events = POLLOUT, .revents = 0};
    while (true) {
      const bool hurry = hurry_.load(std::memory_order_relaxed);
      if (poll(&polled, 1, hurry ? 0 : kPollMillis) > 0) return true;
      if (hurry) return false;
    }
  }

  const int fd_;
  const LogFormat format_;
  const bool colours_;
  std::atomic<bool> hurry_ = false;
};

class JournalSink final : public LogSink {
 public:
  void Write(const LogEntry& entry) override {
    const std::vector<std::string> fields = LogJournalFields(entry);
    std::vector<iovec> parts;
    parts.reserve(fields.size());
    for (const std::string& field : fields) parts.push_back({const_cast<char*>(field.data()), field.size()});
    // There is nobody to be told that the journal is gone.
    (void)sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  }
};

// systemd names the device and inode of the stream that journald reads.
bool JournalReads(int fd) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(fd, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace

std::unique_ptr<LogSink> MakeLogSink(LogFormat format) {
  if (format == LogFormat::kAuto) format = JournalReads(STDERR_FILENO) ? LogFormat::kJournald : LogFormat::kText;
  if (format == LogFormat::kJournald) return std::make_unique<JournalSink>();
  return MakeFileLogSink(STDERR_FILENO, format, TakesColours(STDERR_FILENO));
}

std::unique_ptr<LogSink> MakeFileLogSink(int fd, LogFormat format, bool colours) {
  return std::make_unique<FileSink>(fd, format, colours);
}

std::string LogTextLine(const LogEntry& entry, bool colours) {
  const std::string level = Upper(kLogLevelNames.at(static_cast<size_t>(entry.level)));
  const std::string_view plain = colours ? "\x1b[0m" : "";
  const std::string_view dim = colours ? "\x1b[2m" : "";
  return fmt::format("{}{}{} {}{:<7}{} {}\n", dim, entry.time.ToString(), plain, colours ? ColourOf(entry.level) : "",
                     level, plain, TextWithFields(entry, dim, plain));
}

std::string LogJsonLine(const LogEntry& entry) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","text":)", entry.time.ToString(),
                                 kLogLevelNames.at(static_cast<size_t>(entry.level)));
  AppendJsonText(&line, entry.text);
  for (const LogEntry::Field& field : entry.fields) {
    line.push_back(',');
    AppendJsonText(&line, field.name);
    line.push_back(':');
    if (field.is_text) {
      AppendJsonText(&line, field.value);
    } else {
      line.append(field.value);
    }
  }
  return line + "}\n";
}

std::vector<std::string> LogJournalFields(const LogEntry& entry) {
  std::vector<std::string> fields = {
      "MESSAGE=" + TextWithFields(entry, {}, {}),
      fmt::format("PRIORITY={}", PriorityOf(entry.level)),
      "SYSLOG_IDENTIFIER=kvarts",
      fmt::format("KVARTS_TEXT={}", entry.text),
  };
  for (const LogEntry::Field& field : entry.fields) {
    fields.push_back(fmt::format("KVARTS_{}={}", Upper(field.name), field.value));
  }
  return fields;
}

std::vector<std::string> TestLogSink::Kept::Lines() {
  const std::lock_guard lock(mutex);
  std::vector<std::string> lines;
  for (const LogEntry& entry : entries) {
    lines.push_back(fmt::format("{} {}", Upper(kLogLevelNames.at(static_cast<size_t>(entry.level))),
                                TextWithFields(entry, {}, {})));
  }
  return lines;
}

void TestLogSink::Write(const LogEntry& entry) {
  const std::lock_guard lock(kept_->mutex);
  kept_->entries.push_back(entry);
}

}  // namespace kvarts
