#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <thread>

#include "base/log_sinks.h"

namespace kvarts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Duration kLong = Duration::Seconds(30);

LogEntry Entry(std::vector<LogEntry::Field> fields) {
  return {.time = Timestamp{1'700'000'000'123'456},
          .level = LogLevel::kWarning,
          .text = "a request was slow",
          .fields = std::move(fields)};
}

TEST(Log, IsSilentUntilSomebodyListens) {
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  Log(LogLevel::kError, "nobody hears this");
  EXPECT_TRUE(Logging::Flush({}));
}

TEST(Log, KeepsTheOrderAndTheKindsOfFields) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  {
    const Logging logging(LogLevel::kInfo, std::make_unique<TestLogSink>(kept));
    const std::string path = "/keys/a";
    Log(LogLevel::kInfo, "a request", {{"path", path}, {"ms", 12}, {"bytes", uint64_t{1} << 63}, {"delta", -3}});
    Log(LogLevel::kWarning, "another", {{"ratio", 0.5}, {"hit", true}, {"word", "true"}, {"view", path.c_str()}});
    Log(LogLevel::kError, "alone");
  }
  EXPECT_THAT(kept->Lines(), ElementsAre("INFO a request path=/keys/a ms=12 bytes=9223372036854775808 delta=-3",
                                         "WARNING another ratio=0.5 hit=true word=true view=/keys/a", "ERROR alone"));
}

TEST(Log, LevelsAtAndBelowAndAbove) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  const Logging logging(LogLevel::kWarning, std::make_unique<TestLogSink>(kept));
  Log(LogLevel::kInfo, "below");
  Log(LogLevel::kWarning, "at");
  Log(LogLevel::kError, "above");
  Logging::SetLevel(LogLevel::kDebug);
  Log(LogLevel::kDebug, "now");
  Logging::SetLevel(LogLevel::kOff);
  Log(LogLevel::kError, "off");
  ASSERT_TRUE(Logging::Flush(kLong));
  EXPECT_THAT(kept->Lines(), ElementsAre("WARNING at", "ERROR above", "DEBUG now"));
}

TEST(Log, ErrorsBringTheirCodeTextAndFields) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  const Logging logging(LogLevel::kInfo, std::make_unique<TestLogSink>(kept));
  const Error error(ErrorCode::kTooLarge, "the key is too long", {{"at_most", "8"}});
  Log(LogLevel::kError, "a commit failed", error, {{"trace", "t1"}});
  ASSERT_TRUE(Logging::Flush(kLong));
  EXPECT_THAT(kept->Lines(),
              ElementsAre("ERROR a commit failed trace=t1 code=too_large error=\"the key is too long\" at_most=8"));
}

TEST(Log, ValuesAreCutAtTheirLimitBetweenCharacters) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  const Logging logging(LogLevel::kInfo, std::make_unique<TestLogSink>(kept));
  Log(LogLevel::kInfo, "sizes",
      {{"at", std::string(kMaxLogValueBytes, 'a')},
       {"above", std::string(kMaxLogValueBytes + 1, 'a')},
       {"middle", std::string(kMaxLogValueBytes - 1, 'a') + "Å"}});
  ASSERT_TRUE(Logging::Flush(kLong));
  const std::lock_guard lock(kept->mutex);
  const auto& fields = kept->entries.at(0).fields;
  EXPECT_EQ(fields[0].value, std::string(kMaxLogValueBytes, 'a'));
  EXPECT_EQ(fields[1].value, std::string(kMaxLogValueBytes, 'a') + "…");
  EXPECT_EQ(fields[2].value, std::string(kMaxLogValueBytes - 1, 'a') + "…");
}

// Holds the writer until it is let go.
class HeldSink final : public LogSink {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool entered = false;
    bool open = false;
    std::vector<std::string> texts;
    std::string dropped;
  };
  explicit HeldSink(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void Write(const LogEntry& entry) override {
    std::unique_lock lock(state_->mutex);
    state_->entered = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return state_->open; });
    state_->texts.emplace_back(entry.text);
    if (entry.text.starts_with("log entries were dropped")) state_->dropped = entry.fields.at(0).value;
  }

 private:
  std::shared_ptr<State> state_;
};

