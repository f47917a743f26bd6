#include "protocol/resp/slow_log.h"

#include <algorithm>

#include <fmt/format.h>

namespace kvarts::resp {

void SlowLog::Add(Entry entry, size_t most) {
  std::lock_guard lock(mutex_);
  entry.id = next_++;
  entries_.push_front(std::move(entry));
  if (entries_.size() > most) entries_.resize(most);
}

std::vector<SlowLog::Entry> SlowLog::Latest(size_t count) const {
  std::lock_guard lock(mutex_);
  const size_t taken = std::min(count, entries_.size());
  return {entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(taken)};
}

size_t SlowLog::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void SlowLog::Clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

std::vector<std::string> CutWords(Arguments arguments) {
  const bool too_many = arguments.size() > SlowLog::kMaxWords;
  const size_t shown = too_many ? SlowLog::kMaxWords - 1 : arguments.size();
  std::vector<std::string> words;
  for (const std::string_view word : arguments.first(shown)) {
    std::string& kept = words.emplace_back(word.substr(0, SlowLog::kMaxWordBytes));
    if (word.size() > kept.size()) kept += fmt::format("... ({} more bytes)", word.size() - kept.size());
  }
  if (too_many) words.push_back(fmt::format("... ({} more arguments)", arguments.size() - shown));
  return words;
}

}  // namespace kvarts::resp
