#include "core/fields.h"

namespace kvarts {
namespace {

// How long AppendVarint makes it.
size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

}  // namespace

void FieldReader::Require(bool holds, const char* why) {
  if (holds || !ok()) return;
  why_ = why;
  where_ = bytes_.size() - left_.size();
  left_ = {};
}

BytesView FieldReader::Raw(size_t size) {
  Require(size <= left_.size(), "cut off");
  if (!ok()) return {};
  const BytesView taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

BytesView FieldReader::Rest() { return Raw(left_.size()); }

uint8_t FieldReader::Byte(uint8_t at_most) {
  const BytesView taken = Raw(1);
  const auto value = static_cast<uint8_t>(ok() ? taken[0] : 0);
  Require(value <= at_most, "out of range");
  return ok() ? value : uint8_t{0};
}

uint64_t FieldReader::Varint(uint64_t at_most) {
  const size_t before = left_.size();
  uint64_t value = 0;
  Require(TakeVarint(&left_, &value), "not a number");
  Require(before - left_.size() == VarintSize(value), "a number with bytes too many");
  Require(value <= at_most, "out of range");
  return ok() ? value : 0;
}

uint64_t FieldReader::Fixed() {
  const BytesView taken = Raw(sizeof(uint64_t));
  return ok() ? LoadBig<uint64_t>(taken.data()) : 0;
}

BytesView FieldReader::Sized(size_t at_most) { return Raw(Varint(at_most)); }

Status FieldReader::Finish(const char* text) {
  Require(left_.empty(), "too many bytes");
  if (ok()) return {};
  return Error(ErrorCode::kCorruption, text, {{"why", why_}, {"position", std::to_string(where_)}});
}

}  // namespace kvarts
