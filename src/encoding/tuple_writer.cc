#include "encoding/tuple_writer.h"

#include <algorithm>
#include <array>

#include "base/byte_search.h"
#include "base/utf8.h"

namespace kvarts {
namespace {

using tuple_codes::kEnd;
using tuple_codes::kEscape;

bool NeedsEscape(BytesView value) {
  return AnyByte(value, [](ByteLanes lanes) { return lanes <= kEscape; });
}

// The exponent and the digits of a decimal other than zero, as of a positive one: the leading
// exponent from its minimum, then two digits a byte, doubled, plus one if more follow.
size_t WriteMagnitude(const Decimal& value, unsigned char* out) {
  constexpr uint64_t kPowerOf18 = 1'000'000'000'000'000'000;
  constexpr size_t kPairs = Decimal::kMaxDigits / 2;
  const Decimal::Coefficient digits = value.AlignedDigits();
  const Decimal::Coefficient upper = digits / kPowerOf18;
  auto low = static_cast<uint64_t>(digits - upper * kPowerOf18);
  const auto top = static_cast<uint64_t>(upper / kPowerOf18);
  auto middle = static_cast<uint64_t>(upper - Decimal::Coefficient{top} * kPowerOf18);
  std::array<unsigned char, kPairs> pairs{};
  for (size_t i = kPairs - 1; i > 9; --i, low /= 100) pairs[i] = low % 100;
  for (size_t i = 9; i > 0; --i, middle /= 100) pairs[i] = middle % 100;
  pairs[0] = static_cast<unsigned char>(top);

  size_t size = 0;
  out[size++] = static_cast<unsigned char>(value.LeadingExponent() - Decimal::kMinLeadingExponent);
  const size_t count = static_cast<size_t>(value.DigitCount() + 1) / 2;
  for (size_t i = 0; i < count; ++i) {
    out[size++] = static_cast<unsigned char>(pairs[i] * 2 + (i + 1 < count));
  }
  return size;
}

}  // namespace

bool tuple_codes::IsPlainText(BytesView value) {
  return !AnyByte(value, [](ByteLanes lanes) { return (lanes <= kEscape) | (lanes > 0x7f); });
}

template <class Sink>
TupleWriter<Sink>& TupleWriter<Sink>::PutMasked(unsigned char* bytes, size_t size, uint64_t mask) {
  for (size_t i = 0; i < size; ++i) bytes[i] ^= static_cast<unsigned char>(mask);
  to_->append(reinterpret_cast<const char*>(bytes), size);
  return *this;
}

template <class Sink>
TupleWriter<Sink>& TupleWriter<Sink>::Decimal(const kvarts::Decimal& value, Order order) {
  if (value.IsZero()) return PutCode(tuple_codes::kDecimalZero, MaskOf(order));
  PutCode(value.IsNegative() ? tuple_codes::kDecimalNegative : tuple_codes::kDecimalPositive, MaskOf(order));
  unsigned char bytes[1 + kvarts::Decimal::kMaxDigits / 2];
  const size_t size = WriteMagnitude(value, bytes);
  return PutMasked(bytes, size, value.IsNegative() ? ~MaskOf(order) : MaskOf(order));
}

template <class Sink>
TupleWriter<Sink>& TupleWriter<Sink>::Uuid(const kvarts::Uuid& value, Order order) {
  PutCode(tuple_codes::kUuid, MaskOf(order));
  auto bytes = value.bytes;
  return PutMasked(bytes.data(), bytes.size(), MaskOf(order));
}

template <class Sink>
bool TupleWriter<Sink>::CheckedOther(BytesView text, Order order) {
  if (!IsUtf8(text)) return false;
  Text(text, order);
  return true;
}

template <class Sink>
TupleWriter<Sink>& TupleWriter<Sink>::PutEscaped(unsigned char code, BytesView value, uint64_t mask) {
  PutCode(code, mask);
  if (mask == 0 && !NeedsEscape(value)) {
    to_->append(value.data(), value.size());
    return *this;
  }
  for (const char c : value) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= kEscape) {
      PutCode(kEscape, mask);
      ++byte;
    }
    PutCode(byte, mask);
  }
  return *this;
}

template class TupleWriter<Bytes>;
template class TupleWriter<KeyBuffer>;

}  // namespace kvarts
