#include "document/items.h"

#include <charconv>

#include "base/utf8.h"

namespace kvarts {
namespace {

Result<Decimal> FromDouble(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return Decimal::Parse({digits, static_cast<size_t>(end - digits)});
}

// Of the alternatives that are numbers.
Result<Decimal> NumberOf(const Item::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return Decimal::FromInt(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return Decimal::FromParts(false, *number, 0);
  if (const auto* number = std::get_if<double>(&value)) return FromDouble(*number);
  return Decimal::Parse(std::get<Number>(value).text);
}

}  // namespace

Status WriteItem(const Item& item, DocumentWriter* to) {
  const Item::Value& value = item.value();
  if (std::holds_alternative<std::nullptr_t>(value)) {
    to->Null();
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    to->Bool(*truth);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (!IsUtf8(*text)) return Error(ErrorCode::kInvalidArgument, "a text is not UTF-8", {{"text", Escaped(*text)}});
    to->Text(*text);
  } else if (const auto* binary = std::get_if<Binary>(&value)) {
    to->Binary(binary->bytes);
  } else if (const auto* time = std::get_if<Timestamp>(&value)) {
    to->Text(time->ToString());
  } else if (const auto* document = std::get_if<Item::Encoded>(&value)) {
    if (document->error != nullptr) return *document->error;
    to->Copy(DocumentView(document->bytes));
  } else {
    KVARTS_TRY(const Decimal number, NumberOf(value));
    to->Number(number);
  }
  return {};
}

}  // namespace kvarts
