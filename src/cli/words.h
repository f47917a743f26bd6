// A line of the shell as words. Words are separated by blanks; one that begins with a double quote ends with the next
// one and may hold blanks; inside and outside of them \xNN is any byte, \\ a backslash and \" a quote. A word in single
// quotes is taken as it stands. A line that begins with # is a comment.
//
//   put "a key with blanks" {"name":"Ada"}      quotes within a word are nothing special
//   put k 'it takes "everything" as it is'
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/version.h"

namespace kvarts::cli {

struct Word {
  Bytes text;
  bool quoted = false;  // then it is never a keyword

  friend bool operator==(const Word&, const Word&) = default;
};

// No words for an empty line and a comment.
Result<std::vector<Word>> SplitWords(std::string_view line);

// Takes the words of a command one after the other. `what` is a constant that names the word in errors, which also say
// how the command is written.
class WordReader {
 public:
  WordReader(std::span<const Word> words, std::string usage) : words_(words), usage_(std::move(usage)) {}

  bool AtEnd() const { return words_.empty(); }
  Result<Bytes> Take(const char* what);
  Result<uint64_t> TakeCount(const char* what);
  Result<int64_t> TakeInteger(const char* what);
  Result<Duration> TakeDuration(const char* what);
  Result<Version> TakeVersion(const char* what);
  // Whether there is a word that is none of these keywords.
  bool HasOther(std::initializer_list<std::string_view> keywords) const;
  // Whether the next word is this keyword; takes it if it is.
  bool TakeIf(std::string_view keyword);
  // That nothing is left.
  Status Finish() const;

 private:
  template <class Parsed>
  Result<Parsed> TakeParsed(const char* what, Result<Parsed> (*parse)(std::string_view));

  std::span<const Word> words_;
  const std::string usage_;
};

}  // namespace kvarts::cli
