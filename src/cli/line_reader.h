// Where the shell's lines come from: a terminal with editing, history and completion, or any other input, read plainly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvarts::cli {

class LineReader {
 public:
  struct Line {
    enum class Kind : unsigned char {
      kText,
      kCancelled,  // Ctrl-C: what was typed is thrown away
      kEnd,        // Ctrl-D, or the input has ended
    };
    Kind kind = Kind::kText;
    std::string text;
  };

  virtual ~LineReader() = default;
  virtual Result<Line> Next(const std::string& prompt) = 0;
};

// What a word that was begun can become.
using Completer = std::function<std::vector<std::string>(std::string_view line)>;

// Edits lines on the terminal. History is kept in `history_file` if one is named, else for as long as this lives.
Result<std::unique_ptr<LineReader>> MakeTerminalReader(Completer completer, const std::string& history_file);

// Reads the standard input and shows no prompt. A line has at most `max_bytes`.
std::unique_ptr<LineReader> MakePlainReader(size_t max_bytes);

}  // namespace kvarts::cli
