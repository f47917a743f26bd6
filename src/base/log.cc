#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/utf8.h"

namespace kvarts {
namespace log_internal {

std::atomic<LogLevel> lowest{LogLevel::kOff};

}  // namespace log_internal

namespace {

constexpr std::chrono::seconds kPatienceAtTheEnd(2);

Timestamp WallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count())};
}

std::string Cut(std::string_view text) {
  if (text.size() <= kMaxLogValueBytes) return std::string(text);
  return std::string(CutText(text, kMaxLogValueBytes)).append("…");
}

LogEntry::Field Owned(const LogField& field) {
  switch (field.kind) {
    case LogField::Kind::kText:
      return {field.name, Cut(field.text), true};
    case LogField::Kind::kSigned:
      return {field.name, std::to_string(static_cast<int64_t>(field.number.whole)), false};
    case LogField::Kind::kUnsigned:
      return {field.name, std::to_string(field.number.whole), false};
    case LogField::Kind::kReal:
      // What is no number is none in JSON either.
      return {field.name, fmt::format("{:.6g}", field.number.real), !std::isfinite(field.number.real)};
    case LogField::Kind::kBool:
      return {field.name, field.number.whole != 0 ? "true" : "false", false};
  }
  std::unreachable();
}

size_t BytesOf(const LogEntry& entry) {
  size_t bytes = sizeof(LogEntry);
  for (const LogEntry::Field& field : entry.fields) bytes += sizeof(field) + field.value.size();
  return bytes;
}

// The queue and the thread behind it. Never destroyed, so that a thread which outlives main may still log.
class Queue {
 public:
  static Queue& Instance() {
    static auto* const kQueue = new Queue;
    return *kQueue;
  }

  void Start(std::unique_ptr<LogSink> sink) {
    const std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
    stopping_ = false;
    writer_ = std::thread([this] { Write(); });
  }

  void Stop() {
    if (!Flush(kPatienceAtTheEnd)) sink_->Hurry();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    writer_.join();
    sink_.reset();
  }

  void Push(LogEntry entry) {
    const size_t bytes = BytesOf(entry);
    {
      const std::lock_guard lock(mutex_);
      if (entries_.size() >= kMaxQueuedLogEntries || bytes_ + bytes > kMaxQueuedLogBytes) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      bytes_ += bytes;
      ++pushed_;
      entries_.push_back(std::move(entry));
    }
    work_.notify_one();
  }

  bool Flush(std::chrono::microseconds at_most) {
    std::unique_lock lock(mutex_);
    const uint64_t until = pushed_;
    return written_changed_.wait_for(lock, at_most, [&] { return written_ >= until; });
  }

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void Write() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return stopping_ || !entries_.empty(); });
      // What a sink in a hurry cannot write is dropped by it, so the queue empties either way.
      if (entries_.empty()) return;
      std::deque<LogEntry> taken;
      taken.swap(entries_);
      bytes_ = 0;
      lock.unlock();
      for (const LogEntry& entry : taken) sink_->Write(entry);
      SayWhatWasDropped();
      lock.lock();
      written_ += taken.size();
      written_changed_.notify_all();
    }
  }

  void SayWhatWasDropped() {
    const uint64_t dropped = this->dropped();
    if (dropped == said_dropped_) return;
    sink_->Write({.time = WallTime(),
                  .level = LogLevel::kWarning,
                  .text = "log entries were dropped because they came faster than they could be written",
                  .fields = {{"dropped", std::to_string(dropped - said_dropped_), false}}});
    said_dropped_ = dropped;
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable written_changed_;
  std::deque<LogEntry> entries_;
  size_t bytes_ = 0;
  uint64_t pushed_ = 0;
  uint64_t written_ = 0;
  bool stopping_ = false;
  std::atomic<uint64_t> dropped_ = 0;

  // Of the writer while it runs.
  std::unique_ptr<LogSink> sink_;
  uint64_t said_dropped_ = 0;
  std::thread writer_;
};

}  // namespace

namespace log_internal {

void Append(LogLevel level, const char* text, const Error* error, std::span<const LogField> fields) {
  LogEntry entry{.time = WallTime(), .level = level, .text = text, .fields = {}};
  const size_t of_error = error == nullptr ? 0 : error->fields().size() + 2;
  entry.fields.reserve(std::min(fields.size() + of_error, kMaxLogFields));
  const auto add = [&](const LogField& field) {
    if (entry.fields.size() < kMaxLogFields) entry.fields.push_back(Owned(field));
  };
  for (const LogField& field : fields) add(field);
  if (error != nullptr) {
    add({"code", ErrorCodeName(error->code())});
    add({"error", error->text()});
    for (const auto& [name, value] : error->fields()) add({name, value});
  }
  Queue::Instance().Push(std::move(entry));
}

}  // namespace log_internal

Logging::Logging(LogLevel level, std::unique_ptr<LogSink> sink) {
  Queue::Instance().Start(std::move(sink));
  SetLevel(level);
}

Logging::~Logging() {
  SetLevel(LogLevel::kOff);
  Queue::Instance().Stop();
}

void Logging::SetLevel(LogLevel level) { log_internal::lowest.store(level, std::memory_order_relaxed); }

bool Logging::Flush(Duration at_most) { return Queue::Instance().Flush(std::chrono::microseconds(at_most.micros)); }

uint64_t Logging::Dropped() { return Queue::Instance().dropped(); }

}  // namespace kvarts
