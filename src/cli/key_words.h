// Keys, values and ranges as the words of a command line, and as parts of requests.
//
// A word is text with \xNN for any byte, as in the shell; with --hex or --base64 all keys and values of the command
// line are that instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {

// --hex and --base64.
std::vector<OptionSyntax> WordOptions();
// --start and --end.
std::vector<OptionSyntax> RangeOptions();
// --durability.
OptionSyntax DurabilityOption();
// One list behind the other.
std::vector<OptionSyntax> Joined(std::vector<OptionSyntax> first, const std::vector<OptionSyntax>& second);

Result<Bytes> DecodeWord(const Arguments& arguments, const std::string& word);
// That all words and the bounds of a range can be decoded: for Syntax::check. "-" is left alone.
Status CheckWords(const Arguments& arguments);
// The same of the first argument alone, where others are no keys or values.
Status CheckKeyWord(const Arguments& arguments);

// A range: a prefix (the first argument, or --prefix), or --start and --end; all keys without any of them.
// `CheckWords` has seen the arguments.
struct RangeWords {
  std::optional<Bytes> prefix = {};
  std::optional<Bytes> start = {};
  std::optional<Bytes> end = {};

  bool IsEverything() const { return !prefix && !start && !end; }
  // As members of an object that is being written.
  void Write(JsonWriter& json) const;
};
Result<RangeWords> RangeOf(const Arguments& arguments);
// CheckWords, and that the range is a prefix or has bounds: for Syntax::check.
Status CheckRange(const Arguments& arguments);

// "/keys/a%2Fb".
std::string KeyPath(std::string_view before, BytesView key);

// Parameters of a request: "?prefix=a&limit=10", or nothing.
class Query {
 public:
  Query& Add(std::string_view name, BytesView value);
  Query& Add(const RangeWords& range);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The headers that the options of a write ask for: Kvarts-Durability.
std::vector<std::string> WriteHeaders(const Arguments& arguments, std::vector<std::string> others = {});
// Seconds as JSON and queries have them: "30", "0.5".
std::string Seconds(uint64_t micros);

}  // namespace kvarts::cli
