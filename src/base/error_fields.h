// Errors whose fields are counted when they are made. Of those that are known where an error is made, its constructor
// takes a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kvarts {

// Only the first few are kept.
constexpr size_t kMaxErrorFields = 12;
Error MakeError(ErrorCode code, const char* text, const std::vector<Error::Field>& fields);

// The same error with one field more, the first of all. One that it has already stays as it is.
Error WithField(const Error& error, std::string_view name, std::string value);

}  // namespace kvarts
