// Any bytes are refused as an envelope, or are exactly what encoding the decoded envelope gives.
#include <cstdint>

#include "core/envelope.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = Envelope::Decode(bytes);
  if (!decoded.has_value()) {
    Expect(decoded.error().code() == ErrorCode::kCorruption, "a bad envelope is corruption");
    return 0;
  }
  const auto encoded = decoded->Encode();
  Expect(encoded.has_value() && *encoded == bytes, "what decodes encodes to the same bytes");
  return 0;
}
