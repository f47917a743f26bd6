// The log: entries of a constant text, with what varies in fields.
//
//   Log(LogLevel::kWarning, "a request was slow", {{"method", "GET"}, {"path", path}, {"ms", 12}});
//   Log(LogLevel::kError, "a flush failed", error, {{"file", name}});
//
// There is one log in a process, silent until a Logging is made, as in a program that only embeds Kvarts. Log may be
// called from any thread. An entry whose level is off costs one load of an atomic and the making of its fields, which
// borrow. One that is on is copied into a bounded queue, and a thread writes it: a terminal that is held, a pipe that
// nobody reads and a busy journald make write(2) wait, and it must not be an event loop that waits. When the queue is
// full entries are dropped, counted, and the next entry written says how many. Whoever ends the process on purpose
// ends the Logging before, which writes what is queued; a crash loses at most the queue.
//
// Values are cut off at kMaxLogValueBytes. Sinks escape them: no value can begin a line, end a field or move a cursor.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace kvarts {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };
constexpr std::array<std::string_view, 5> kLogLevelNames = {"debug", "info", "warning", "error", "off"};

constexpr size_t kMaxLogValueBytes = 4 << 10;
constexpr size_t kMaxLogFields = 32;
constexpr size_t kMaxQueuedLogEntries = 8'192;
constexpr size_t kMaxQueuedLogBytes = 8 << 20;

// A field as the caller writes it. The name is a constant such as "keyspace_bytes"; text is borrowed.
struct LogField {
  enum class Kind : uint8_t { kText, kSigned, kUnsigned, kReal, kBool };

  template <class Value>
  requires std::convertible_to<const Value&, std::string_view> LogField(std::string_view field_name, const Value& value)
      : name(field_name), kind(Kind::kText), text(value) {}
  LogField(std::string_view field_name, bool value) : name(field_name), kind(Kind::kBool) { number.whole = value; }
  template <std::unsigned_integral Value>
  LogField(std::string_view field_name, Value value) : name(field_name), kind(Kind::kUnsigned) {
    number.whole = value;
  }
  template <std::signed_integral Value>
  LogField(std::string_view field_name, Value value) : name(field_name), kind(Kind::kSigned) {
    number.whole = static_cast<uint64_t>(int64_t{value});
  }
  LogField(std::string_view field_name, double value) : name(field_name), kind(Kind::kReal) { number.real = value; }

  std::string_view name;
  Kind kind;
  std::string_view text = {};
  union {
    uint64_t whole = 0;
    double real;
  } number;
};

// An entry as a sink gets it.
struct LogEntry {
  struct Field {
    std::string_view name;
    std::string value;
    bool is_text;  // or a number, true or false
  };

  Timestamp time;
  LogLevel level = LogLevel::kInfo;
  std::string_view text;
  std::vector<Field> fields;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  // Called by one thread at a time.
  virtual void Write(const LogEntry& entry) = 0;
  // The process wants to end: do not wait for anybody any more. Called from another thread.
  virtual void Hurry() {}
};

// While it lives the log goes to its sink. There is one at a time.
class Logging {
 public:
  Logging(LogLevel level, std::unique_ptr<LogSink> sink);
  // Writes what is queued, for two seconds at most.
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  // What is below is not written from now on.
  static void SetLevel(LogLevel level);
  // Waits until everything logged so far is written; false when that takes longer than `at_most`.
  static bool Flush(Duration at_most);
  // Entries that were lost because the queue was full, since the process began.
  static uint64_t Dropped();
};

namespace log_internal {
extern std::atomic<LogLevel> lowest;
void Append(LogLevel level, const char* text, const Error* error, std::span<const LogField> fields);
}  // namespace log_internal

// Whether an entry of this level would be written: for fields that are work to make.
inline bool LogEnabled(LogLevel level) { return level >= log_internal::lowest.load(std::memory_order_relaxed); }

// The text is a constant: pass a literal.
inline void Log(LogLevel level, const char* text, std::initializer_list<LogField> fields = {}) {
  if (LogEnabled(level)) [[unlikely]]
    log_internal::Append(level, text, nullptr, fields);
}
// With the error's code, text and fields.
inline void Log(LogLevel level, const char* text, const Error& error, std::initializer_list<LogField> fields = {}) {
  if (LogEnabled(level)) [[unlikely]]
    log_internal::Append(level, text, &error, fields);
}

}  // namespace kvarts
