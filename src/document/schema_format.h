// The formats of texts that a schema can ask for. Each is held to its standard, strictly, in one pass over the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvarts {

enum class SchemaFormat : uint8_t {
  kDateTime,  // RFC 3339, with an offset; a leap second only where there may be one
  kDate,      // of it, the full-date
  kTime,      // and the full-time
  kEmail,     // a mailbox of RFC 5321
  kUuid,      // RFC 9562
  kUri,       // RFC 3986, with a scheme
  kIpv4,      // four decimal numbers
  kIpv6,      // RFC 4291, without a zone
  kHostname,  // RFC 1123
};

std::optional<SchemaFormat> FormatNamed(std::string_view name);
std::string_view FormatName(SchemaFormat format);

bool HasFormat(SchemaFormat format, std::string_view text);

}  // namespace kvarts
