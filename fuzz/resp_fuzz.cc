// Any bytes as what a client of Redis' protocol sends: they come to the same commands whole and in pieces, and what
// these show lies within what was sent.
// links: kvarts_net_resp
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/resp/command_parser.h"
#include "support/expect.h"

namespace {

using kvarts::Expect;
using kvarts::resp::CommandParser;

struct Parsed {
  std::vector<std::vector<std::string>> commands;
  std::string error;
  friend bool operator==(const Parsed&, const Parsed&) = default;
};

Parsed Parse(std::string_view bytes, size_t piece, const CommandParser::Limits& limits) {
  Parsed parsed;
  CommandParser parser;
  size_t begin = 0;
  for (size_t arrived = std::min(piece, bytes.size());; arrived = std::min(arrived + piece, bytes.size())) {
    while (begin < arrived) {
      // In memory of its own size, so that reading past its end is found.
      const std::vector<char> input(bytes.begin() + static_cast<ptrdiff_t>(begin),
                                    bytes.begin() + static_cast<ptrdiff_t>(arrived));
      const auto state = parser.Parse({input.data(), input.size()}, limits);
      if (state == CommandParser::State::kError) {
        Expect(parser.error().starts_with("Protocol error: "), "an error says what it is");
        parsed.error = parser.error();
        return parsed;
      }
      if (state == CommandParser::State::kMore) {
        Expect(parser.wanted() > input.size(), "more is wanted than there is");
        break;
      }
      Expect(parser.consumed() > 0 && parser.consumed() <= input.size(), "a command has bytes of the input");
      parsed.commands.emplace_back(parser.arguments().begin(), parser.arguments().end());
      begin += parser.consumed();
    }
    if (arrived == bytes.size()) return parsed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const CommandParser::Limits limits{.max_bulk_bytes = 1 << 16, .stranger = (data[0] & 1) != 0};
  const Parsed whole = Parse(bytes, std::max<size_t>(bytes.size(), 1), limits);
  const Parsed pieces = Parse(bytes, static_cast<size_t>(data[0] / 2) + 1, limits);
  Expect(whole == pieces, "the same whole and in pieces");
  return 0;
}
