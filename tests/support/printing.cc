#include "support/printing.h"

namespace kvarts {

void PrintTo(const ValueHeader& header, std::ostream* out) {
  *out << "version " << header.version.ToString();
  if (header.expiry != kNever) *out << ", expires " << header.expiry.ToString();
  *out << ", kind " << static_cast<int>(header.kind) << ", schema " << header.schema;
  if (header.owned) *out << ", owned";
  if (header.marks.saturated) *out << ", saturated";
  if (header.marks.misapplied) *out << ", misapplied";
}

void PrintTo(const Record& record, std::ostream* out) {
  *out << "\"" << Escaped(record.value) << "\" (";
  PrintTo(record.header, out);
  *out << ")";
}

}  // namespace kvarts
