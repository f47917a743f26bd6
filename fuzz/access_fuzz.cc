// Any bytes are refused as a token's record, or are exactly what encoding the decoded token gives. Any text is refused
// as a token's and as a scope, or is put together again from its parts.
// links: kvarts_model_access
#include <cstdint>

#include "model/access/token_record.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

void TryRecord(BytesView bytes) {
  const auto decoded = TokenRecord::Decode(bytes);
  if (!decoded.has_value()) {
    Expect(decoded.error().code() == ErrorCode::kCorruption, "a bad token is corruption");
    return;
  }
  const auto encoded = decoded->Encode();
  Expect(encoded.has_value() && *encoded == bytes, "what decodes encodes to the same bytes");
  // Whatever the scopes are, a range is allowed only if its first key is.
  const KeyRange range = KeyRange::Prefix(bytes.substr(0, bytes.size() / 2));
  for (const Right right : {Right::kRead, Right::kWrite}) {
    const bool whole = Allows(decoded->info.scopes, right, range, "cases");
    Expect(!whole || Allows(decoded->info.scopes, right, range.start, "cases"), "a range is its keys");
  }
}

void TryText(std::string_view text) {
  if (const auto parts = TokenText::Parse(text)) {
    const auto id = TokenId::Parse(parts->id);
    Expect(id.has_value() && TokenText::Make(*id, parts->secret) == text, "a token's text is its parts");
  }
  const auto scope = Scope::Parse(text);
  if (!scope.has_value()) {
    const ErrorCode code = scope.error().code();
    Expect(code == ErrorCode::kInvalidArgument || code == ErrorCode::kTooLarge, "a bad scope is an invalid argument");
    return;
  }
  const auto again = Scope::Parse(scope->ToString());
  Expect(again.has_value() && *again == *scope, "a scope is read back from its text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  TryRecord(input);
  TryText(input);
  return 0;
}
