// CommandParser: takes a client's commands off a connection, as Redis' protocol frames them: arrays of bulk strings, or
// a line of words.
//
//   while (parser.Parse(stream.input()) == CommandParser::State::kCommand) {
//     … parser.arguments() …
//     stream.Consume(parser.consumed());
//   }
//
// A command may arrive in any pieces: the parser knows how far it was, and looks at each byte once. Arguments lie where
// they arrived, but for the words of a line with quotes. What is refused, at which byte and in which words is what
// Redis 7.0 does, and as there nothing can follow it: nobody knows where the next command would begin.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace kvarts::resp {

class CommandParser {
 public:
  static constexpr size_t kMaxLineBytes = 64 << 10;  // of a line of words, and of a line that says a length
  static constexpr int64_t kMaxArguments = INT32_MAX;
  // Before a client has said who it is.
  static constexpr int64_t kMaxStrangersArguments = 10;
  static constexpr int64_t kMaxStrangersBytes = 16 << 10;

  struct Limits {
    int64_t max_bulk_bytes = 512 << 20;  // of one argument
    bool stranger = false;               // the client has to say who it is, and has not yet
  };

  enum class State : uint8_t {
    kMore,     // the input ends before the command does
    kCommand,  // there is one; it has no arguments when there is nothing to do or to answer
    kError,    // the last there is
  };

  // `input` begins where the command does; what was there at the last call is still there, and more behind it. After
  // kCommand it begins anew behind what was consumed.
  State Parse(std::string_view input, const Limits& limits);

  // What a command of very many arguments has left behind goes. Between commands; those of the last are gone.
  void LetGo();

  // Of a command. Borrowed from the input and from the parser, until its next call.
  std::span<const std::string_view> arguments() const { return arguments_; }
  size_t consumed() const { return at_; }
  // Of an error: "Protocol error: invalid bulk length".
  const std::string& error() const { return error_; }
  // How long the input has to be, at least, before it is worth calling again.
  size_t wanted() const { return wanted_; }

 private:
  // These are false when there is not enough input, or when what there is was refused.
  bool ParseLine(std::string_view input);
  bool ParseArray(std::string_view input, const Limits& limits);
  bool TakeCount(std::string_view input, const Limits& limits);
  bool TakeArgument(std::string_view input, const Limits& limits);
  // A line such as "$5", without its end.
  bool TakeLine(std::string_view input, std::string_view too_long, std::string_view* line);
  bool Fail(std::string_view why);
  void Begin();

  static constexpr size_t kKeptArguments = 256;
  static constexpr size_t kKeptWordBytes = 4 << 10;

  struct Place {
    size_t at;
    size_t size;
  };

  bool begun_ = false;  // something of the command is known
  size_t at_ = 0;       // what of the input was taken
  size_t looked_ = 0;   // up to where it was looked for the end of a line
  size_t wanted_ = 1;
  int64_t left_ = -1;  // arguments that are still to come; less than zero: not known yet
  int64_t size_ = -1;  // of the next argument; less than zero: not known yet
  std::vector<Place> places_;
  std::vector<std::string_view> arguments_;
  Bytes words_;  // of a line, without their quotes
  std::string error_;
};

// The words of a line, as a shell of Redis has them: "…" with escapes, '…', and what stands between blanks. Appends
// them one behind the other, and their sizes. False when a quote is not closed, or something stands right behind it.
bool SplitWords(std::string_view line, Bytes* words, std::vector<size_t>* sizes);

}  // namespace kvarts::resp
