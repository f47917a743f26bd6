// Errors as they come over HTTP (application/problem+json), turned back into ours: the inverse of
// protocol/http/problem.h.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"

namespace kvarts::cli {

// Of an answer with this status. A body that is no problem of ours is told by its status alone.
Error ErrorOfAnswer(int status, std::string_view body);

// An error whose fields are counted when it is made; only the first few are kept.
constexpr size_t kMaxErrorFields = 8;
Error MakeError(ErrorCode code, const char* text, const std::vector<Error::Field>& fields);

}  // namespace kvarts::cli
