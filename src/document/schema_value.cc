#include "document/schema_value.h"

#include <algorithm>

#include "document/schema_numbers.h"
#include "encoding/cbor.h"

namespace kvarts {

uint32_t SchemaValue::Types() const {
  switch (kind) {
    case DocumentKind::kNull:
      return TypeBit(SchemaType::kNull);
    case DocumentKind::kBool:
      return TypeBit(SchemaType::kBoolean);
    case DocumentKind::kNumber:
      return TypeBit(SchemaType::kNumber) | (IsWhole(view().Number()) ? TypeBit(SchemaType::kInteger) : 0);
    case DocumentKind::kText:
      return TypeBit(SchemaType::kString);
    case DocumentKind::kBinary:
      return TypeBit(SchemaType::kBinary);
    case DocumentKind::kList:
      return TypeBit(SchemaType::kArray);
    case DocumentKind::kMap:
      return TypeBit(SchemaType::kObject);
    default:
      return TypeBit(SchemaType::kSet);
  }
}

uint64_t TakeCount(BytesView* from) {
  cbor::Head head = cbor::ReadHead(*from);
  from->remove_prefix(head.size);
  if (head.major != cbor::Major::kTag) return head.argument;
  head = cbor::ReadHead(*from);
  from->remove_prefix(head.size);
  return head.argument;
}

uint64_t SkipCounting(BytesView* from) {
  uint64_t count = 0;
  for (uint64_t left = 1; left != 0; --left) {
    ++count;
    const cbor::Head head = cbor::ReadHead(*from);
    const bool is_set = head.major == cbor::Major::kTag && head.argument == cbor::kSet;
    if (head.major == cbor::Major::kArray || is_set) {
      left += TakeCount(from);
    } else if (head.major == cbor::Major::kMap) {
      left += 2 * TakeCount(from);
    } else {
      cbor::Skip(from);
    }
  }
  return count;
}

uint64_t CountCharacters(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<uint64_t>(std::ranges::count_if(text, begins));
}

}  // namespace kvarts
