// Any bytes are refused as a record of the engine, or are exactly what encoding the decoded record gives.
// links: kvarts_engine_rocksdb
#include <cstdint>
#include <cstdlib>

#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/meta.h"
#include "engine/rocksdb/routing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  if (const auto range = DecodeRange(bytes)) {
    if (EncodeRange(*range) != bytes) std::abort();
  }
  if (const auto totals = Totals::Decode(bytes)) {
    if (totals->Encode() != bytes) std::abort();
  }
  if (const auto routing = Routing::Decode(bytes)) {
    if ((*routing)->Encode() != bytes) std::abort();
  }
  if (const auto stamp = Stamp::Decode(bytes)) {
    const std::string encoded = stamp->Encode();
    if (Stamp::Decode(encoded)->Encode() != encoded) std::abort();
  }
  LogMark mark;
  if (LogMark::Decode(bytes, &mark) && mark.Encode() != bytes) std::abort();
  return 0;
}
