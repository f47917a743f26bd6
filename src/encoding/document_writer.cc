#include "encoding/document_writer.h"

#include <algorithm>
#include <cstdlib>

namespace kvarts {

using cbor::Major;

void DocumentWriter::BeginPart() {
  if (parts_.size() > open_.back().parts) parts_.back().to = out_.size();
  parts_.push_back({out_.size(), out_.size()});
  ++open_.back().count;
}

void DocumentWriter::BeginValue() {
  if (open_.empty() || open_.back().kind == DocumentKind::kMap) return;
  if (open_.back().kind == DocumentKind::kList) {
    ++open_.back().count;
  } else {
    BeginPart();
  }
}

DocumentWriter& DocumentWriter::Simple(uint64_t value) {
  BeginValue();
  cbor::AppendHead(&out_, Major::kSimple, value);
  return *this;
}

DocumentWriter& DocumentWriter::Int(int64_t value) {
  BeginValue();
  Integer(value < 0, value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  return *this;
}

DocumentWriter& DocumentWriter::Number(const Decimal& value) {
  BeginValue();
  if (const std::optional<Decimal::Coefficient> magnitude = PlainInteger(value)) {
    Integer(value.IsNegative(), *magnitude);
    return *this;
  }
  cbor::AppendHead(&out_, Major::kTag, cbor::kDecimalFraction);
  cbor::AppendHead(&out_, Major::kArray, 2);
  Integer(value.exponent() < 0, static_cast<unsigned>(std::abs(value.exponent())));
  Integer(value.IsNegative(), value.coefficient());
  return *this;
}

void DocumentWriter::Integer(bool negative, Decimal::Coefficient magnitude) {
  // A negative one is written as what it is below -1.
  if (negative) --magnitude;
  if (magnitude <= UINT64_MAX) {
    cbor::AppendHead(&out_, negative ? Major::kNegative : Major::kUnsigned, static_cast<uint64_t>(magnitude));
    return;
  }
  char bytes[2 * sizeof(uint64_t)];
  StoreBig(bytes, static_cast<uint64_t>(magnitude >> 64));
  StoreBig(bytes + sizeof(uint64_t), static_cast<uint64_t>(magnitude));
  BytesView digits(bytes, sizeof(bytes));
  digits.remove_prefix(digits.find_first_not_of('\0'));
  cbor::AppendHead(&out_, Major::kTag, negative ? cbor::kNegativeBignum : cbor::kBignum);
  cbor::AppendHead(&out_, Major::kBytes, digits.size());
  out_.append(digits);
}

DocumentWriter& DocumentWriter::String(Major major, BytesView bytes) {
  BeginValue();
  cbor::AppendHead(&out_, major, bytes.size());
  out_.append(bytes);
  return *this;
}

DocumentWriter& DocumentWriter::Copy(const DocumentView& value) {
  BeginValue();
  out_.append(value.bytes());
  return *this;
}

DocumentWriter& DocumentWriter::Name(std::string_view name) {
  BeginPart();
  cbor::AppendHead(&out_, Major::kText, name.size());
  out_.append(name);
  return *this;
}

DocumentWriter& DocumentWriter::Begin(DocumentKind kind) {
  BeginValue();
  const size_t from = out_.size();
  if (kind == DocumentKind::kTextSet) cbor::AppendHead(&out_, Major::kTag, cbor::kSet);
  open_.push_back({kind, from, out_.size(), parts_.size()});
  out_.push_back('\0');
  return *this;
}

DocumentWriter& DocumentWriter::EndMap() {
  Sort();
  return End();
}

DocumentWriter& DocumentWriter::EndSet() {
  Sort();
  return End();
}

bool DocumentWriter::IsNoSet() {
  Sort();
  const auto bytes = [this](const Part& part) { return BytesView(out_).substr(part.from, part.to - part.from); };
  const auto first = parts_.begin() + static_cast<ptrdiff_t>(open_.back().parts);
  return first == parts_.end() || std::adjacent_find(first, parts_.end(), [&](const Part& a, const Part& b) {
                                    return bytes(a) == bytes(b);
                                  }) != parts_.end();
}

void DocumentWriter::Sort() {
  const size_t first = open_.back().parts;
  if (parts_.size() == first) return;
  parts_.back().to = out_.size();
  const std::span<Part> parts(parts_.data() + first, parts_.size() - first);
  const auto bytes = [this](const Part& part) { return BytesView(out_).substr(part.from, part.to - part.from); };
  if (std::ranges::is_sorted(parts, {}, bytes)) return;
  const size_t begin = parts.front().from;
  std::ranges::sort(parts, {}, bytes);
  sorted_.clear();
  for (Part& part : parts) {
    const size_t from = begin + sorted_.size();
    sorted_.append(bytes(part));
    part = {from, begin + sorted_.size()};
  }
  out_.replace(begin, sorted_.size(), sorted_);
}

DocumentWriter& DocumentWriter::End() {
  const Open open = open_.back();
  open_.pop_back();
  parts_.resize(open.parts);
  const size_t size = cbor::HeadSize(open.count);
  if (size > 1) out_.insert(open.head, size - 1, '\0');
  cbor::WriteHead(out_.data() + open.head, open.kind == DocumentKind::kMap ? Major::kMap : Major::kArray, open.count);
  return *this;
}

void DocumentWriter::Drop() {
  out_.resize(open_.back().from);
  parts_.resize(open_.back().parts);
  open_.pop_back();
  if (!open_.empty() && open_.back().kind == DocumentKind::kList) --open_.back().count;
}

}  // namespace kvarts
