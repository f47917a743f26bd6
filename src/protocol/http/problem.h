// Errors as HTTP says them: application/problem+json (RFC 9457) with a stable type. The one file that maps our codes.
#pragma once

#include "base/error.h"
#include "net/http/http_error.h"
#include "net/http/response_head.h"

namespace kvarts::http {

int StatusOf(ErrorCode code);
int StatusOf(const Error& error);

// An Accept header that allows no form that there is: 406. `forms` is a constant text that says which there are.
Error NotAcceptable(const char* forms, std::string_view accept);

// "urn:kvarts:precondition_failed": what clients may rely on.
constexpr std::string_view kProblemPrefix = "urn:kvarts:";
constexpr std::string_view kProblemType = "application/problem+json";

// The rest of an answer whose head was begun with the error's status. The fields of the error become members beside the
// standard ones.
void WriteProblem(ResponseWriter& answer, const Error& error);
// Of a request that could not be taken apart, or that HTTP itself refuses; `allow` goes into the header of that name.
void WriteProblem(ResponseWriter& answer, const HttpError& error, std::string_view allow = {});

}  // namespace kvarts::http
