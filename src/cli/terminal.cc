#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/colours.h"

namespace kvarts::cli {
namespace {

bool HasColours() {
  static const bool kHas = TakesColours(STDOUT_FILENO);
  return kHas;
}

std::string Styled(std::string_view code, std::string_view text) {
  if (!HasColours()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

bool InputIsTerminal() { return isatty(STDIN_FILENO) == 1; }
bool OutputIsTerminal() { return isatty(STDOUT_FILENO) == 1; }
bool ErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

std::string Dim(std::string_view text) { return Styled("2", text); }
std::string Bold(std::string_view text) { return Styled("1", text); }
std::string Red(std::string_view text) { return Styled("31", text); }

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintError(std::string_view text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool Progress::Due() { return shown_ && std::chrono::steady_clock::now() >= next_; }

void Progress::Show(const std::string& text) {
  if (!shown_) return;
  PrintError(fmt::format("\r\x1b[K{}", text));
  visible_ = true;
  next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
}

void Progress::Clear() {
  if (visible_) PrintError("\r\x1b[K");
  visible_ = false;
}

}  // namespace kvarts::cli
