#include "cli/words.h"

#include <algorithm>
#include <string>

#include "cli/text.h"

namespace kvarts::cli {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Error Broken(const char* text, size_t position) {
  return Error(ErrorCode::kInvalidArgument, text, {{"column", std::to_string(position + 1)}});
}

// Takes words off a line.
class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  void SkipBlanks() {
    while (at_ < line_.size() && IsBlank(line_[at_])) ++at_;
  }
  bool AtEnd() const { return at_ == line_.size(); }
  char Peek() const { return line_[at_]; }
  // A line that begins with # is a comment; behind words a blank has to follow it, so that #1 can be a key.
  bool AtComment(bool first) const {
    return Peek() == '#' && (first || at_ + 1 == line_.size() || IsBlank(line_[at_ + 1]));
  }

  Result<Word> TakeWord() {
    if (Peek() == '\'') return TakeVerbatim();
    if (Peek() == '"') return TakeQuoted();
    std::string text;
    for (; at_ < line_.size() && !IsBlank(line_[at_]); ++at_) KVARTS_CHECK_OK(TakeCharacter(&text));
    return Word{std::move(text), false};
  }

 private:
  Result<Word> TakeVerbatim() {
    const size_t end = line_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return Broken("a quote is not closed", at_);
    Word word{Bytes(line_.substr(at_ + 1, end - at_ - 1)), true};
    at_ = end + 1;
    KVARTS_CHECK_OK(ExpectBlank());
    return word;
  }

  Result<Word> TakeQuoted() {
    const size_t start = at_++;
    std::string text;
    for (; at_ < line_.size() && line_[at_] != '"'; ++at_) KVARTS_CHECK_OK(TakeCharacter(&text));
    if (AtEnd()) return Broken("a quote is not closed", start);
    ++at_;
    KVARTS_CHECK_OK(ExpectBlank());
    return Word{std::move(text), true};
  }

  // Adds the character at the current place, or what an escape there stands for; leaves the place on its last byte.
  Status TakeCharacter(std::string* text) {
    if (line_[at_] != '\\') {
      text->push_back(line_[at_]);
      return {};
    }
    if (at_ + 1 < line_.size() && line_[at_ + 1] == '"') {
      text->push_back('"');
      ++at_;
      return {};
    }
    const size_t size = at_ + 1 < line_.size() && line_[at_ + 1] == 'x' ? 4 : 2;
    const Result<Bytes> bytes = ParseEscaped(line_.substr(at_, size));
    if (!bytes.has_value()) return Broken("after a backslash comes a backslash, a quote or xNN", at_);
    text->append(*bytes);
    at_ += size - 1;
    return {};
  }

  Status ExpectBlank() const {
    if (AtEnd() || IsBlank(Peek())) return {};
    return Broken("a blank must follow a closing quote", at_);
  }

  std::string_view line_;
  size_t at_ = 0;
};

Result<Version> ParseVersion(std::string_view text) {
  if (const auto version = Version::Parse(text)) return *version;
  return Error(ErrorCode::kInvalidArgument, "not a version; get shows the version of a value",
               {{"word", std::string(text)}});
}

}  // namespace

Result<std::vector<Word>> SplitWords(std::string_view line) {
  std::vector<Word> words;
  Splitter splitter(line);
  splitter.SkipBlanks();
  while (!splitter.AtEnd() && !splitter.AtComment(words.empty())) {
    KVARTS_TRY(Word word, splitter.TakeWord());
    words.push_back(std::move(word));
    splitter.SkipBlanks();
  }
  return words;
}

Result<Bytes> WordReader::Take(const char* what) {
  if (words_.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a word is missing", {{"argument", what}, {"usage", usage_}});
  }
  Bytes text = words_.front().text;
  words_ = words_.subspan(1);
  return text;
}

template <class Parsed>
Result<Parsed> WordReader::TakeParsed(const char* what, Result<Parsed> (*parse)(std::string_view)) {
  KVARTS_TRY(const Bytes text, Take(what));
  Result<Parsed> parsed = parse(text);
  if (parsed.has_value()) return parsed;
  // Texts of errors are constants, so this one can be had again.
  return Error(ErrorCode::kInvalidArgument, parsed.error().text().data(),
               {{"word", ShownWord(text)}, {"usage", usage_}});
}

Result<uint64_t> WordReader::TakeCount(const char* what) { return TakeParsed(what, &ParseCount); }
Result<int64_t> WordReader::TakeInteger(const char* what) { return TakeParsed(what, &ParseInteger); }
Result<Duration> WordReader::TakeDuration(const char* what) { return TakeParsed(what, &ParseDuration); }
Result<Version> WordReader::TakeVersion(const char* what) { return TakeParsed(what, &ParseVersion); }

bool WordReader::HasOther(std::initializer_list<std::string_view> keywords) const {
  if (words_.empty()) return false;
  return words_.front().quoted || std::ranges::find(keywords, words_.front().text) == keywords.end();
}

bool WordReader::TakeIf(std::string_view keyword) {
  if (words_.empty() || words_.front().quoted || words_.front().text != keyword) return false;
  words_ = words_.subspan(1);
  return true;
}

Status WordReader::Finish() const {
  if (words_.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, "there is a word too many, and what has blanks is quoted",
               {{"word", ShownWord(words_.front().text)}, {"usage", usage_}});
}

}  // namespace kvarts::cli
