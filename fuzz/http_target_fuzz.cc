// Any bytes as a percent-encoded text and as a query: refused, or read as what encoding them again says.
// links: kvarts_net_http
#include <cstdint>

#include "net/http/target.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;        // NOLINT: a target has one subject
  using namespace kvarts::http;  // NOLINT
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  const Bytes encoded = PercentEncode(input);
  Expect(PercentDecode(encoded) == Bytes(input), "what is encoded decodes");
  const auto decoded = PercentDecode(input);
  Bytes scratch;
  const auto viewed = PercentDecode(input, &scratch);
  Expect(decoded.has_value() == viewed.has_value(), "both ways to decode agree on what is wrong");
  if (decoded.has_value()) Expect(*decoded == *viewed, "both ways to decode agree");

  QueryReader query(input);
  const auto prefix = query.Get("prefix");
  const uint64_t limit = query.Uint("limit", 10, 5, 1000);
  Expect(limit >= 5 && limit <= 1000, "a number is within its bounds");
  query.Flag("reverse");
  Expect(query.Choice("values", {"none", "all"}, 0) < 2, "a choice is one of those there are");
  const Status status = query.Finish();
  if (!status.has_value()) {
    Expect(status.error().code() == ErrorCode::kInvalidArgument, "a bad query is an invalid argument");
    Expect(status.error().field("parameter").size() <= 256, "the name in an error is short");
    return 0;
  }
  // The same query, written by us.
  Bytes again = "limit=" + std::to_string(limit);
  if (prefix) again += "&prefix=" + PercentEncode(*prefix);
  QueryReader second(again);
  Expect(second.Get("prefix") == prefix && second.Uint("limit", 0, 0, 1000) == limit, "a query can be written again");
  Expect(second.Finish().has_value(), "a query that was written again is accepted");
  return 0;
}
