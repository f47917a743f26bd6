// Errors as they come over HTTP (application/problem+json), turned back into ours: the inverse of protocol/http/problem.h.
#pragma once

#include <string_view>

#include "base/error.h"

namespace kvarts::cli {

// Of an answer with this status. A body that is no problem of ours is told by its status alone.
Error ErrorOfAnswer(int status, std::string_view body);

}  // namespace kvarts::cli
