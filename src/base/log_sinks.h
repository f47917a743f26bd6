// Where the log goes, and how an entry looks there.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace kvarts {

enum class LogFormat : uint8_t {
  kAuto,      // journald when it reads the standard error, else text
  kText,      // a line for a person, in colours on a terminal
  kJson,      // an object per line
  kJournald,  // entries with their fields
};
constexpr std::array<std::string_view, 4> kLogFormatNames = {"auto", "text", "json", "journald"};

// To the standard error, or to journald.
std::unique_ptr<LogSink> MakeLogSink(LogFormat format);
// Lines of text or JSON to an open file, which is not closed.
std::unique_ptr<LogSink> MakeFileLogSink(int fd, LogFormat format, bool colours);

// 2026-07-05T10:15:30.123456Z WARNING a request was slow method=GET path="/keys/a b" ms=12
std::string LogTextLine(const LogEntry& entry, bool colours);
// {"time":"…","level":"warning","text":"a request was slow","method":"GET","path":"/keys/a b","ms":12}
std::string LogJsonLine(const LogEntry& entry);
// MESSAGE (the text and its fields, for journalctl), PRIORITY, SYSLOG_IDENTIFIER, KVARTS_TEXT (the constant text) and
// KVARTS_<FIELD> for each field.
std::vector<std::string> LogJournalFields(const LogEntry& entry);

// Keeps what is logged, for tests.
class TestLogSink final : public LogSink {
 public:
  // Outlives the sink: a Logging owns its sink, a test wants to look at the entries.
  struct Kept {
    std::mutex mutex;
    std::vector<LogEntry> entries;
    // Their text lines without the time.
    std::vector<std::string> Lines();
  };

  explicit TestLogSink(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}
  void Write(const LogEntry& entry) override;

 private:
  std::shared_ptr<Kept> kept_;
};

}  // namespace kvarts
