#include "model/structure/glob.h"

#include <algorithm>

namespace kvarts::structure {
namespace {

// A class that begins behind "[": takes it off the pattern, up to its "]" or the pattern's end.
bool TakeClass(BytesView* pattern, char c) {
  const bool negated = pattern->starts_with('^');
  if (negated) pattern->remove_prefix(1);
  bool matches = false;
  while (!pattern->empty() && pattern->front() != ']') {
    char first = pattern->front();
    if (first == '\\' && pattern->size() >= 2) {
      first = (*pattern)[1];
      pattern->remove_prefix(2);
      matches = matches || first == c;
    } else if (pattern->size() >= 3 && (*pattern)[1] == '-') {
      const auto [low, high] = std::minmax({static_cast<uint8_t>(first), static_cast<uint8_t>((*pattern)[2])});
      pattern->remove_prefix(3);
      matches = matches || (low <= static_cast<uint8_t>(c) && static_cast<uint8_t>(c) <= high);
    } else {
      pattern->remove_prefix(1);
      matches = matches || first == c;
    }
  }
  if (!pattern->empty()) pattern->remove_prefix(1);
  return matches != negated;
}

// What stands for one character, taken off the pattern, which is not empty.
bool TakeOne(BytesView* pattern, char c) {
  char first = pattern->front();
  pattern->remove_prefix(1);
  if (first == '?') return true;
  if (first == '[') return TakeClass(pattern, c);
  if (first == '\\' && !pattern->empty()) {
    first = pattern->front();
    pattern->remove_prefix(1);
  }
  return first == c;
}

}  // namespace

bool GlobMatches(BytesView pattern, BytesView text) {
  // Where to go on when it does not match from here: behind the last star, with one character more for that.
  BytesView star_pattern;
  BytesView star_text;
  bool starred = false;
  while (true) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      if (pattern.empty()) return true;
      starred = true;
      star_pattern = pattern;
      star_text = text;
      continue;
    }
    if (text.empty() && pattern.empty()) return true;
    if (!text.empty() && !pattern.empty() && TakeOne(&pattern, text.front())) {
      text.remove_prefix(1);
      continue;
    }
    if (!starred || star_text.empty()) return false;
    star_text.remove_prefix(1);
    pattern = star_pattern;
    text = star_text;
  }
}

Bytes GlobBeginning(BytesView pattern) {
  Bytes beginning;
  while (!pattern.empty() && BytesView("*?[").find(pattern.front()) == BytesView::npos) {
    if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    beginning.push_back(pattern.front());
    pattern.remove_prefix(1);
  }
  return beginning;
}

}  // namespace kvarts::structure
