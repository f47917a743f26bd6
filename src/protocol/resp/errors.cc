#include "protocol/resp/errors.h"

#include "model/structure/refusals.h"

namespace kvarts::resp {
namespace {

// What stands behind the text of an error, in its field.
constexpr std::string_view kBehind = "behind";

// The kind of error, which clients tell errors by.
std::string_view KindOf(const Error& error) {
  if (error.text() == structure::kWrongType) return "WRONGTYPE";
  if (error.text() == structure::kBusyKey) return "BUSYKEY";
  switch (error.code()) {
    case ErrorCode::kUnauthenticated:
      return "NOAUTH";
    case ErrorCode::kPermissionDenied:
      return "NOPERM";
    // Clients try these again by themselves.
    case ErrorCode::kConflict:
    case ErrorCode::kOverloaded:
    case ErrorCode::kRateLimited:
      return "TRYAGAIN";
    case ErrorCode::kUnavailable:
      return "MISCONF";
    case ErrorCode::kUnknownOutcome:
      return "UNKNOWNOUTCOME";
    default:
      return "ERR";
  }
}

}  // namespace

Error WrongWith(const char* text, std::string_view behind) {
  return Error(ErrorCode::kInvalidArgument, text, {{kBehind, std::string(behind)}});
}

Error WrongExpire(std::string_view command) {
  return WrongWith("invalid expire time in ", "'" + std::string(command) + "' command");
}

bool IsOfCommand(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
      return true;
    default:
      return false;
  }
}

std::string ErrorReply(const Error& error) {
  std::string reply(KindOf(error));
  reply.append(" ").append(error.text()).append(error.field(kBehind));
  if (IsOfCommand(error)) return reply;
  for (const auto& [name, value] : error.fields()) reply.append(", ").append(name).append("=").append(value);
  return reply;
}

}  // namespace kvarts::resp
