#include "protocol/resp/scan_options.h"

#include <charconv>

#include "protocol/resp/arguments.h"

namespace kvarts::resp {

Result<ScanOptions> ReadScanOptions(Arguments arguments, bool with_type) {
  ScanOptions options;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return Wrong(kSyntaxError);
    const std::string_view value = arguments[i + 1];
    if (IsWord(arguments[i], "COUNT")) {
      KVARTS_TRY(options.count, IntegerOf(value));
      if (options.count < 1) return Wrong(kSyntaxError);
    } else if (IsWord(arguments[i], "MATCH")) {
      options.pattern = value;
    } else if (with_type && IsWord(arguments[i], "TYPE")) {
      options.type = value;
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return options;
}

Result<uint64_t> CursorOf(std::string_view argument) {
  // With a sign it counts from the end of all numbers, as in Redis, which reads it as C does.
  const bool negative = argument.starts_with('-');
  if (negative || argument.starts_with('+')) argument.remove_prefix(1);
  uint64_t cursor = 0;
  const auto [end, failed] = std::from_chars(argument.data(), argument.data() + argument.size(), cursor);
  if (failed != std::errc() || end != argument.data() + argument.size()) return Wrong("invalid cursor");
  return negative ? uint64_t{0} - cursor : cursor;
}

}  // namespace kvarts::resp
