// Any text is refused as a cursor, or leads to a part of the range of the query that it is opened for. A cursor that
// was made leads back to what it was made of.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/base64.h"
#include "core/cursor.h"

namespace {

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView input(reinterpret_cast<const char*>(data), size);
  const Timestamp now{1'700'000'000'000'000};
  const CursorQuery query{.range = {"a", "m"}, .reverse = false};
  // As the text itself, and as the bytes behind one that is well formed.
  for (const std::string& text : {std::string(input), ToBase64Url(input)}) {
    const auto rest = OpenCursor(text, query, now, Duration::Seconds(3600));
    if (rest.has_value()) {
      Expect(query.range.Contains(*rest), "a cursor stays in its query's range");
    } else {
      Expect(rest.error().code() == ErrorCode::kInvalidArgument, "a bad cursor is an invalid argument");
    }
  }
  if (size < 1 || size > 8192) return 0;
  const size_t cut = data[0] % size;
  const CursorQuery own{.range = {Bytes(input.substr(0, cut)), ""}, .reverse = size % 2 == 0};
  const KeyRange left{own.range.start + Bytes(input.substr(cut)), ""};
  const auto opened = OpenCursor(MakeCursor(own, left, Version::FromTime(now), now), own, now, Duration::Seconds(1));
  Expect(opened.has_value() && *opened == left, "a cursor leads back to what it was made of");
  return 0;
}
