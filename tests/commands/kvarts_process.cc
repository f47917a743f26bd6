#include "commands/kvarts_process.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "support/child_process.h"
#include "support/eventually.h"

namespace kvarts::test {
namespace {

constexpr const char* kBinary = KVARTS_BINARY_DIR "/kvarts";
constexpr std::chrono::seconds kPatience(60);

std::vector<std::string> WordsOf(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {kBinary};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

int WaitFor(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid failed");
  return ExitCode(status);
}

// Without what moves the cursor and changes colours.
std::string WithoutEscapes(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
    } else if (text[i] != '\r') {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

// Takes JSON values off a text; false where it is not well-formed.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {}

  bool Whole() {
    const bool good = Value();
    Blanks();
    return good && text_.empty();
  }

 private:
  void Blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])) != 0) text_.remove_prefix(1);
  }
  bool Take(std::string_view word) {
    Blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool Value() {
    Blanks();
    if (text_.empty()) return false;
    if (text_[0] == '{') return List("{", "}", true);
    if (text_[0] == '[') return List("[", "]", false);
    if (text_[0] == '"') return Text();
    return Take("true") || Take("false") || Take("null") || Number();
  }
  bool List(std::string_view open, std::string_view close, bool named) {
    if (!Take(open)) return false;
    if (Take(close)) return true;
    do {
      if (named && !(Text() && Take(":"))) return false;
      if (!Value()) return false;
    } while (Take(","));
    return Take(close);
  }
  bool Text() {
    if (!Take("\"")) return false;
    while (!text_.empty() && text_[0] != '"') {
      if (static_cast<unsigned char>(text_[0]) < 0x20) return false;
      if (text_[0] == '\\') text_.remove_prefix(1);
      if (text_.empty()) return false;
      text_.remove_prefix(1);
    }
    return Take("\"");
  }
  bool Number() {
    const size_t size = text_.find_first_not_of("+-.0123456789eE");
    const std::string number(text_.substr(0, size));
    char* end = nullptr;
    std::strtod(number.c_str(), &end);
    text_.remove_prefix(number.size());
    return !number.empty() && *end == '\0';
  }

  std::string_view text_;
};

}  // namespace

Ran RunKvarts(const std::vector<std::string>& words, const std::string& input) {
  return RunProgram(WordsOf(words), input);
}

Ran RunScript(const std::string& dir, const std::string& script, const std::vector<std::string>& options) {
  std::vector<std::string> words = {"shell", dir};
  words.insert(words.end(), options.begin(), options.end());
  return RunKvarts(words, script);
}

OnTerminal::OnTerminal(const std::vector<std::string>& words) {
  const winsize size{.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error("cannot open a terminal");
  if (pid_ == 0) {
    setenv("TERM", "xterm", 1);
    Become(WordsOf(words));
  }
}

OnTerminal::~OnTerminal() {
  if (!waited_) {
    kill(pid_, SIGKILL);
    WaitFor(pid_);
  }
  close(terminal_);
}

void OnTerminal::Type(const std::string& keys) {
  if (write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("cannot write to the terminal");
  }
}

bool OnTerminal::AwaitCatching() {
  const std::string path = "/proc/" + std::to_string(pid_) + "/status";
  return Eventually([&] {
    std::ifstream status(path);
    for (std::string line; std::getline(status, line);) {
      constexpr std::string_view kCaught = "SigCgt:";
      if (!line.starts_with(kCaught)) continue;
      return (std::stoull(line.substr(kCaught.size()), nullptr, 16) & (1u << (SIGINT - 1))) != 0;
    }
    return false;
  });
}

std::string OnTerminal::Await(const std::string& text) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    const std::string plain = WithoutEscapes(unread_);
    if (plain.find(text) != std::string::npos) {
      unread_.clear();
      return plain;
    }
    pollfd ready{.fd = terminal_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 100) <= 0) continue;
    char chunk[4096];
    const ssize_t got = read(terminal_, chunk, sizeof(chunk));
    if (got <= 0) break;
    unread_.append(chunk, static_cast<size_t>(got));
  }
  return WithoutEscapes(unread_);
}

int OnTerminal::Wait() {
  waited_ = true;
  return WaitFor(pid_);
}

bool IsJson(const std::string& text) { return JsonChecker(text).Whole(); }

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace kvarts::test
