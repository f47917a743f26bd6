// A watch as a client of server-sent events reads it: event by event, out of chunks that may end anywhere.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/json_value.h"

namespace kvarts::test {

struct WatchEvent {
  std::string id;
  std::string event;
  std::string data;

  JsonValue json() const { return JsonValue::Parse(data); }
  std::string key() const { return json()["key"].text(); }
};

class EventReader {
 public:
  static constexpr std::chrono::milliseconds kPatience{10'000};

  // Asks, and waits for the head of the answer. Of a watch that is heard, the first comment too.
  EventReader(const std::string& address, std::string_view target, HttpHeaders headers = {});

  int status() const { return status_; }
  // Of an answer that is no stream.
  const std::string& refusal() const { return raw_; }
  // The next event; nothing when the time is over or the stream ended first.
  std::optional<WatchEvent> Next(std::chrono::milliseconds patience = kPatience);
  // So many, or those that came.
  std::vector<WatchEvent> Take(size_t count);
  // Lines such as ": heartbeat" so far.
  size_t comments() const { return comments_; }
  // Whether the stream, or the connection, ends within this time. Events that come before can still be read.
  bool EndsWithin(std::chrono::milliseconds time);
  // Whether it ended as chunks do, so that the connection can go on.
  bool ended_well() const { return last_chunk_; }
  HttpClient& client() { return client_; }

 private:
  // Takes in what arrives within a short time; false at the end.
  bool Pull();
  void Unchunk();
  void Split();

  HttpClient client_;
  int status_ = 0;
  bool last_chunk_ = false;
  std::string raw_;   // as it was sent
  std::string text_;  // without chunks
  std::deque<WatchEvent> events_;
  size_t comments_ = 0;
};

}  // namespace kvarts::test
