// Any bytes are refused as a key, or are exactly what encoding the decoded tuple gives; the text of a
// key parses back to it.
// links: kvarts_encoding
#include <cstdint>

#include "encoding/tuple.h"
#include "encoding/tuple_text.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView key(reinterpret_cast<const char*>(data), size);
  const std::string text = TupleToString(key);

  TupleReader skipping(key);
  while (!skipping.AtEnd() && skipping.Skip().has_value()) {
    Expect(skipping.position() <= size, "skipping stays inside the key");
  }

  const auto decoded = DecodeTuple(key);
  if (!decoded.has_value()) {
    Expect(decoded.error().code() == ErrorCode::kCorruption, "a bad key is corruption");
    return 0;
  }
  Expect(skipping.position() == size, "what decodes can be skipped");
  const auto encoded = EncodeTuple(*decoded);
  Expect(encoded.has_value() && *encoded == key, "what decodes encodes to the same bytes");
  const auto parsed = ParseTuple(text);
  Expect(parsed.has_value() && *parsed == key, "the text of a key parses back to it");
  return 0;
}
