// What the terminal can do, and a line on it that says how far something has come.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kvarts::cli {

bool InputIsTerminal();
bool OutputIsTerminal();
bool ErrorIsTerminal();

// Text in a quieter or louder voice, if the standard output is a terminal that takes it (and NO_COLOR is not set).
std::string Dim(std::string_view text);
std::string Bold(std::string_view text);
std::string Red(std::string_view text);

// Prints to the standard output.
void Print(std::string_view text);
void PrintError(std::string_view text);

// A line on the standard error that is replaced now and then; nothing at all unless that is a terminal.
class Progress {
 public:
  Progress() : shown_(ErrorIsTerminal()) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it is time to say something new; asked often, so it is cheap.
  bool Due();
  void Show(const std::string& text);
  void Clear();

 private:
  const bool shown_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace kvarts::cli
