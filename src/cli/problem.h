// Errors as they come over HTTP (application/problem+json), turned back into ours: the inverse of
// protocol/http/problem.h.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace kvarts::cli {

// Of an answer with this status. A body that is no problem of ours is told by its status alone.
Error ErrorOfAnswer(int status, std::string_view body);

// The other way round, for programs: an answer's problem as the server sent it, with the fields that were added here;
// any other error as an object of the same form, {"type": "urn:kvarts:…", "detail": …} and its fields.
std::string ProblemJson(const Error& error);
// The field that holds what the server sent. It is not for people.
constexpr std::string_view kSentProblem = "problem";

}  // namespace kvarts::cli
