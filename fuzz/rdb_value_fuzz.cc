// Any bytes as what RESTORE is given, with the right checksum behind them: what is taken can be dumped, and what that
// gives is taken for the same.
// links: kvarts_model_structure
#include <cstdint>

#include "model/structure/crc64.h"
#include "model/structure/rdb_value.h"
#include "support/expect.h"

namespace {

using namespace kvarts;
using namespace kvarts::structure;

constexpr uint64_t kMaxBytes = 1 << 20;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  (void)ValueOfDump(bytes, kMaxBytes);
  Bytes dump(bytes);
  AppendLittle(&dump, uint16_t{10});
  AppendLittle(&dump, Crc64(dump));
  const Result<RdbValue> value = ValueOfDump(dump, kMaxBytes);
  if (!value.has_value()) return 0;
  const Result<RdbValue> again = ValueOfDump(DumpOf(*value), 2 * kMaxBytes);
  Expect(again.has_value(), "what was taken is dumped so that it is taken");
  Expect(again->type == value->type && again->text == value->text && again->elements == value->elements &&
             again->scored == value->scored && again->fields.size() == value->fields.size(),
         "it is the same");
  for (size_t i = 0; i < value->fields.size(); ++i) {
    Expect(again->fields[i].name == value->fields[i].name && again->fields[i].value == value->fields[i].value &&
               again->fields[i].expiry == value->fields[i].expiry,
           "its fields are the same");
  }
  return 0;
}