TEST(Log, ASinkThatHangsDelaysNobodyAndWhatIsDroppedIsCounted) {
  const auto state = std::make_shared<HeldSink::State>();
  const Logging logging(LogLevel::kInfo, std::make_unique<HeldSink>(state));
  const uint64_t before = Logging::Dropped();
  Log(LogLevel::kInfo, "first");
  {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->entered; });
  }
  for (size_t i = 0; i < kMaxQueuedLogEntries + 5; ++i) Log(LogLevel::kInfo, "more");
  EXPECT_EQ(Logging::Dropped() - before, 5U);
  EXPECT_FALSE(Logging::Flush(Duration::Millis(1)));
  {
    const std::lock_guard lock(state->mutex);
    state->open = true;
  }
  state->changed.notify_all();
  ASSERT_TRUE(Logging::Flush(kLong));
  const std::lock_guard lock(state->mutex);
  EXPECT_EQ(state->texts.size(), kMaxQueuedLogEntries + 2) << "the first, the queue, and what was dropped";
  EXPECT_EQ(state->dropped, "5");
}

TEST(Log, IsBoundedByBytesToo) {
  const auto state = std::make_shared<HeldSink::State>();
  const Logging logging(LogLevel::kInfo, std::make_unique<HeldSink>(state));
  const uint64_t before = Logging::Dropped();
  const std::string large(kMaxLogValueBytes, 'a');
  for (size_t i = 0; i < 2 * kMaxQueuedLogBytes / kMaxLogValueBytes + 10; ++i)
    Log(LogLevel::kInfo, "x", {{"a", large}});
  EXPECT_GT(Logging::Dropped(), before);
  const std::lock_guard lock(state->mutex);
  state->open = true;
  state->changed.notify_all();
}

TEST(Log, ManyThreadsWriteWholeEntries) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  {
    const Logging logging(LogLevel::kInfo, std::make_unique<TestLogSink>(kept));
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 500; ++i) Log(LogLevel::kInfo, "said", {{"thread", t}, {"i", i}});
      });
    }
  }
  ASSERT_EQ(kept->entries.size(), 2000U);
  std::array<int, 4> next{};
  for (const LogEntry& entry : kept->entries) {
    const auto thread = static_cast<size_t>(std::stoi(entry.fields.at(0).value));
    EXPECT_EQ(entry.fields.at(1).value, std::to_string(next.at(thread)++));
  }
}

TEST(LogSinks, NobodyForgesALineOrAField) {
  const LogEntry entry = Entry({{"path", "/a\n2026 ERROR forged", true},
                                {"word", "x ms=99", true},
                                {"quote", "a\"b c", true},
                                {"escape", "\x1b[2J", true},
                                {"back", "\\", true},
                                {"none", "", true},
                                {"bytes", "\xff", true},
                                {"name", "Åsa", true},
                                {"ms", "12", false}});
  EXPECT_EQ(LogTextLine(entry, false),
            "2023-11-14T22:13:20.123456Z WARNING a request was slow path=\"/a\\x0a2026 ERROR forged\" word=\"x ms=99\" "
            "quote=\"a\\\"b c\" escape=\\x1b[2J back=\\\\ none=\"\" bytes=\\xff name=Åsa ms=12\n");
  EXPECT_EQ(
      LogJsonLine(entry),
      "{\"time\":\"2023-11-14T22:13:20.123456Z\",\"level\":\"warning\",\"text\":\"a request was slow\","
      "\"path\":\"/a\\u000a2026 ERROR forged\",\"word\":\"x ms=99\",\"quote\":\"a\\\"b c\","
      "\"escape\":\"\\u001b[2J\",\"back\":\"\\\\\",\"none\":\"\",\"bytes\":\"\\\\xff\",\"name\":\"Åsa\",\"ms\":12}\n");
}

TEST(LogSinks, ColoursAreAroundTheLevelOnly) {
  EXPECT_EQ(
      LogTextLine(Entry({{"ms", "12", false}}), true),
      "\x1b[2m2023-11-14T22:13:20.123456Z\x1b[0m \x1b[33mWARNING\x1b[0m a request was slow \x1b[2mms=\x1b[0m12\n");
}

