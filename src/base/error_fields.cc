#include "base/error_fields.h"

#include <algorithm>
#include <utility>

namespace kvarts {
namespace {

template <size_t... kPlaces>
Error WithFields(ErrorCode code, const char* text, const std::vector<Error::Field>& fields,
                 std::index_sequence<kPlaces...>) {
  return Error(code, text, {fields[kPlaces]...});
}

// The fields of an error are a list of known length.
template <size_t kCount = 0>
Error MakeCounted(ErrorCode code, const char* text, const std::vector<Error::Field>& fields) {
  if constexpr (kCount < kMaxErrorFields) {
    if (fields.size() > kCount) return MakeCounted<kCount + 1>(code, text, fields);
  }
  if constexpr (kCount == 0) {
    return Error(code, text);
  } else {
    return WithFields(code, text, fields, std::make_index_sequence<kCount>());
  }
}

}  // namespace

Error MakeError(ErrorCode code, const char* text, const std::vector<Error::Field>& fields) {
  return MakeCounted(code, text, fields);
}

Error WithField(const Error& error, std::string_view name, std::string value) {
  if (std::ranges::find(error.fields(), name, &Error::Field::first) != error.fields().end()) return error;
  std::vector<Error::Field> fields = {{name, std::move(value)}};
  fields.insert(fields.end(), error.fields().begin(), error.fields().end());
  return MakeError(error.code(), error.text().data(), fields);  // a constant
}

}  // namespace kvarts
