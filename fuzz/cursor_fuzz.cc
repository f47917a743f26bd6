// Any text is refused as a cursor, or leads to a part of the range of the query that it is opened for. A cursor that
// was made leads back to what it was made of. Under a key that nobody knows, no text is a cursor but those that were
// made with it.
#include <cstdint>

#include "base/base64.h"
#include "base/digest.h"
#include "core/cursor.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView input(reinterpret_cast<const char*>(data), size);
  const Timestamp now{1'700'000'000'000'000};
  const CursorQuery query{.range = {"a", "m"}, .reverse = false};
  static const Bytes key = RandomBytes(32);
  // As the text itself, and as the bytes behind one that is well formed.
  for (const std::string& text : {std::string(input), ToBase64Url(input)}) {
    const auto rest = OpenCursor(text, query, now, Duration::Seconds(3600));
    if (rest.has_value()) {
      Expect(query.range.Contains(*rest), "a cursor stays in its query's range");
    } else {
      Expect(rest.error().code() == ErrorCode::kInvalidArgument, "a bad cursor is an invalid argument");
    }
    const auto forged = OpenCursor(text, query, now, Duration::Seconds(3600), key);
    Expect(!forged.has_value(), "a cursor cannot be made without the key");
    Expect(forged.error().code() == ErrorCode::kInvalidArgument, "a forged cursor is an invalid argument");
  }
  if (size < 1 || size > 8192) return 0;
  const size_t cut = data[0] % size;
  const CursorQuery own{.range = {Bytes(input.substr(0, cut)), ""}, .reverse = size % 2 == 0};
  const KeyRange left{own.range.start + Bytes(input.substr(cut)), ""};
  const auto opened = OpenCursor(MakeCursor(own, left, Version::FromTime(now), now), own, now, Duration::Seconds(1));
  Expect(opened.has_value() && *opened == left, "a cursor leads back to what it was made of");
  const std::string sealed = MakeCursor(own, left, Version::FromTime(now), now, key);
  const auto unsealed = OpenCursor(sealed, own, now, Duration::Seconds(1), key);
  Expect(unsealed.has_value() && *unsealed == left, "a sealed cursor leads back to what it was made of");
  Bytes changed = *FromBase64Url(sealed);
  char& byte = changed[data[0] % changed.size()];
  byte = static_cast<char>(byte ^ (1 << size % 8));
  Expect(!OpenCursor(ToBase64Url(changed), own, now, Duration::Seconds(1), key).has_value(),
         "a sealed cursor cannot be changed");
  return 0;
}
