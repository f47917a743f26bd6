#include "document/path.h"

#include <algorithm>
#include <charconv>

#include "base/shown.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

using Step = DocumentPath::Step;

constexpr const char* kNoName =
    "a name was expected: a letter or _, and then letters, digits, _ and -; any other stands in backquotes";
constexpr const char* kTooManySteps = "a path has at most 32 steps";
constexpr const char* kTooLong = "a path has at most 1024 bytes";
constexpr const char* kTwoEach = "a path has at most one [*]";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameByte(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '-'; }

bool IsPlain(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) && std::ranges::all_of(name, IsNameByte);
}

void AppendName(std::string* to, std::string_view name) {
  if (IsPlain(name)) {
    to->append(name);
    return;
  }
  to->push_back('`');
  for (const char c : name) to->append(c == '`' ? 2 : 1, c);
  to->push_back('`');
}

}  // namespace

std::strong_ordering operator<=>(const Step& a, const Step& b) {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.kind == Step::Kind::kName) return CompareNames(a.name, b.name);
  return a.index <=> b.index;
}

// Reads the path at the front of a text, as far as it goes.
class DocumentPath::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Null, or what is wrong at `at()`.
  const char* Run() {
    const char* why = TakeName();
    while (why == nullptr && (Front() == '.' || Front() == '[')) {
      why = Front() == '.' ? (++at_, TakeName()) : TakeBracket();
    }
    if (why != nullptr || at_ <= kMaxTextBytes) return why;
    at_ = kMaxTextBytes;
    return kTooLong;
  }

  size_t at() const { return at_; }
  // Where the first [*] is.
  std::optional<size_t> each() const { return each_; }
  std::vector<Step>& steps() { return steps_; }

 private:
  // Zero at the end, which no rule accepts.
  char Front() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  const char* TakeName() {
    if (steps_.size() == kMaxSteps) return kTooManySteps;
    if (Front() == '`') return TakeQuoted();
    if (!IsLetter(Front())) return kNoName;
    const size_t from = at_;
    while (IsNameByte(Front())) ++at_;
    steps_.push_back({Step::Kind::kName, std::string(text_.substr(from, at_ - from))});
    return nullptr;
  }

  const char* TakeQuoted() {
    const size_t from = at_++;
    std::string name;
    while (true) {
      const size_t quote = text_.find('`', at_);
      if (quote == text_.npos) {
        at_ = from;
        return "a backquote that is not closed";
      }
      name.append(text_.substr(at_, quote - at_));
      at_ = quote + 1;
      if (Front() != '`') break;
      name.push_back('`');
      ++at_;
    }
    if (!IsUtf8(name)) {
      at_ = from;
      return "a name that is not UTF-8";
    }
    steps_.push_back({Step::Kind::kName, std::move(name)});
    return nullptr;
  }

  const char* TakeBracket() {
    if (steps_.size() == kMaxSteps) return kTooManySteps;
    const size_t from = at_++;
    if (Front() == '*') {
      if (each_) return kTwoEach;
      each_ = from;
      ++at_;
      steps_.push_back({Step::Kind::kEach});
    } else {
      Step step{Step::Kind::kIndex};
      const char* const begin = text_.data() + at_;
      const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), step.index);
      if (problem == std::errc::result_out_of_range) return "an index is at most 4294967295";
      if (problem != std::errc()) return "an index was expected";
      if (*begin == '0' && end != begin + 1) return "an index begins with a zero";
      at_ = static_cast<size_t>(end - text_.data());
      steps_.push_back(std::move(step));
    }
    if (Front() != ']') return "a ] was expected";
    ++at_;
    return nullptr;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::optional<size_t> each_;
  std::vector<Step> steps_;
};

namespace {

Error Refused(const char* why, std::string_view text, size_t position) {
  return Error(ErrorCode::kInvalidArgument, why,
               {{"path", Shown(text.substr(0, DocumentPath::kMaxTextBytes))}, {"position", std::to_string(position)}});
}

constexpr const char* kEachRefused = "[*] has no meaning here";

}  // namespace

Result<DocumentPath> DocumentPath::Parse(std::string_view text, Each each) {
  if (text.size() > kMaxTextBytes) return Refused(kTooLong, text, kMaxTextBytes);
  Parser parser(text);
  if (const char* const why = parser.Run()) return Refused(why, text, parser.at());
  if (parser.at() != text.size()) {
    return Refused("a path goes on with . or [; a name with other characters stands in backquotes", text, parser.at());
  }
  if (parser.each() && each == Each::kRefused) return Refused(kEachRefused, text, *parser.each());
  return Of(std::move(parser.steps()));
}

Result<DocumentPath> DocumentPath::ParseFront(std::string_view text, size_t* end) {
  Parser parser(text);
  const char* why = parser.Run();
  *end = parser.at();
  if (why == nullptr && parser.each()) {
    *end = *parser.each();
    why = kEachRefused;
  }
  if (why != nullptr) return Refused(why, text, *end);
  return Of(std::move(parser.steps()));
}

Result<DocumentPath> DocumentPath::Of(std::vector<Step> steps) {
  DocumentPath path;
  path.steps_ = std::move(steps);
  path.each_ = path.steps_.size();
  const auto refused = [&](const char* why) { return Error(ErrorCode::kInvalidArgument, why); };
  if (path.steps_.empty() || path.steps_.front().kind != Step::Kind::kName) return refused("a path begins with a name");
  if (path.steps_.size() > kMaxSteps) return refused(kTooManySteps);
  for (size_t i = 0; i < path.steps_.size(); ++i) {
    const Step& step = path.steps_[i];
    if (!IsUtf8(step.name)) return refused("a name that is not UTF-8");
    if (step.kind != Step::Kind::kEach) continue;
    if (path.HasEach()) return refused(kTwoEach);
    path.each_ = i;
  }
  if (path.ToString().size() > kMaxTextBytes) return refused(kTooLong);
  return path;
}

std::string DocumentPath::ToString() const {
  std::string text;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kName:
        if (&step != steps_.data()) text.push_back('.');
        AppendName(&text, step.name);
        break;
      case Step::Kind::kIndex:
        text.append("[").append(std::to_string(step.index)).append("]");
        break;
      case Step::Kind::kEach:
        text.append("[*]");
        break;
    }
  }
  return text;
}

std::optional<DocumentView> DocumentPath::Follow(DocumentView from, std::span<const Step> steps) {
  std::optional<DocumentView> found = from;
  for (const Step& step : steps) {
    const bool by_name = step.kind == Step::Kind::kName;
    if (found->kind() != (by_name ? DocumentKind::kMap : DocumentKind::kList)) return std::nullopt;
    found = by_name ? found->Find(step.name) : found->At(step.index);
    if (!found) return std::nullopt;
  }
  return found;
}

Status CheckApart(const DocumentPath& a, const DocumentPath& b) {
  const auto refused = [&](const char* why) {
    return Error(ErrorCode::kInvalidArgument, why, {{"path", Shown(a.ToString())}, {"other", Shown(b.ToString())}});
  };
  const auto [of_a, of_b] = std::ranges::mismatch(a.steps(), b.steps());
  if (of_a == a.steps().end() || of_b == b.steps().end()) return refused("two paths overlap");
  if (of_a->kind != of_b->kind) return refused("two paths take the same value for a map and for a list");
  return {};
}

}  // namespace kvarts
