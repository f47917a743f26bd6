#include "cli/line_reader.h"

#include <fmt/format.h>
#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>

#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr int kHistoryLines = 1000;

std::string CommonBeginning(const std::vector<std::string>& words) {
  std::string common = words.front();
  for (const std::string& word : words) {
    size_t same = 0;
    while (same < common.size() && same < word.size() && common[same] == word[same]) ++same;
    common.resize(same);
  }
  return common;
}

class TerminalReader final : public LineReader {
 public:
  TerminalReader(Completer completer, std::string history_file)
      : completer_(std::move(completer)), history_file_(std::move(history_file)) {}
  ~TerminalReader() override;

  Status Open();
  Result<Line> Next(const std::string& prompt) override;

 private:
  static TerminalReader& Of(EditLine* edit);
  static char* Prompt(EditLine* edit) { return Of(edit).prompt_.data(); }
  static unsigned char OnCancel(EditLine* edit, int);
  static unsigned char OnComplete(EditLine* edit, int);
  unsigned char Complete();

  const Completer completer_;
  const std::string history_file_;
  std::string prompt_;
  bool cancelled_ = false;
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
};

TerminalReader::~TerminalReader() {
  HistEvent event;
  if (history_ != nullptr && !history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
  if (edit_ != nullptr) el_end(edit_);
  if (history_ != nullptr) history_end(history_);
}

Status TerminalReader::Open() {
  // Characters, not bytes, are what the cursor moves over.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  edit_ = el_init("kvarts", stdin, stdout, stderr);
  history_ = history_init();
  if (edit_ == nullptr || history_ == nullptr) {
    return Error(ErrorCode::kUnavailable, "the terminal cannot be edited on");
  }
  el_set(edit_, EL_CLIENTDATA, this);
  el_set(edit_, EL_EDITOR, "emacs");
  el_set(edit_, EL_PROMPT, &TerminalReader::Prompt);
  HistEvent event;
  history(history_, &event, H_SETSIZE, kHistoryLines);
  history(history_, &event, H_SETUNIQUE, 1);
  el_set(edit_, EL_HIST, history, history_);
  if (!history_file_.empty() && access(history_file_.c_str(), F_OK) == 0) {
    if (history(history_, &event, H_LOAD, history_file_.c_str()) < 0) {
      return Error(ErrorCode::kInvalidArgument, "the history file cannot be read", {{"path", history_file_}});
    }
  }
  // The narrow form of this call leaks its texts.
  el_wset(edit_, EL_ADDFN, L"kvarts-cancel", L"Throws the line away", &TerminalReader::OnCancel);
  el_wset(edit_, EL_ADDFN, L"kvarts-complete", L"Completes a command", &TerminalReader::OnComplete);
  el_set(edit_, EL_BIND, "^C", "kvarts-cancel", nullptr);
  el_set(edit_, EL_BIND, "^I", "kvarts-complete", nullptr);
  el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // While a line is edited, Ctrl-C is a key like any other.
  el_set(edit_, EL_SETTY, "-d", "-isig", nullptr);
  return {};
}

TerminalReader& TerminalReader::Of(EditLine* edit) {
  void* self = nullptr;
  el_get(edit, EL_CLIENTDATA, &self);
  return *static_cast<TerminalReader*>(self);
}

unsigned char TerminalReader::OnCancel(EditLine* edit, int) {
  Of(edit).cancelled_ = true;
  return CC_NEWLINE;
}

unsigned char TerminalReader::OnComplete(EditLine* edit, int) { return Of(edit).Complete(); }

unsigned char TerminalReader::Complete() {
  const LineInfo* line = el_line(edit_);
  const std::string_view typed(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
  const std::vector<std::string> words = completer_(typed);
  if (words.empty()) return CC_REFRESH_BEEP;
  const size_t begun = typed.size() - (typed.find_last_of(' ') + 1);
  const std::string more = words.size() == 1 ? words[0] + " " : CommonBeginning(words);
  if (more.size() > begun) {
    el_insertstr(edit_, more.c_str() + begun);
    return CC_REFRESH;
  }
  Print("\n");
  for (const std::string& word : words) Print(fmt::format("  {}", word));
  Print("\n");
  std::fflush(stdout);
  return CC_REDISPLAY;
}

Result<LineReader::Line> TerminalReader::Next(const std::string& prompt) {
  prompt_ = prompt;
  cancelled_ = false;
  std::fflush(stdout);
  // Before the prompt shows: a Ctrl-D that is typed on sight of it must be a key, not the end of a line of the
  // terminal.
  el_set(edit_, EL_PREP_TERM, 1);
  int size = 0;
  const char* text = el_gets(edit_, &size);
  if (cancelled_) {
    Print("^C\n");
    return Line{Line::Kind::kCancelled, {}};
  }
  if (text == nullptr || size <= 0) return Line{Line::Kind::kEnd, {}};
  Line line{Line::Kind::kText, std::string(text, static_cast<size_t>(size))};
  while (!line.text.empty() && line.text.back() == '\n') line.text.pop_back();
  if (line.text.find_first_not_of(' ') != std::string::npos) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.text.c_str());
  }
  return line;
}

class PlainReader final : public LineReader {
 public:
  explicit PlainReader(size_t max_bytes) : max_bytes_(max_bytes) {}

  Result<Line> Next(const std::string&) override {
    while (true) {
      if (const size_t end = buffer_.find('\n', searched_); end != std::string::npos) return Take(end, end + 1);
      searched_ = buffer_.size();
      if (buffer_.size() > max_bytes_) {
        return Error(ErrorCode::kTooLarge, "the line is too long", {{"at_most", std::to_string(max_bytes_)}});
      }
      // Whoever waits for the answers before writing the next line must be able to see them.
      std::fflush(stdout);
      char chunk[64 << 10];
      const ssize_t got = read(STDIN_FILENO, chunk, sizeof(chunk));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error(ErrorCode::kUnavailable, "the input cannot be read", {{"cause", std::strerror(errno)}});
      }
      if (got == 0 && buffer_.empty()) return Line{Line::Kind::kEnd, {}};
      if (got == 0) return Take(buffer_.size(), buffer_.size());
      buffer_.append(chunk, static_cast<size_t>(got));
    }
  }

 private:
  Line Take(size_t end, size_t next) {
    Line line{Line::Kind::kText, buffer_.substr(0, end)};
    buffer_.erase(0, next);
    searched_ = 0;
    return line;
  }

  const size_t max_bytes_;
  std::string buffer_;
  size_t searched_ = 0;  // no line ends before this
};

}  // namespace

Result<std::unique_ptr<LineReader>> MakeTerminalReader(Completer completer, const std::string& history_file) {
  auto reader = std::make_unique<TerminalReader>(std::move(completer), history_file);
  KVARTS_CHECK_OK(reader->Open());
  return reader;
}

std::unique_ptr<LineReader> MakePlainReader(size_t max_bytes) { return std::make_unique<PlainReader>(max_bytes); }

}  // namespace kvarts::cli
