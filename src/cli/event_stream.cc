#include "cli/event_stream.h"

#include <algorithm>

namespace kvarts::cli {

Status EventStream::Feed(std::string_view piece, const std::function<bool(const StreamEvent&)>& on_event) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    line_.append(piece.substr(0, end));
    if (line_.size() + event_.data.size() > max_event_bytes_) {
      return Error(ErrorCode::kTooLarge, "an event is too long", {{"at_most", std::to_string(max_event_bytes_)}});
    }
    if (end == piece.npos) break;
    piece.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    const bool more = TakeLine(line_, on_event);
    line_.clear();
    if (!more) break;
  }
  return {};
}

bool EventStream::TakeLine(std::string_view line, const std::function<bool(const StreamEvent&)>& on_event) {
  if (line.empty()) {
    last_id_ = event_.id;
    const bool more = !has_data_ || on_event(event_);
    event_.name.clear();
    event_.data.clear();
    has_data_ = false;
    return more;
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) event_.data.push_back('\n');
    event_.data.append(value);
    has_data_ = true;
  } else if (name == "event") {
    event_.name = value;
  } else if (name == "id") {
    event_.id = value;
  }
  return true;
}

}  // namespace kvarts::cli
