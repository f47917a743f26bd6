// Regex: a regular expression that matches in time linear in the text, whatever either of them is. The syntax is RE2's:
// what Perl has, without back references and looking around, which no such time can be promised for. Patterns and texts
// are UTF-8, `.` and classes are of characters, and `.` is any of them but a newline.
//
// Linear is not always fast: a match takes at most so much work for each byte as the compiled pattern is long, and a
// hostile one of these is a thousand times that of a harmless one. Who has a budget asks Steps before.
//
// A Regex is a value that is cheap to copy. Matching is safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace kvarts {

class Regex {
 public:
  static constexpr size_t kMaxPatternBytes = 1024;
  // What the compiled pattern, and the states that were met while matching, may take.
  static constexpr size_t kMaxMemoryBytes = 1024 * 1024;

  // `invalid_argument` with the `pattern` and `why` it is none; `too_large` when it is longer than it may be.
  static Result<Regex> Compile(std::string_view pattern);

  // The whole of the text.
  bool Matches(std::string_view text) const;
  // Somewhere in the text; ^ and $ stand for its ends.
  bool IsIn(std::string_view text) const;
  // How much work either may be at most, in units of about a tenth of a microsecond.
  uint64_t Steps(std::string_view text) const;

  // The pattern.
  const std::string& text() const;
  friend bool operator==(const Regex& a, const Regex& b) { return a.text() == b.text(); }

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace kvarts
