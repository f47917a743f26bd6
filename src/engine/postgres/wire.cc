#include "engine/postgres/wire.h"

namespace kvarts::postgres {
namespace {

template <class Integer>
void AppendSized(Bytes* to, Integer value) {
  AppendBig(to, static_cast<uint32_t>(sizeof(value)));
  AppendBig(to, static_cast<std::make_unsigned_t<Integer>>(value));
}

}  // namespace

void Params::Int4(int32_t value) {
  Bytes encoded;
  AppendBig(&encoded, static_cast<uint32_t>(value));
  Raw(encoded);
}

void Params::Int8(int64_t value) {
  Bytes encoded;
  AppendBig(&encoded, static_cast<uint64_t>(value));
  Raw(encoded);
}

void Params::OptionalInt8(std::optional<uint64_t> value) { value ? Int8(static_cast<int64_t>(*value)) : Null(); }

void Params::Raw(BytesView encoded) {
  places_.push_back({buffer_.size(), static_cast<int>(encoded.size())});
  buffer_.append(encoded);
}

void Params::Null() { places_.push_back({0, -1}); }

Params::Arrays Params::arrays() const {
  Arrays arrays;
  for (const Place& place : places_) {
    arrays.values.push_back(place.size < 0 ? nullptr : buffer_.data() + place.at);
    arrays.lengths.push_back(place.size < 0 ? 0 : place.size);
    arrays.formats.push_back(1);
  }
  return arrays;
}

// Dimensions, whether there are nulls, the type of elements, how many, and the index of the first. How many there are
// is not known yet.
ArrayParam::ArrayParam(Of of) {
  AppendBig(&buffer_, uint32_t{1});
  AppendBig(&buffer_, uint32_t{0});
  AppendBig(&buffer_, static_cast<uint32_t>(of));
  AppendBig(&buffer_, uint32_t{0});
  AppendBig(&buffer_, uint32_t{1});
}

void ArrayParam::Int2(int16_t value) { AppendSized(&buffer_, value), ++size_; }
void ArrayParam::Int4(int32_t value) { AppendSized(&buffer_, value), ++size_; }
void ArrayParam::Int8(int64_t value) { AppendSized(&buffer_, value), ++size_; }

void ArrayParam::Bytes(BytesView value) {
  AppendBig(&buffer_, static_cast<uint32_t>(value.size()));
  buffer_.append(value);
  ++size_;
}

void ArrayParam::Null() {
  AppendBig(&buffer_, UINT32_MAX);
  has_null_ = true;
  ++size_;
}

void ArrayParam::AddTo(Params* params) {
  constexpr size_t kHasNullAt = 4;
  constexpr size_t kSizeAt = 12;
  StoreBig<uint32_t>(buffer_.data() + kHasNullAt, has_null_ ? 1 : 0);
  StoreBig<uint32_t>(buffer_.data() + kSizeAt, static_cast<uint32_t>(size_));
  params->Raw(buffer_);
}

}  // namespace kvarts::postgres
