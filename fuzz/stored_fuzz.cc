// Any bytes are refused as a stored value, or have a header that is written as the same bytes.
// links: kvarts_engine_rocksdb
#include <cstdint>
#include <cstdlib>

#include "engine/rocksdb/value_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView stored(reinterpret_cast<const char*>(data), size);
  ValueHeader header;
  BytesView value;
  if (DecodeStored(stored, &header, &value)) {
    Bytes again(EncodedHeader(header).bytes());
    again.append(value);
    if (again != stored) std::abort();
  }
  AddOperand operand;
  if (AddOperand::Decode(stored, &operand) && operand.Encode() != stored) std::abort();
  return 0;
}