TEST(LogSinks, TheJournalGetsFields) {
  EXPECT_THAT(
      LogJournalFields(Entry({{"path", "/a\nb", true}, {"sync.ms", "12", false}})),
      ElementsAre("MESSAGE=a request was slow path=/a\\x0ab sync.ms=12", "PRIORITY=4", "SYSLOG_IDENTIFIER=kvarts",
                  "KVARTS_TEXT=a request was slow", "KVARTS_PATH=/a\nb", "KVARTS_SYNC_MS=12"));
}

TEST(LogSinks, NumbersThatAreNoneAreTextInJson) {
  const auto kept = std::make_shared<TestLogSink::Kept>();
  const Logging logging(LogLevel::kInfo, std::make_unique<TestLogSink>(kept));
  Log(LogLevel::kInfo, "x", {{"a", INFINITY}, {"b", std::nan("")}, {"c", false}, {"d", "false"}});
  ASSERT_TRUE(Logging::Flush(kLong));
  EXPECT_THAT(LogJsonLine(kept->entries.at(0)), HasSubstr(R"("a":"inf","b":"nan","c":false,"d":"false"})"));
}

std::string ReadAll(int fd) {
  std::string all;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(fd, buffer.data(), buffer.size())) > 0;)
    all.append(buffer.data(), static_cast<size_t>(n));
  return all;
}

TEST(LogSinks, WritesLinesToAFile) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    const Logging logging(LogLevel::kInfo, MakeFileLogSink(ends[1], LogFormat::kJson, false));
    Log(LogLevel::kInfo, "one", {{"n", 1}});
    Log(LogLevel::kInfo, "two");
  }
  close(ends[1]);
  const std::string all = ReadAll(ends[0]);
  close(ends[0]);
  EXPECT_THAT(all, HasSubstr("\"text\":\"one\",\"n\":1}\n{"));
  EXPECT_TRUE(all.ends_with("\"text\":\"two\"}\n"));
}

TEST(LogSinks, APipeThatNobodyReadsDoesNotHoldTheEndOfTheProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const auto begin = std::chrono::steady_clock::now();
  {
    const Logging logging(LogLevel::kInfo, MakeFileLogSink(ends[1], LogFormat::kText, false));
    const std::string large(kMaxLogValueBytes, 'a');
    for (int i = 0; i < 100; ++i) Log(LogLevel::kInfo, "large", {{"a", large}, {"b", large}, {"c", large}});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  close(ends[0]);
  close(ends[1]);
}

// What the standard error gets when an entry is logged in `format`.
std::string OnStandardError(LogFormat format) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  {
    const Logging logging(LogLevel::kInfo, MakeLogSink(format));
    Log(LogLevel::kInfo, "hello");
  }
  dup2(before, STDERR_FILENO);
  close(before);
  close(ends[1]);
  const std::string all = ReadAll(ends[0]);
  close(ends[0]);
  return all;
}

TEST(LogSinks, AutoIsTextUnlessJournaldReadsTheStandardError) {
  unsetenv("JOURNAL_STREAM");
  EXPECT_THAT(OnStandardError(LogFormat::kAuto), HasSubstr("INFO    hello\n"));
  setenv("JOURNAL_STREAM", "1:2", 1);
  EXPECT_THAT(OnStandardError(LogFormat::kAuto), HasSubstr("INFO    hello\n")) << "inherited, and another stream since";

  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  struct stat status {};
  ASSERT_EQ(fstat(ends[1], &status), 0);
  setenv("JOURNAL_STREAM", (std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino)).c_str(), 1);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  {
    const Logging logging(LogLevel::kInfo, MakeLogSink(LogFormat::kAuto));
    Log(LogLevel::kInfo, "to the journal, if there is one");
  }
  dup2(before, STDERR_FILENO);
  close(before);
  close(ends[1]);
  EXPECT_EQ(ReadAll(ends[0]), "");
  close(ends[0]);
  unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace kvarts
