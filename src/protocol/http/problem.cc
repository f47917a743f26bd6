#include "protocol/http/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/utf8.h"
#include "core/keyspace.h"
#include "encoding/json_writer.h"

namespace kvarts::http {
namespace {

// Seconds after which it is worth coming back.
constexpr std::string_view kRetryAfter = "1";

std::string_view TypeOfStatus(int status) {
  switch (status) {
    case 404:
      return "no_such_route";
    case 405:
      return "method_not_allowed";
    case 406:
      return "not_acceptable";
    case 408:
      return "timeout";
    case 413:
    case 414:
    case 431:
      return "too_large";
    case 415:
      return "unsupported_media_type";
    case 503:
      return "overloaded";
    default:
      return "malformed_request";
  }
}

// Whole seconds, rounded up.
std::string RetryAfter(const Error& error) {
  uint64_t micros = 0;
  const std::string_view text = error.field("retry_after_us");
  std::from_chars(text.data(), text.data() + text.size(), micros);
  return std::to_string(std::max<uint64_t>(1, (micros + 999'999) / 1'000'000));
}

// The user's key in an error, which has it escaped; an engine that refuses a commit knows only physical keys.
Bytes ShownKey(const Error& error, std::string_view escaped) {
  const Result<Bytes> key = ParseEscaped(escaped);
  if (!key.has_value()) return Bytes(escaped);
  const bool of_engine = error.code() == ErrorCode::kPreconditionFailed || error.code() == ErrorCode::kConflict;
  return of_engine ? Bytes(UserKeyOf(*key).value_or(*key)) : *key;
}

// The fields that are numbers; errors have all fields as text. What a version is stays a text, since clients in
// JavaScript would round it.
bool IsNumber(const Error& error, std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 19> kNumbers = {
      "at_least", "at_most", "at_most_us", "burst",      "bytes",    "expiry_us", "fields",
      "is_us",    "offset",  "parts",      "per_second", "position", "put_with",  "retry_after_us",
      "schema",   "size",    "skipped",    "ttl_us",     "values"};
  // Of what is not too much but wrong, `is` is what was said.
  const bool listed =
      name == "is" ? !error.field("at_most").empty() : std::ranges::find(kNumbers, name) != kNumbers.end();
  return listed && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

void WriteField(JsonWriter& json, const Error& error, std::string_view name, std::string_view value) {
  if (name == "version") {
    // Engines that know that something has changed do not always know to which version.
    if (value == "changed") return;
    if (value == "absent") {
      json.Name(name).Null();
      return;
    }
  }
  // The path to a whole row is empty; of anything else there is nothing to say.
  if (value.empty() && name != "path") return;
  if (name == "key" || name == "reached") {
    json.BytesField(name, ShownKey(error, value));
  } else if (IsNumber(error, name, value)) {
    json.Name(name).Raw(value);
  } else {
    json.BytesField(name, value);
  }
}

void WriteMembers(JsonWriter& json, std::string_view type, std::string_view title, int status, std::string_view text) {
  json.Field("type", fmt::format("{}{}", kProblemPrefix, type));
  json.Field("title", title).Field("status", status).Field("detail", text);
}

}  // namespace

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kPreconditionFailed:
      return 412;
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kUnauthenticated:
      return 401;
    case ErrorCode::kPermissionDenied:
      return 403;
    case ErrorCode::kRateLimited:
      return 429;
    case ErrorCode::kOverloaded:
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kCorruption:
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

Error NotAcceptable(const char* forms, std::string_view accept) {
  return Error(ErrorCode::kInvalidArgument, forms, {{"accept", std::string(accept)}});
}

int StatusOf(const Error& error) { return error.field("accept").empty() ? StatusOf(error.code()) : 406; }

void WriteProblem(ResponseWriter& answer, const Error& error) {
  const int status = StatusOf(error);
  answer.ContentType(kProblemType);
  if (status == 401) answer.Header("WWW-Authenticate", "Bearer");
  if (status == 429) {
    answer.Header("Retry-After", RetryAfter(error));
  } else if (error.code() == ErrorCode::kOverloaded) {
    answer.Header("Retry-After", kRetryAfter);
  }
  JsonWriter json(answer.body());
  json.BeginObject();
  WriteMembers(json, ErrorCodeName(error.code()), ReasonPhrase(status), status, error.text());
  for (const auto& [name, value] : error.fields()) WriteField(json, error, name, value);
  json.EndObject();
  answer.Finish();
}

void WriteProblem(ResponseWriter& answer, const HttpError& error, std::string_view allow) {
  answer.ContentType(kProblemType);
  if (!allow.empty()) answer.Header("Allow", allow);
  if (error.status == 503) answer.Header("Retry-After", kRetryAfter);
  JsonWriter json(answer.body());
  json.BeginObject();
  WriteMembers(json, TypeOfStatus(error.status), ReasonPhrase(error.status), error.status, error.text);
  json.EndObject();
  answer.Finish();
}

}  // namespace kvarts::http
