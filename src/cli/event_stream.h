// Server-sent events (text/event-stream), taken off the bytes of a stream as they come in pieces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts::cli {

struct StreamEvent {
  std::string id;  // of this event, or the last one that had one
  std::string name;
  std::string data;
};

class EventStream {
 public:
  explicit EventStream(size_t max_event_bytes) : max_event_bytes_(max_event_bytes) {}

  // Calls on_event for each event that is whole now; a false from it ends the reading. `too_large` for an event beyond
  // the limit. Comments, which are signs of life, are skipped.
  Status Feed(std::string_view piece, const std::function<bool(const StreamEvent&)>& on_event);
  // Where to go on: of the last event that was whole, whether or not it had data.
  const std::string& last_id() const { return last_id_; }

 private:
  // False when the event that this line ended was the last one wanted.
  bool TakeLine(std::string_view line, const std::function<bool(const StreamEvent&)>& on_event);

  const size_t max_event_bytes_;
  std::string line_;  // as far as it has come
  StreamEvent event_;
  std::string last_id_;
  bool has_data_ = false;
};

}  // namespace kvarts::cli
