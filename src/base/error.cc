#include "base/error.h"

#include <array>

namespace kvarts {

std::string_view ErrorCodeName(ErrorCode code) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "not_found",   "already_exists",  "precondition_failed", "conflict",     "invalid_argument",
      "too_large",   "unauthenticated", "permission_denied",   "rate_limited", "overloaded",
      "unavailable", "unknown_outcome", "corruption",          "internal",
  };
  return kNames.at(static_cast<size_t>(code));
}

const std::vector<Error::Field>& Error::fields() const {
  static const std::vector<Field> kNone;
  return fields_ ? *fields_ : kNone;
}

std::string_view Error::field(std::string_view name) const {
  for (const Field& field : fields()) {
    if (field.first == name) return field.second;
  }
  return {};
}

std::string Error::ToString() const {
  std::string out(ErrorCodeName(code_));
  out.append(": ").append(text_);
  const char* separator = " (";
  for (const auto& [name, value] : fields()) {
    out.append(separator).append(name).append("=").append(value);
    separator = ", ";
  }
  if (!fields().empty()) out.push_back(')');
  return out;
}

std::ostream& operator<<(std::ostream& out, ErrorCode code) { return out << ErrorCodeName(code); }
std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.ToString(); }

}  // namespace kvarts
