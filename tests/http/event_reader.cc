#include "http/event_reader.h"

#include <cstdlib>

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kSlice(5);

std::string FieldOf(const std::string& block, const std::string& name) {
  const size_t at = ("\n" + block).find("\n" + name + ": ");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return block.substr(begin, block.find('\n', begin) - begin);
}

}  // namespace

EventReader::EventReader(const std::string& address, std::string_view target, HttpHeaders headers) : client_(address) {
  headers.emplace_back("Accept", "text/event-stream");
  client_.Send(RequestText("GET", target, headers));
  const auto give_up = Steady::now() + kPatience;
  size_t end = std::string::npos;
  while (end == std::string::npos && Steady::now() < give_up) {
    raw_ += client_.ReadRaw(kSlice);
    end = raw_.find("\r\n\r\n");
    if (client_.ended()) break;
  }
  if (end == std::string::npos) return;
  status_ = std::atoi(raw_.c_str() + sizeof("HTTP/1.1"));
  raw_.erase(0, end + 4);
  if (status_ != 200) return;
  Unchunk();
  while (comments_ == 0 && events_.empty() && Steady::now() < give_up && Pull()) continue;
}

bool EventReader::Pull() {
  if (last_chunk_ || client_.ended()) return false;
  raw_ += client_.ReadRaw(kSlice);
  Unchunk();
  return true;
}

void EventReader::Unchunk() {
  while (!last_chunk_) {
    const size_t line = raw_.find("\r\n");
    if (line == std::string::npos) break;
    const size_t size = std::strtoul(raw_.c_str(), nullptr, 16);
    if (raw_.size() < line + 2 + size + 2) break;
    text_.append(raw_, line + 2, size);
    raw_.erase(0, line + 2 + size + 2);
    last_chunk_ = size == 0;
  }
  Split();
}

void EventReader::Split() {
  for (size_t end = text_.find("\n\n"); end != std::string::npos; end = text_.find("\n\n")) {
    const std::string block = text_.substr(0, end);
    text_.erase(0, end + 2);
    if (block.starts_with(":")) {
      ++comments_;
    } else {
      events_.push_back({FieldOf(block, "id"), FieldOf(block, "event"), FieldOf(block, "data")});
    }
  }
}

std::optional<WatchEvent> EventReader::Next(milliseconds patience) {
  const auto give_up = Steady::now() + patience;
  while (events_.empty() && Steady::now() < give_up && Pull()) continue;
  if (events_.empty()) return std::nullopt;
  WatchEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::vector<WatchEvent> EventReader::Take(size_t count) {
  std::vector<WatchEvent> taken;
  while (taken.size() < count) {
    std::optional<WatchEvent> event = Next();
    if (!event) break;
    taken.push_back(*std::move(event));
  }
  return taken;
}

bool EventReader::EndsWithin(milliseconds time) {
  const auto give_up = Steady::now() + time;
  while (Steady::now() < give_up) {
    if (!Pull()) return true;
  }
  return false;
}

}  // namespace kvarts::test
