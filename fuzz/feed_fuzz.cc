// Any bytes are refused as an entry or a declaration of a feed, or encode and decode to the same again. The first byte
// says which of the two is tried.
#include <cstdint>

#include "core/feed_codec.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  if (size == 0) return 0;
  const BytesView bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) {
    const auto decoded = FeedDeclaration::Decode(bytes);
    Expect(decoded.has_value() || decoded.error().code() == ErrorCode::kCorruption, "a bad one is corruption");
    Expect(!decoded.has_value() || decoded->Encode() == bytes, "what decodes encodes to the same bytes");
    return 0;
  }
  const KeyBuffer key = FeedEntryKey({1}, {Version::FromTime({1'700'000'000'000'000}), 0});
  Expect(!DecodeFeedEntry(bytes, bytes).has_value(), "nothing is a key and a value of a feed");
  const auto decoded = DecodeFeedEntry(key, bytes);
  if (!decoded.has_value()) {
    Expect(decoded.error().code() == ErrorCode::kCorruption, "a bad entry is corruption");
    return 0;
  }
  // What the commit stamps is filled in by decoding, so it is the second time around that must give the same.
  FeedDraft draft;
  draft.op = decoded->op;
  draft.key = decoded->key;
  draft.end = decoded->end;
  draft.before.record = decoded->before;
  draft.after.record = decoded->after;
  const auto again = DecodeFeedEntry(key, EncodeFeedDraft(draft, decoded->context));
  Expect(again.has_value(), "what was decoded can be encoded");
  // A version of zero stands for that of the commit.
  const bool unversioned = (decoded->before && decoded->before->header.version == kNoVersion) ||
                           (decoded->after && decoded->after->header.version == kNoVersion);
  Expect(unversioned || *again == *decoded, "and decodes to the same");
  return 0;
}
